"""PostgreSQL's disk is full: what needs room is refused for a while, everything else is served."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connections
from django.test import Client

from tests.api.conftest import error_of


@pytest.fixture
def full_disk(api: Client) -> Iterator[None]:
    """New conversations meet the error of a full disk."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "create function no_room() returns trigger language plpgsql as"
            " $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$;"
            " create trigger no_room before insert on conversations_conversation execute function no_room()"
        )
        yield
        cursor.execute("drop trigger no_room on conversations_conversation; drop function no_room")


def test_writes_to_a_full_disk_get_503_with_retry_after(api: Client, full_disk: None) -> None:
    conversation = {"channel": "chat", "persona": {"external_id": "guest"}}
    response = api.post("/api/v1/conversations", conversation, content_type="application/json")
    assert error_of(response, status=503)["code"] == "unavailable"
    assert response.headers["Retry-After"] == "2"


def test_reads_from_a_full_disk_are_served(api: Client, full_disk: None) -> None:
    assert api.get("/api/v1/promises").status_code == 200
