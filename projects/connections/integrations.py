"""A project's connections to external services. Secrets are write-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext, override
from pydantic import ValidationError

from outbound.errors import BlockedAddress
from outbound.guard import Guard
from projects.agents.concurrent_edits import Facts, SavedMeanwhile, changes_of, join, last_to_change
from projects.common import crypto
from projects.common.differences import Change
from projects.common.hooks import Signal
from projects.connections.demo_store import demo_targets
from projects.connections.integration_types import KINDS, SourceKind
from projects.connections.offline_messengers import offline_targets
from projects.connections.settings.base import SourceSettings
from projects.models import AuditAction, Project, Source, User
from projects.models.agent_errors import SettingsRefused, sentences
from projects.models.organization import lock_project
from projects.records.audit import record_change
from tenancy.prepared_queries import PreparedQuery

LONGEST_SECRET = 500
# A source whose service began to reject (True) or accepts again (False) its credentials.
reauth_changed: Signal[[UUID, bool]] = Signal()
# Error keys: for no single setting, and for the secret.
GENERAL, SECRET = "settings", "secret"
MASK = "••••"
UNREADABLE = f"{MASK} (can’t be decrypted; enter it again)"
# The last four characters of a shorter secret would reveal too much of it.
MIN_LENGTH_FOR_HINT = 12


@dataclass(frozen=True)
class Connection:
    """A source with its decrypted secret, for the adapter that uses it. The secret must not reach logs, pages or
    errors.
    """

    source_id: UUID
    settings: SourceSettings
    secret: str = field(repr=False)
    needs_reauth: bool
    connected_at: datetime


@dataclass(frozen=True)
class SourceEdit:
    """The entered settings. An empty secret keeps the stored one."""

    settings: Mapping[str, Any]
    secret: str = field(default="", repr=False)


_FOUND = PreparedQuery(
    lambda project, kind: Source.objects.filter(project_id=project, kind=kind, is_enabled=True).order_by("pk")[:1],
    kinds=(UUID, str),
)


def find_source(project_id: UUID, kind: str) -> Source | None:
    """The project's enabled connection of a kind, or None."""
    return next(iter(_FOUND(project_id, kind)), None)


def open_source(project_id: UUID, kind: str) -> Connection | None:
    """The project's connection with its secret, or None. Must run in a transaction. Raises WrongSecret."""
    source = find_source(project_id, kind)
    if source is None:
        return None
    opened = KINDS[kind].settings.model_validate(source.settings)
    return Connection(source.pk, opened, _open_secret(source), source.needs_reauth, source.updated_at)


def connect_source(
    project: Project, kind: SourceKind, edit: SourceEdit, *, by: User | None, seen: Facts | None = None
) -> Source:
    """Create or change the project's connection of a kind.

    `seen` is the state that the editor started from (`loaded_state`); if it has changed since, raises SavedMeanwhile
    and saves nothing. Without `seen` the last write wins. Raises SettingsRefused with a sentence per field.
    """
    lock_project(project.pk)
    checked = checked_settings(kind, edit.settings)
    current = Source.objects.filter(project=project, kind=kind.name).first()
    if seen is not None and seen != loaded_state(current):
        checked = _resolve_conflict(project, kind, edit, typed=checked, current=current, seen=seen)
    secret = _checked_secret(project, kind, checked, edit.secret)
    source = current or Source(project=project, kind=kind.name)
    before = _facts(source) if current else {}
    source.settings = checked.model_dump(mode="json")
    if secret != _readable_secret(source):
        source.secret = crypto.encrypt(secret, **_binding(source)) if secret else ""
    source.is_enabled, source.needs_reauth = True, False
    source.save()
    action = AuditAction.CONNECTION_CHANGED if current else AuditAction.CONNECTED
    after = {**_facts(source), **(_new_secret(kind) if edit.secret and current else {})}
    _record(action, project, kind, by=by, before=before, after=after)
    return source


def loaded_state(source: Source | None) -> dict[str, Any]:
    """The state to detect concurrent edits with; empty without a connection.

    The secret is represented by a digest of its ciphertext, which differs for every write and reveals nothing.
    """
    if source is None or not source.is_enabled:
        return {}
    return {"settings": dict(source.settings), SECRET: sha256(source.secret.encode()).hexdigest()[:16]}


def disconnect_source(project: Project, kind: SourceKind, *, by: User | None, seen: Facts | None = None) -> bool:
    """Delete the project's connection and its secret. Returns False if there was none.

    Raises SavedMeanwhile if it was changed since it was `seen`, so that a secret someone else just entered is not lost.
    """
    lock_project(project.pk)
    source = Source.objects.filter(project=project, kind=kind.name).first()
    if source is not None and seen is not None and seen != loaded_state(source):
        raise SavedMeanwhile(by=_last_to_change(project, kind), values=source.settings, changes=[])
    if source is None or not source.delete()[0]:
        return False
    _record(AuditAction.DISCONNECTED, project, kind, by=by, before=_facts(source))
    return True


def mark_needs_reauth(source_id: UUID, *, tried: Connection | None = None) -> bool:
    """Record that the service rejected the credentials of the connection that was `tried`.

    Returns False if that was already recorded, so that staff is notified once, or if the connection was replaced since.
    """
    is_new = _unless_reconnected(source_id, tried).filter(needs_reauth=False).update(needs_reauth=True) == 1
    if is_new:
        reauth_changed.send(source_id, True)
    return is_new


def clear_needs_reauth(source_id: UUID, *, tried: Connection | None = None) -> bool:
    """Record that the service accepts the credentials again. `tried` works as in `mark_needs_reauth`."""
    is_new = _unless_reconnected(source_id, tried).filter(needs_reauth=True).update(needs_reauth=False) == 1
    if is_new:
        reauth_changed.send(source_id, False)
    return is_new


