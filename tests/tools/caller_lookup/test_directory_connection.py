"""Caller directory connections: validation on save, and the connection check."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.connections.integration_types import KINDS
from projects.connections.integrations import checked_settings
from projects.models.agent_errors import SettingsRefused
from tests.conftest import Tenant
from tests.tools.caller_lookup.conftest import CALLING, connect_records
from tests.tools.caller_lookup.lookup_server import LookupServer

RECORDS = KINDS["client_lookup"]


@pytest.mark.parametrize(
    ("typed", "field", "sentence"),
    [
        ({"url": "https://192.168.1.4/callers"}, "url", "inside a private network"),
        ({"url": "https://localhost/callers"}, "url", "this machine itself"),
        ({"url": "http://crm.example.com/callers"}, "url", "Use https://"),
        ({"url": "ftp://crm.example.com"}, "url", "must begin with http"),
        ({"url": "https://crm.example.com/#top"}, "url", "address after #"),
        ({"url": ""}, "url", "This field is required"),
        ({"header_name": "X Key"}, "header_name", "Enter a header"),
        ({"header_name": "Host"}, "header_name", "is reserved"),
        ({"header_name": "X-Key\r\nHost: evil"}, "header_name", "line break"),
    ],
)
def test_an_invalid_url_is_refused(typed: dict[str, str], field: str, sentence: str) -> None:
    """On save, with an error at the field."""
    with pytest.raises(SettingsRefused) as refused:
        checked_settings(RECORDS, {"url": "https://crm.example.com/callers", **typed})
    assert list(refused.value.errors) == [field]
    assert sentence in refused.value.errors[field]


def test_the_secret_is_optional(tenant: Tenant) -> None:
    assert connect_records(tenant, "https://crm.example.com/callers").secret == ""


@pytest.mark.parametrize(
    ("status", "body", "to", "is_ok", "sentence"),
    [
        (200, b"Anna Bianchi, a regular.", CALLING, True, "Response: Anna Bianchi, a regular."),
        (404, b"", CALLING, True, "The endpoint responded. It knows nobody with this number."),
        (500, b"", CALLING, False, "The caller lookup responded with 500."),
        (200, b"", " ", False, "Enter a phone number that your system knows."),
    ],
)
def test_the_check_looks_up_one_number(
    tenant: Tenant, records: LookupServer, settings: Any, status: int, body: bytes, to: str, is_ok: bool, sentence: str
) -> None:
    """The page shows the response."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    connect_records(tenant, records.url)
    records.script.status, records.script.body = status, body
    client = Client()
    client.force_login(tenant.owner)
    url = reverse("integration_test", args=[tenant.project.slug, RECORDS.name])
    answer = client.post(url, {"to": to}, headers={"Accept": "application/json"})
    assert answer.json() == {"ok": is_ok, "sentence": sentence}
