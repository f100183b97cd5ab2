"""A project with two tables and a person, and a fixed clock: Saturday 21 November 2026, 10:00 in Rome."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest

from projects.agents.services import save_agent
from projects.models import AgentVersion, Attribute, Project
from tests.conftest import Tenant, empty_database, make_tenant
from tools.engine.execution.handler import Contact, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.registry import builtin_tools
from tools.models import Booking, Effect, Resource
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.search import Search, SearchResult, config_of, describe_result, new_search
from tools.services.bookings.services import Guest, book
from tools.services.business_data import products, zip_codes

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ADA = Guest(name="Ada Lovelace", phone="+39 06 555 0199", email="ada@example.com")


@dataclass(frozen=True)
class Bookings:
    """A tenant's bookings and resources, used inside its transaction."""

    tenant: Tenant

    @property
    def project(self) -> Project:
        return Project.objects.select_related("agent_version").get(pk=self.tenant.project.pk)

    def reset(self) -> None:
        """Restore the initial settings, attributes and empty bookings."""
        with self.tenant.tx():
            Booking.objects.all().delete()
            Effect.objects.all().delete()
            Attribute.objects.filter(key__in=(zip_codes.KEY, products.KEY)).delete()
            first = AgentVersion.objects.get(project=self.tenant.project, number=1)
            Project.objects.filter(pk=self.tenant.project.pk).update(agent_version=first)

    def configure(self, **changes: Any) -> None:
        """Change the agent's settings."""
        with self.tenant.tx():
            config = config_of(self.project).model_validate({**config_of(self.project).model_dump(), **changes})
            save_agent(self.project, config=config, author=None)

    def stock(self, *resources: tuple[str, str, int, int]) -> None:
        """Replace the resources with these: name, kind, capacity, minutes."""
        with self.tenant.tx():
            Resource.objects.all().delete()
            Resource.objects.bulk_create(
                Resource(project=self.project, name=name, kind=kind, capacity=capacity, slot_minutes=minutes)
                for name, kind, capacity, minutes in resources
            )

    def search(self, party_size: int | None = 2, *, now: datetime = NOW, **request: Any) -> Search:
        return new_search(self.project, BookingRequest(party_size=party_size, **request), now=now)

    def words(self, found: SearchResult) -> str:
        return describe_result(found, today=NOW.date())

    def book(self, starts_at: datetime, party_size: int = 2, *, now: datetime = NOW, **more: Any) -> Booking:
        with self.tenant.tx():
            request = more.pop("request", BookingRequest(party_size=party_size))
            return book(self.project, request, starts_at=starts_at, guest=more.pop("guest", ADA), now=now, **more)

    def effect(self) -> UUID:
        """Create an effect that is being executed."""
        with self.tenant.tx():
            effect = Effect.objects.create(
                project_id=self.tenant.project.pk,
                effect_key=uuid4().hex,
                tool="x",
                kind="x",
                delivery="idempotent",
                definition={},
            )
        return effect.pk

    def tool_context(self, *, contact: Contact | None = None, at: datetime = NOW) -> ToolContext:
        return ToolContext(
            organization_id=self.tenant.organization.pk,
            project_id=self.tenant.project.pk,
            effect_id=self.effect(),
            key="k",
            conversation_id=None,
            turn_id=None,
            channel="chat",
            timezone="Europe/Rome",
            at=at,
            contact=contact,
        )

    def run(self, tool: str, context: ToolContext | None = None, **arguments: Any) -> Outcome:
        """Execute a built-in tool."""
        handler = builtin_tools()[tool].handler
        assert handler is not None
        return asyncio.run(_outcome(handler.execute(arguments, context or self.tool_context())))


async def _outcome(running: Any) -> Outcome:
    outcome: Outcome = await running
    return outcome


def stranger_contact() -> Contact:
    return Contact(persona_id=uuid4())


@pytest.fixture(scope="module")
def business(_schema: None) -> Iterator[Tenant]:
    """One tenant for all tests of a module; `bookings` resets its bookings."""
    yield make_tenant("Nello")
    empty_database()


@pytest.fixture
def tenant(business: Tenant) -> Tenant:
    return business


@pytest.fixture
def stranger(business: Tenant) -> Tenant:
    return make_tenant(f"Stranger{uuid4().hex[:8]}")


@pytest.fixture
def bookings(tenant: Tenant) -> Bookings:
    bookings = Bookings(tenant)
    bookings.reset()
    bookings.stock(("Two", "table", 2, 90), ("Four", "table", 4, 90), ("Dr. Weber", "person", 2, 30))
    return bookings


def rome(day: int, clock: str, *, month: int = 11, year: int = 2026) -> datetime:
    """Return a moment given in Rome's local time."""
    hour, minute = clock.split(":")
    return datetime(year, month, day, int(hour), int(minute), tzinfo=ZoneInfo("Europe/Rome")).astimezone(UTC)