def needing_reauth(project: Project) -> QuerySet[Source]:
    """Connections whose credentials were rejected; nothing is sent through them."""
    return Source.objects.filter(project=project, is_enabled=True, needs_reauth=True)


def secret_hint(source: Source) -> str:
    """A hint of the stored secret: •••• and its last four characters; empty without a secret."""
    secret = _readable_secret(source)
    if secret is None:
        return UNREADABLE
    if not secret:
        return ""
    return f"{MASK}{secret[-4:]}" if len(secret) >= MIN_LENGTH_FOR_HINT else MASK


def checked_settings(kind: SourceKind, typed: Mapping[str, Any]) -> SourceSettings:
    """The validated settings, with an allowed address. Raises SettingsRefused."""
    try:
        checked = kind.settings.model_validate(typed)
    except ValidationError as error:
        errors = sentences(error, known=kind.settings.model_fields)
        raise SettingsRefused({path or GENERAL: text for path, text in errors.items()}) from error
    try:
        checked.check_server(guard_for(checked))
    except BlockedAddress as error:
        raise SettingsRefused({checked.address_field: str(error)}) from error
    return checked


def guard_for(checked: SourceSettings) -> Guard:
    """The outbound guard for a connection's server: the operator's rules, and exceptions for the demo store and the offline
    providers of messages.
    """
    server = checked.server
    return Guard(allow=[*settings.OUTBOUND_ALLOW, *demo_targets(server), *offline_targets(server)])


def _checked_secret(project: Project, kind: SourceKind, typed: SourceSettings, secret: str) -> str:
    """The entered secret, or the stored one if none was entered. Raises SettingsRefused."""
    if len(secret) > LONGEST_SECRET or not secret.isprintable():
        raise SettingsRefused(
            {
                SECRET: gettext("Use at most %(longest_secret)s characters, without line breaks or control characters.")
                % {"longest_secret": LONGEST_SECRET}
            }
        )
    secret = secret or _stored_secret(project, kind, typed)
    if kind.needs_secret and not secret:
        raise SettingsRefused({SECRET: gettext("%(credential)s is required.") % {"credential": kind.credential}})
    return secret


def _stored_secret(project: Project, kind: SourceKind, typed: SourceSettings) -> str:
    """The stored secret, for its own server only; the owner of another server could read it there. Raises
    SettingsRefused.
    """
    source = find_source(project.pk, kind.name)
    if source is None or not source.secret:
        return ""
    if kind.settings.model_validate(source.settings).server != typed.server:
        raise SettingsRefused(
            {
                SECRET: gettext(
                    "%(credential)s: the stored one is for another address. Enter the one for this address."
                )
                % {"credential": kind.credential}
            }
        )
    stored = _readable_secret(source)
    if stored is None:
        raise SettingsRefused(
            {
                SECRET: gettext("%(credential)s: the stored one can’t be decrypted. Enter it again.")
                % {"credential": kind.credential}
            }
        )
    return stored


def _resolve_conflict(
    project: Project,
    kind: SourceKind,
    edit: SourceEdit,
    *,
    typed: SourceSettings,
    current: Source | None,
    seen: Facts,
) -> SourceSettings:
    """The other editor's settings, if this edit changes nothing else. Raises SavedMeanwhile otherwise.

    Connections are not merged automatically, because a user and a secret belong to one server.
    """
    own = typed.model_dump(mode="json")
    others = current.settings if current else {}
    base = seen.get("settings")
    values = join(base if isinstance(base, dict) else {}, current=others, typed=own)[0] if current else own
    if current and values == others and not edit.secret:
        return kind.settings.model_validate(others)
    titles = {name: about.title or name for name, about in kind.settings.model_fields.items()}
    changes = changes_of(others, values, titles=titles)
    if edit.secret:
        changes.append(Change(kind.credential, "", "yours, enter it again"))
    raise SavedMeanwhile(by=_last_to_change(project, kind), values=values, changes=changes)


def _last_to_change(project: Project, kind: SourceKind) -> str:
    actions = (AuditAction.CONNECTED, AuditAction.CONNECTION_CHANGED, AuditAction.DISCONNECTED)
    return last_to_change(project, kind.name, *actions)


def _unless_reconnected(source_id: UUID, tried: Connection | None) -> QuerySet[Source]:
    """The source, unless it was reconnected after the attempt."""
    rows = Source.objects.filter(pk=source_id)
    return rows if tried is None else rows.filter(updated_at=tried.connected_at)


def _facts(source: Source) -> dict[str, Any]:
    """The settings as the audit log stores them, without the secret."""
    return dict(source.settings)


def _record(
    action: AuditAction,
    project: Project,
    kind: SourceKind,
    *,
    by: User | None,
    before: Mapping[str, Any],
    after: Mapping[str, Any] | None = None,
) -> None:
    organization_id = cast(UUID, project.organization_id)
    record_change(
        action,
        organization_id=organization_id,
        by=by,
        subject=kind.name,
        project=project,
        before=before,
        after=after,
    )


def _readable_secret(source: Source) -> str | None:
    """The stored secret, or None if it can't be decrypted."""
    try:
        return _open_secret(source)
    except crypto.WrongSecret:
        return None


def _open_secret(source: Source) -> str:
    return crypto.decrypt(source.secret, **_binding(source)) if source.secret else ""


def _binding(source: Source) -> dict[str, Any]:
    return {"organization_id": cast(UUID, source.organization_id), "field": f"source:{source.kind}"}


def _new_secret(kind: SourceKind) -> dict[str, str]:
    """The fact that the secret was replaced, for the audit log, which is in English."""
    with override(settings.LANGUAGE_CODE):
        return {str(kind.credential): "a new one"}
