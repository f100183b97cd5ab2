"""The audit trail: each change of an organization's people, keys and connections, written with the change itself."""

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
    """Who changes an organization, and as what. The platform's people act as owners of every one."""

    user: User
    role: Role
    member_id: UUID | None = None

    @classmethod
    def of(cls, member: Member) -> Actor:
        return cls(member.user, Role(member.role), member.pk)


def note_change(
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
    """One entry, in the transaction of the change. `by` None is an API key, which `actor` names, or else a command of the
    server's. `before` and `after` are JSON without secrets."""
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


def note_key(action: AuditAction, key: ApiKey, *, by: User | None, before: Mapping[str, Any] | None = None) -> None:
    """An entry about an API key, which is known by its name and its first, harmless part."""
    is_there = action != AuditAction.KEY_REVOKED
    note_change(
        action,
        organization_id=cast(UUID, key.organization_id),
        by=by,
        subject=str(key),
        project=key.project,
        before=before,
        after=key_facts(key) if is_there else {},
    )


def key_facts(key: ApiKey) -> dict[str, Any]:
    """What a key may do, until when."""
    expires = key.expires_at.isoformat() if key.expires_at else "never"
    return {"name": key.name, "scopes": list(key.scopes), "expires": expires}


def person(user: User) -> str:
    """A person as an entry names them: "Anna Rossi (anna@example.com)", or the e-mail alone."""
    name = user.get_full_name()
    return f"{name} ({user.email})" if name else user.email
