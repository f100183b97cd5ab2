"""Check of the keys that encrypt secrets at rest. Uses mg_ops, as superusers do.

A key has no date. A secret has: the time of its encryption is a part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from notices.models import NoticeSettings, PushSubscription
from operations.finding import Finding, Section, bad, ok, warn
from projects.models import Attribute, Source, Widget
from tenancy.scope import platform_scope
from tools.models import CustomTool, EventSubscription

# The columns of encrypted secrets.
SECRETS: tuple[tuple[type[models.Model], str], ...] = (
    (Attribute, "secret"),
    (Source, "secret"),
    (Widget, "shopper_secret"),
    (EventSubscription, "secrets"),
    (CustomTool, "secrets"),
    (NoticeSettings, "slack_url"),
    (PushSubscription, "secret"),
)
MOST_READ = 2_000
OLD = timedelta(days=365)


@dataclass(frozen=True)
class KeyUse:
    """The secrets of one key, by its place in MAKEGOOD_ENCRYPTION_KEYS, and the oldest time of encryption."""

    number: int
    secrets: int
    oldest_at: datetime | None


def check_keys() -> Section:
    """The use of each key, secrets that none of them opens, and the age of the first one."""
    uses, unreadable = read_key_uses()
    return Section(gettext("Encryption keys"), tuple(_judge(uses, unreadable)))


def _judge(uses: list[KeyUse], unreadable: int) -> Iterator[Finding]:
    total = sum(use.secrets for use in uses)
    keys = ngettext("%(count)s key", "%(count)s keys", len(uses)) % {"count": len(uses)}
    secrets = ngettext("%(count)s secret", "%(count)s secrets", total) % {"count": total}
    yield ok(gettext("%(keys)s, %(secrets)s.") % {"keys": keys, "secrets": secrets})
    if unreadable:
        says = ngettext(
            "%(count)s secret can't be opened with any key of MAKEGOOD_ENCRYPTION_KEYS.",
            "%(count)s secrets can't be opened with any key of MAKEGOOD_ENCRYPTION_KEYS.",
            unreadable,
        )
        yield bad(says % {"count": unreadable}, gettext("Append the key that encrypted them, or save them again."))
    if older := sum(use.secrets for use in uses[1:]):
        says = ngettext(
            "%(count)s secret is encrypted with an older key.",
            "%(count)s secrets are encrypted with an older key.",
            older,
        )
        yield warn(says % {"count": older}, gettext("Keep it in MAKEGOOD_ENCRYPTION_KEYS until they are saved again."))
    oldest = uses[0].oldest_at if uses else None
    if oldest is not None and timezone.now() - oldest > OLD:
        says = gettext("The first key has been used since %(date)s at least.") % {"date": f"{oldest:%Y-%m-%d}"}
        yield warn(says, gettext("Put a new key in front of MAKEGOOD_ENCRYPTION_KEYS."))


def read_key_uses() -> tuple[list[KeyUse], int]:
    """The use of each key by the newest secrets of each table, and the number that no key opens."""
    keys = [Fernet(key.strip()) for key in settings.ENCRYPTION_KEYS]
    counts: Counter[int | None] = Counter()
    oldest: dict[int, int] = {}
    for token in _tokens():
        number, encrypted_at = _open(token, keys)
        counts[number] += 1
        if number is not None:
            oldest[number] = min(encrypted_at, oldest.get(number, encrypted_at))
    return [_use(number, counts, oldest) for number in range(len(keys))], counts[None]


def _use(number: int, counts: Counter[int | None], oldest: dict[int, int]) -> KeyUse:
    at = datetime.fromtimestamp(oldest[number], UTC) if number in oldest else None
    return KeyUse(number, counts[number], at)


def _tokens() -> Iterator[str]:
    for model, name in SECRETS:
        with platform_scope():
            rows = model._default_manager.exclude(**{name: ""}).order_by("-pk")
            found = list(rows.values_list(name, flat=True)[:MOST_READ])
        yield from found


def _open(token: str, keys: list[Fernet]) -> tuple[int | None, int]:
    """The number of the key that encrypted a secret, or None, and the time in seconds since 1970."""
    for number, key in enumerate(keys):
        try:
            return number, key.extract_timestamp(token)
        except InvalidToken:
            continue
    return None, 0
