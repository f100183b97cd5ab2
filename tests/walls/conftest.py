"""Two organizations, each with a row in every table, marked as theirs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client

from projects.models import User
from tests.conftest import Tenant
from tests.walls.rows import Rows, fill_every_table

OURS, THEIRS = "canary-ours", "canary-theirs"


@dataclass(frozen=True)
class Filled:
    """A tenant and its rows by model."""

    tenant: Tenant
    rows: Rows


@pytest.fixture
def ours(tenant: Tenant) -> Filled:
    return Filled(tenant, fill_every_table(tenant, OURS))


@pytest.fixture
def theirs(stranger: Tenant) -> Filled:
    return Filled(stranger, fill_every_table(stranger, THEIRS))


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    """The browser of our organization's owner."""
    return browser(tenant.owner)


@pytest.fixture
def platform(database: None) -> Client:
    """The browser of one of the platform's own people."""
    return browser(User.objects.create_superuser("platform@makegood.example", "correct horse battery"))


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
