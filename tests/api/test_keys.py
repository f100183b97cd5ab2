"""API keys: access, expiry and revocation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import OperationalError, connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from projects.models import ApiKey
from projects.models.key import Scope
from tests.api.conftest import ClientFor, error_of
from tests.conftest import Tenant

pytestmark = pytest.mark.urls("tests.api.edge")
NOTES = "/api/v1/notes"


def set_key(tenant: Tenant, **fields: object) -> None:
    with tenant.tx():
        ApiKey.objects.filter(digest=ApiKey.digest_of(tenant.key)).update(**fields)


def test_a_key_opens_its_own_project(api: Client, tenant: Tenant) -> None:
    assert api.get(NOTES).json() == {"project": str(tenant.project.pk), "scopes": sorted(Scope.values)}


def test_a_use_that_cannot_be_recorded_fails_no_request(
    api: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is recorded after the commit, when the response can't change any more."""

    def lost(organization_id: UUID, key_id: UUID) -> None:
        raise OperationalError("the connection is lost")

    set_key(tenant, last_used_at=None)
    monkeypatch.setattr("projects.api.authentication._record_use", lost)
    assert api.get(NOTES).status_code == 200


def test_no_key_is_401_with_a_challenge(database: None) -> None:
    response = Client().get(NOTES)
    assert error_of(response, status=401)["code"] == "not_authenticated"
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic abc", "mg_0123abcd_" + "x" * 43])
def test_a_malformed_header_gets_the_expected_form(database: None, header: str) -> None:
    """A key without the word before it was called unknown, expired or revoked."""
    response = Client().get(NOTES, headers={"Authorization": header})
    assert error_of(response, status=401)["code"] == "not_authenticated"
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "header", ["Bearer sk-x", "Bearer mg_", "Bearer mg_0123abcd_" + "x" * 43, "Bearer é" * 9, "Bearer Bearer mg_"]
)
def test_every_wrong_key_gets_the_same_response(database: None, header: str) -> None:
    response = Client().get(NOTES, headers={"Authorization": header})
    error = error_of(response, status=401)
    assert (error["code"], error["message"]) == (
        "invalid_api_key",
        "This API key is not valid: it is unknown, expired or revoked.",
    )
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_key_stops_at_once(api: Client, tenant: Tenant) -> None:
    assert api.get(NOTES).status_code == 200
    set_key(tenant, revoked_at=timezone.now())
    assert error_of(api.get(NOTES), status=401)["code"] == "invalid_api_key"


def test_an_expired_key_stops_at_once(api: Client, tenant: Tenant) -> None:
    assert api.get(NOTES).status_code == 200
    set_key(tenant, expires_at=timezone.now() - timedelta(seconds=1))
    assert error_of(api.get(NOTES), status=401)["code"] == "invalid_api_key"


def test_a_deleted_key_stops_at_once(api: Client, tenant: Tenant) -> None:
    assert api.get(NOTES).status_code == 200
    with tenant.tx():
        ApiKey.objects.all().delete()
    assert error_of(api.get(NOTES), status=401)["code"] == "invalid_api_key"


def test_a_missing_scope_is_403_and_named(client_for: ClientFor) -> None:
    client = client_for(Scope.READ)
    error = error_of(client.post(NOTES, {"content": "a"}, content_type="application/json"), status=403)
    assert (error["code"], error["message"]) == ("missing_scope", "This requires the scope 'converse'.")


def test_head_requires_the_scope_of_get(client_for: ClientFor) -> None:
    assert client_for(Scope.CONVERSE).head(NOTES).status_code == 403


def test_the_last_use_of_a_key_is_recorded(api: Client, key_row: Callable[[], ApiKey]) -> None:
    assert key_row().last_used_at is None
    api.get(NOTES)
    used_at = key_row().last_used_at
    assert used_at is not None
    assert timezone.now() - used_at < timedelta(minutes=1)


def test_the_last_use_of_a_key_is_recorded_once_a_minute(
    api: Client, tenant: Tenant, key_row: Callable[[], ApiKey]
) -> None:
    recently = timezone.now() - timedelta(seconds=30)
    set_key(tenant, last_used_at=recently)
    api.get(NOTES)
    assert key_row().last_used_at == recently
    set_key(tenant, last_used_at=recently - timedelta(seconds=40))
    api.get(NOTES)
    assert (key_row().last_used_at or recently) > recently


def test_authentication_takes_one_statement(api: Client) -> None:
    """The key with its project; the tenant is set by BEGIN. This is on the hot path of every message."""
    api.get(NOTES)
    with CaptureQueriesContext(connection) as queries, CaptureQueriesContext(connections["ops"]) as lookups:
        api.get(NOTES)
    assert len([query for query in queries if query["sql"] not in ("BEGIN", "COMMIT")]) == 1
    assert len(lookups) == 0
