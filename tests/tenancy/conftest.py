"""Two organizations, each with a marked row in every table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.test import Client

from projects.models import User
from tests.conftest import PASSWORD, Tenant, empty_database, make_tenant
from tests.tenancy.rows import Rows, fill_every_table

OURS, THEIRS = "canary-ours", "canary-theirs"


@dataclass(frozen=True)
class Filled:
    """A tenant and its rows, by model."""

    tenant: Tenant
    rows: Rows


@dataclass(frozen=True)
class World:
    """Data for tests that only read. Created once per module, because that takes longer than reading."""

    ours: Filled
    theirs: Filled
    platform: User


@pytest.fixture(scope="module")
def world(_schema: None) -> Iterator[World]:
    ours, theirs = make_tenant("Nello"), make_tenant("Stranger")
    yield World(
        ours=Filled(ours, fill_every_table(ours, OURS)),
        theirs=Filled(theirs, fill_every_table(theirs, THEIRS)),
        platform=make_platform_user(),
    )
    empty_database()


@pytest.fixture
def ours(tenant: Tenant) -> Filled:
    return Filled(tenant, fill_every_table(tenant, OURS))


@pytest.fixture
def theirs(stranger: Tenant) -> Filled:
    return Filled(stranger, fill_every_table(stranger, THEIRS))


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    """A browser signed in as our organization's owner."""
    return browser(tenant.owner)


@pytest.fixture
def platform(database: None) -> Client:
    """A browser signed in as a superuser."""
    return browser(make_platform_user())


def make_platform_user() -> User:
    return User.objects.create_superuser("platform@makegood.example", PASSWORD)


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
