"""One request, one transaction, one tenant."""

from __future__ import annotations

import pytest
from django.test import Client

from projects.models import Attribute
from tenancy.scope import NoTenant, current_organization_id
from tests.api.conftest import error_of
from tests.conftest import Tenant

pytestmark = pytest.mark.urls("tests.api.edge")
NOTES = "/api/v1/notes"


def notes_of(tenant: Tenant) -> int:
    with tenant.tx():
        return Attribute.objects.filter(key__startswith="note-").count()


def post(client: Client, content: str) -> object:
    return client.post(NOTES, {"content": content}, content_type="application/json")


def test_writes_of_a_handler_are_committed(api: Client, tenant: Tenant) -> None:
    post(api, "kept")
    assert notes_of(tenant) == 1


def test_an_exception_rolls_everything_back(api: Client, tenant: Tenant) -> None:
    error_of(post(api, "fail after writing"), status=409)
    assert notes_of(tenant) == 0


def test_a_key_writes_only_to_its_own_tenant(api: Client, stranger: Tenant) -> None:
    post(api, "mine")
    assert notes_of(stranger) == 0


@pytest.mark.parametrize("content", ["kept", "fail after writing"])
def test_no_tenant_is_left_behind(api: Client, content: str) -> None:
    post(api, content)
    with pytest.raises(NoTenant):
        current_organization_id()


def test_a_list_shows_only_the_callers_project(api: Client, stranger: Tenant) -> None:
    post(Client(headers=stranger.headers), "theirs")
    post(api, "mine")
    keys = [row["value"] for row in api.get("/api/v1/rows?limit=200").json()["results"] if row["key"] == "note-0"]
    assert "theirs" not in keys
