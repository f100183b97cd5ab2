"""A tenant's notices, and the server that receives Slack messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from jobs import claims
from jobs.attempt import attempt
from jobs.lanes import lane_of
from notices.models import Frequency, Notice, NoticeKind, NoticeSettings, Way
from notices.services import notify
from notices.settings import NoticeChoices, save_settings
from projects.models import Member, User
from tenancy.ids import uuid7
from tenancy.threads import in_db
from tests.conftest import Tenant
from tests.conversations.effects.target import Target, target_server

ALL = {kind: tuple(Way.values) for kind in NoticeKind.values}
Raise = Callable[..., UUID]


@pytest.fixture
def slack(settings: Any) -> Iterator[Target]:
    """A server that takes Slack messages."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as server:
        yield server


@pytest.fixture
def raised(tenant: Tenant) -> Raise:
    """Raises a notice about a subject, for everybody who may operate by default. Returns the subject."""

    def raise_notice(subject: UUID | None = None, *, kind: NoticeKind = NoticeKind.UNKNOWN, **details: Any) -> UUID:
        about = subject or uuid7()
        with tenant.tx():
            notify(tenant.project.pk, kind=kind, subject=about, object_id=about, **{"text": "Send SMS", **details})
        return about

    return raise_notice


def member_of_user(user: User) -> Member:
    return Member.objects.select_related("user", "organization").get(user=user)


def choose(tenant: Tenant, user: User, **changes: Any) -> None:
    """Save a member's notice settings: every kind in every way, unless told otherwise."""
    standard: dict[str, Any] = {"ways": ALL, "frequency": Frequency.AT_ONCE, "quiet_from": None, "quiet_to": None}
    with tenant.tx():
        save_settings(member_of_user(user), NoticeChoices(**{**standard, "timezone": "UTC", **changes}))


def all_notices(tenant: Tenant) -> list[Notice]:
    """All notices, oldest first."""
    with tenant.tx():
        return list(Notice.objects.select_related("member__user").order_by("created_at", "id"))


def settings_of_all(tenant: Tenant) -> list[NoticeSettings]:
    with tenant.tx():
        return list(NoticeSettings.objects.all())


def run(lane: str) -> None:
    """Run a lane's due jobs once."""

    async def once() -> None:
        jobs = await in_db(claims.claim, [lane_of(lane)], limit=32)
        await asyncio.gather(*(attempt(job, lane_of(job.lane)) for job in jobs))

    asyncio.run(once())
