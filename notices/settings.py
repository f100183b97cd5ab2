"""Members' notice settings: reading and saving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from typing import cast
from uuid import UUID

from django.utils.translation import gettext

from notices import slack
from notices.models import Frequency, NoticeKind, NoticeSettings, Way
from notices.preferences import DEFAULT
from projects.common.api_error import ApiError
from projects.common.crypto import WrongSecret
from projects.models import Member
from projects.models.agent_config import time_zones


@dataclass(frozen=True)
class NoticeChoices:
    """A member's choices. Without `slack_url`, the stored address stays; an empty one removes it."""

    ways: Mapping[str, Sequence[str]]
    frequency: str
    quiet_from: time | None
    quiet_to: time | None
    timezone: str
    slack_url: str | None = None


def settings_of(member: Member) -> NoticeSettings:
    """The member's settings; unsaved defaults if they have chosen nothing. Call it inside the tenant's transaction."""
    return NoticeSettings.objects.filter(member=member).first() or NoticeSettings(member=member)


def save_settings(member: Member, choices: NoticeChoices) -> NoticeSettings:
    """Save a member's choices. Raises ApiError that names the field."""
    if choices.frequency not in Frequency:
        raise ApiError("invalid_frequency", gettext("Choose how often."), field="frequency")
    if (choices.quiet_from is None) != (choices.quiet_to is None):
        raise ApiError("invalid_quiet_hours", gettext("Enter both times, or leave both empty."), field="quiet_to")
    if choices.timezone not in time_zones():
        raise ApiError("invalid_timezone", gettext("Choose a time zone, such as Europe/Rome."), field="timezone")
    changes = {
        "ways": _ways(choices.ways),
        "frequency": choices.frequency,
        "quiet_from": choices.quiet_from,
        "quiet_to": choices.quiet_to,
        "timezone": choices.timezone,
    }
    if choices.slack_url is not None:
        url = slack.checked_url(choices.slack_url) if choices.slack_url.strip() else ""
        changes["slack_url"] = slack.encrypt_url(url, organization_id=cast(UUID, member.organization_id))
        changes["slack_error"] = ""
    return NoticeSettings.objects.update_or_create(member=member, defaults=changes)[0]


def slack_address(settings: NoticeSettings) -> str:
    """The address of the member's webhook; empty without one, or if it can't be decrypted."""
    if not settings.slack_url:
        return ""
    try:
        return slack.decrypt_url(settings.slack_url, organization_id=cast(UUID, settings.organization_id))
    except WrongSecret:
        return ""


def _ways(chosen: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The ways of each kind that differ from the default, in one order."""
    known = {kind: [way.value for way in Way if way in chosen.get(kind, ())] for kind in NoticeKind.values}
    return {kind: ways for kind, ways in known.items() if set(ways) != DEFAULT[kind]}
