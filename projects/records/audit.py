"""Audit log: every change to an organization's people, keys and connections, written in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from projects.models import ApiKey, AuditAction, AuditEntry, Member, Project, Role, User

SERVER = "the server's operator"
LONGEST = 400


@dataclass(frozen=True)
class Actor:
    """The person making a change, and their role. Platform staff act as owners."""

    user: User
    role: Role
    member_id: UUID | None = None

    @classmethod
    def of(cls, member: Member) -> Actor:
        return cls(member.user, Role(member.role), member.pk)


def record_change(
    action: AuditAction,
    *,
    organization_id: UUID,
    by: User | None,
    subject: str,
    project: Project | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    actor: str = "",
) -> AuditEntry:
    """Write an entry, in the transaction of the change.

    If `by` is None the actor is the API key named by `actor`, or else a command on the server. `before` and `after` are
    JSON without secrets.
    """
    return AuditEntry.objects.create(
        organization_id=organization_id,
        action=action,
        actor=(person(by) if by else actor or SERVER)[:LONGEST],
        actor_id=by.pk if by else None,
        subject=subject[:LONGEST],
        project_name=project.name if project else "",
        before=before or {},
        after=after or {},
    )


def record_key_change(
    action: AuditAction, key: ApiKey, *, by: User | None, before: Mapping[str, Any] | None = None
) -> None:
    """Write an entry about an API key, identified by its name and prefix."""
    is_there = action != AuditAction.KEY_REVOKED
    record_change(
        action,
        organization_id=cast(UUID, key.organization_id),
        by=by,
        subject=str(key),
        project=key.project,
        before=before,
        after=key_facts(key) if is_there else {},
    )


def key_facts(key: ApiKey) -> dict[str, Any]:
    """The name, scopes and expiry of a key."""
    expires = key.expires_at.isoformat() if key.expires_at else "never"
    return {"name": key.name, "scopes": list(key.scopes), "expires": expires}


def person(user: User) -> str:
    """A user as named in entries: "Anna Rossi (anna@example.com)", or the e-mail alone."""
    name = user.get_full_name()
    return f"{name} ({user.email})" if name else user.email
