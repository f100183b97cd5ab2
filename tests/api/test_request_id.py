"""The request id of every response: not forgeable by clients, safe in logs."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client, RequestFactory

from config.asgi import application
from projects.common.middleware import RequestIdMiddleware
from tests.api.live import Caller, serve
from tests.conftest import Tenant

pytestmark = pytest.mark.urls("tests.api.edge")


def test_a_response_carries_its_request_id() -> None:
    first, second = (Client().get("/echo").headers["X-Request-ID"] for _ in range(2))
    assert len(first) == 32
    assert first != second


async def test_an_asynchronous_response_carries_its_request_id() -> None:
    response = await AsyncClient().get("/echo")
    assert len(response.headers["X-Request-ID"]) == 32


def test_a_client_supplied_id_is_ignored() -> None:
    assert Client().get("/echo", headers={"X-Request-ID": "mine"}).headers["X-Request-ID"] != "mine"


def test_a_view_knows_the_id() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(request.request_id)  # type: ignore[attr-defined]

    response = RequestIdMiddleware(view)(RequestFactory().get("/"))
    assert response.content.decode() == response.headers["X-Request-ID"]


def test_api_responses_have_no_store_and_nosniff(tenant: Tenant) -> None:
    """As served, on the API's fast path, and when the body limit refuses."""
    with serve(application) as address:
        caller = Caller(address, tenant.key)
        for path, status in (("/rows", 200), ("/rows?limit=x", 400), ("/nothing", 404), ("/rows?a=%00", 400)):
            reply = caller.get(path)
            assert (reply.status, reply.headers["x-content-type-options"]) == (status, "nosniff")
            assert "no-store" in reply.headers["cache-control"], path


def test_personal_pages_are_not_cached() -> None:
    """After signing out at a shared computer, nobody can go back to the customers' conversations."""

    def kept(**headers: str) -> str:
        middleware = RequestIdMiddleware(lambda _: HttpResponse(headers=headers))
        return middleware(RequestFactory().get("/p/x/")).headers.get("Cache-Control", "")

    assert "no-store" in kept(Vary="Cookie")
    assert kept(**{"Vary": "Cookie", "Cache-Control": "max-age=60"}) == "max-age=60"
    assert kept() == ""
