"""Who calls: a project's key, or a member inside a project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from rest_framework.request import Request

from projects.models import ApiKey, Member, Project, User


@dataclass(frozen=True)
class Caller:
    """`request.auth` of every API view. Either `key`, or `member` and `user`, is set."""

    project: Project
    organization_id: UUID
    scopes: frozenset[str]
    key: ApiKey | None = None
    member: Member | None = None
    user: User | None = None
    throttled: bool = True

    @property
    def name(self) -> str:
        """Who calls, in words."""
        return self.user.name if self.user else f"the key {self.key.name}" if self.key else ""

    @property
    def bucket(self) -> str:
        """Whose requests are counted together."""
        return str((self.key or self.member or self.project).pk)


@dataclass(frozen=True)
class PendingAuth:
    """Where the caller wants in, known before the transaction; `admit` checks it inside, and raises ApiError."""

    organization_id: UUID
    admit: Callable[[], Caller]


def caller_of(request: Request) -> Caller | None:
    """Who was let in, or None where nobody had to be."""
    return cast("Caller | None", request.auth)
