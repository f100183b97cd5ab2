"""Pagination of lists."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from uuid import UUID

import pytest
from django.test import Client

from conversations.models import Message
from projects.api import pagination
from projects.models import Attribute
from tests.api.conftest import error_of
from tests.conftest import Tenant
from tools.models import Booking

pytestmark = pytest.mark.urls("tests.api.edge")


def all_pages(client: Client, url: str) -> list[list[str]]:
    pages = []
    next_url: str | None = url
    while next_url:
        body = client.get(next_url).json()
        assert list(body) == ["results", "next"]
        pages.append([row["key"] for row in body["results"]])
        next_url = body["next"]
    return pages


def add(tenant: Tenant, *keys: str, second: int = 0) -> None:
    """Rows created one second apart."""
    with tenant.tx():
        for age, key in enumerate(keys, start=second):
            made_at = UUID(int=(1_800_000_000_000 + age * 1000) << 80)
            Attribute.objects.create(id=made_at, project=tenant.project, key=key, type="string", value="x")


@pytest.fixture
def five(tenant: Tenant) -> list[str]:
    with tenant.tx():
        Attribute.objects.all().delete()
    keys = ["c", "a", "e", "b", "d"]
    add(tenant, *keys)
    return keys


def test_the_newest_come_first(api: Client, five: list[str]) -> None:
    assert all_pages(api, "/api/v1/rows") == [five[::-1]]


def test_pages_are_contiguous(api: Client, five: list[str]) -> None:
    assert all_pages(api, "/api/v1/rows?limit=2") == [["d", "b"], ["e", "a"], ["c"]]


def test_a_full_last_page_has_no_next(api: Client, five: list[str]) -> None:
    assert all_pages(api, "/api/v1/rows?limit=5") == [five[::-1]]


def test_a_view_may_order_by_another_column(api: Client, five: list[str]) -> None:
    assert all_pages(api, "/api/v1/rows-by-key?limit=2") == [["a", "b"], ["c", "d"], ["e"]]


def test_a_row_inserted_meanwhile_shifts_no_page(api: Client, tenant: Tenant, five: list[str]) -> None:
    first = api.get("/api/v1/rows?limit=2").json()
    add(tenant, "new", second=9)
    assert all_pages(api, first["next"]) == [["e", "a"], ["c"]]


@pytest.mark.parametrize(
    ("base", "begins"), [("https://testserver", "https://testserver/api/"), ("https://other", "http://testserver/api/")]
)
def test_next_links_use_the_public_address_behind_a_tls_proxy(
    api: Client, five: list[str], settings, base: str, begins: str
) -> None:
    """The proxy forwards over HTTP; clients that used another of our hosts stay on it."""
    settings.BASE_URL = base
    assert api.get("/api/v1/rows?limit=2").json()["next"].startswith(begins)


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "", "9" * 5000, "１"])
def test_a_limit_out_of_range_is_refused(api: Client, limit: str) -> None:
    error = error_of(api.get("/api/v1/rows", {"limit": limit}), status=400)
    assert error["message"] == "limit must be a number between 1 and 200."


@pytest.mark.parametrize(
    "cursor", ["", "x", "é", "////", urlsafe_b64encode(b"1 2").decode(), urlsafe_b64encode(b"\xff").decode()]
)
def test_a_foreign_cursor_is_refused(api: Client, cursor: str) -> None:
    assert error_of(api.get("/api/v1/rows", {"cursor": cursor}), status=400)["code"] == "invalid_cursor"


@pytest.mark.parametrize("value", ["", ".", ".0", ".abc", ".ff", ".00", "." + "f" * 3_900])
@pytest.mark.parametrize("address", ["rows", "rows-by-key"])
def test_any_cursor_that_fits_the_document_is_a_position(
    api: Client, five: list[str], address: str, value: str
) -> None:
    """Also one that no list has made."""
    cursor = f"01a20672-d976-7c88-8c7c-9cda136e1a5a{value}"
    assert api.get(f"/api/v1/{address}", {"cursor": cursor}).status_code == 200


@pytest.mark.parametrize("ordering", ["seq", "starts_at"])
@pytest.mark.parametrize("digits", ["", "0", "f" * 16, "f" * 3_900])
def test_any_digits_are_a_number_or_a_time(ordering: str, digits: str) -> None:
    model = {"seq": Message, "starts_at": Booking}[ordering]
    value = pagination._value_of(digits, field=pagination._field(model, ordering))
    assert pagination._value_of(pagination._digits_of(value), field=pagination._field(model, ordering)) == value
