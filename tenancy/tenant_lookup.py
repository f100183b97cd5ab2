"""Lookups before the tenant is known, through mg_ops. They return ids only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.db import connections

from tenancy.postgresql.prepared import Prepared

# Every page runs these.
_PROJECT = Prepared(
    "select p.organization_id, p.id from projects_project p"
    " join projects_member m on m.organization_id = p.organization_id where p.slug = %s and m.user_id = %s",
    using="ops",
)
_ORGANIZATIONS = Prepared(
    "select organization_id from projects_member where user_id = %s order by created_at", using="ops"
)
# Every webhook of a provider runs this one.
_SOURCES = Prepared(
    "select organization_id, project_id from projects_source where kind = %s and is_enabled"
    " and (%s = '' or settings ->> 'account_sid' = %s)"
    " order by settings ->> 'number' = '', id limit 500",
    using="ops",
)


@dataclass(frozen=True)
class KeyRef:
    """The organization and id of an API key."""

    organization_id: UUID
    key_id: UUID


@dataclass(frozen=True)
class ProjectRef:
    """The organization and id of a project."""

    organization_id: UUID
    project_id: UUID


@dataclass(frozen=True)
class InvitationRef:
    """The organization and id of an invitation."""

    organization_id: UUID
    invitation_id: UUID


@dataclass(frozen=True)
class WidgetRef:
    """The organization and id of a widget."""

    organization_id: UUID
    widget_id: UUID


@dataclass(frozen=True)
class EffectRef:
    """The organization and id of an effect that waits for a callback."""

    organization_id: UUID
    effect_id: UUID


def find_api_key(digest: str) -> KeyRef | None:
    """The API key with this SHA-256 digest, even if it can no longer be used."""
    row = _row("select organization_id, id from projects_apikey where digest = %s", [digest])
    return KeyRef(*row) if row else None


def find_invitation(digest: str) -> InvitationRef | None:
    """The invitation with this SHA-256 digest, even if it is no longer open."""
    row = _row("select organization_id, id from projects_invitation where digest = %s", [digest])
    return InvitationRef(*row) if row else None


def find_widget(public_key: str) -> WidgetRef | None:
    """The widget with this public key, even if it is switched off."""
    row = _row("select organization_id, id from projects_widget where public_key = %s", [public_key])
    return WidgetRef(*row) if row else None


def find_effect(callback_hash: str) -> EffectRef | None:
    """The effect whose callback token has this SHA-256 digest, even if it no longer waits for the callback."""
    row = _row("select organization_id, id from tools_effect where callback_hash = %s", [callback_hash])
    return EffectRef(*row) if row else None


def find_project(*, user_id: int, slug: str) -> ProjectRef | None:
    """The project with this slug, if the user is a member of its organization."""
    rows = _PROJECT(slug, user_id)
    return ProjectRef(*rows[0]) if rows else None


def find_project_by_slug(slug: str) -> ProjectRef | None:
    """The project with this slug, for the operator's commands, which act for no user."""
    row = _row("select organization_id, id from projects_project where slug = %s", [slug])
    return ProjectRef(*row) if row else None


def find_organizations(*, user_id: int) -> list[UUID]:
    """The organizations that the user is a member of, oldest membership first."""
    return [organization_id for (organization_id,) in _ORGANIZATIONS(user_id)]


def find_source_projects(kind: str, *, account_sid: str = "") -> list[ProjectRef]:
    """The projects with an enabled connection of this kind, whose webhooks all come to one address.

    With `account_sid`, only the connections of this Twilio account. A webhook is that of the first project whose secret
    signed it.
    """
    return [ProjectRef(*row) for row in _SOURCES(kind, account_sid, account_sid)]


def find_source(source_id: UUID, kind: str) -> ProjectRef | None:
    """The project of an enabled connection of this kind."""
    row = _row(
        "select organization_id, project_id from projects_source where id = %s and kind = %s and is_enabled",
        [str(source_id), kind],
    )
    return ProjectRef(*row) if row else None


def _row(sql: str, parameters: list[str | int]) -> tuple[UUID, UUID] | None:
    with connections["ops"].cursor() as cursor:
        cursor.execute(sql, parameters)
        return cast(tuple[UUID, UUID] | None, cursor.fetchone())
