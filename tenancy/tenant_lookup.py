"""Look-ups before a tenant is known, through mg_ops. They return ids, nothing else (design section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.db import connections


@dataclass(frozen=True)
class KeyPlace:
    """Where an API key lives."""

    organization_id: UUID
    key_id: UUID


@dataclass(frozen=True)
class ProjectPlace:
    """Where a project lives that a user may enter."""

    organization_id: UUID
    project_id: UUID


@dataclass(frozen=True)
class InvitationPlace:
    """Where an invitation lives."""

    organization_id: UUID
    invitation_id: UUID


@dataclass(frozen=True)
class WidgetPlace:
    """Where the widget of a public key lives."""

    organization_id: UUID
    widget_id: UUID


@dataclass(frozen=True)
class EffectPlace:
    """Where an effect lives whose tool answers later."""

    organization_id: UUID
    effect_id: UUID


def find_api_key(digest: str) -> KeyPlace | None:
    """The key with this SHA-256, whether usable or not."""
    row = _row("select organization_id, id from projects_apikey where digest = %s", [digest])
    return KeyPlace(*row) if row else None


def find_invitation(digest: str) -> InvitationPlace | None:
    """The invitation with this SHA-256, whether open or not."""
    row = _row("select organization_id, id from projects_invitation where digest = %s", [digest])
    return InvitationPlace(*row) if row else None


def find_widget(public_key: str) -> WidgetPlace | None:
    """The widget with this public key, whether switched on or not."""
    row = _row("select organization_id, id from projects_widget where public_key = %s", [public_key])
    return WidgetPlace(*row) if row else None


def find_effect(callback_hash: str) -> EffectPlace | None:
    """The effect whose callback token has this SHA-256, whether it still waits for it or not."""
    row = _row("select organization_id, id from tools_effect where callback_hash = %s", [callback_hash])
    return EffectPlace(*row) if row else None


def find_project(*, user_id: int, slug: str) -> ProjectPlace | None:
    """The project at this address, when the user is a member of its organization."""
    row = _row(
        "select p.organization_id, p.id from projects_project p"
        " join projects_member m on m.organization_id = p.organization_id where p.slug = %s and m.user_id = %s",
        [slug, user_id],
    )
    return ProjectPlace(*row) if row else None


def find_project_by_slug(slug: str) -> ProjectPlace | None:
    """The project at this address, for the operator's commands: they act for no user."""
    row = _row("select organization_id, id from projects_project where slug = %s", [slug])
    return ProjectPlace(*row) if row else None


def find_organizations(*, user_id: int) -> list[UUID]:
    """The organizations the user is a member of, oldest membership first."""
    with connections["ops"].cursor() as cursor:
        cursor.execute("select organization_id from projects_member where user_id = %s order by created_at", [user_id])
        return [row[0] for row in cursor.fetchall()]


def _row(sql: str, parameters: list[str | int]) -> tuple[UUID, UUID] | None:
    with connections["ops"].cursor() as cursor:
        cursor.execute(sql, parameters)
        return cast(tuple[UUID, UUID] | None, cursor.fetchone())
