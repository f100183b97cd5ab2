"""The request id of every response, which no client can forge and no log confuses."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client, RequestFactory

from config.asgi import application
from projects.common.middleware import RequestIdMiddleware
from tests.api.live import Caller, serve
from tests.conftest import Tenant

pytestmark = pytest.mark.urls("tests.api.edge")


def test_an_answer_names_its_request() -> None:
    first, second = (Client().get("/echo").headers["X-Request-ID"] for _ in range(2))
    assert len(first) == 32
    assert first != second


async def test_an_asynchronous_answer_names_its_request() -> None:
    response = await AsyncClient().get("/echo")
    assert len(response.headers["X-Request-ID"]) == 32


def test_an_id_of_the_client_is_not_taken() -> None:
    assert Client().get("/echo", headers={"X-Request-ID": "mine"}).headers["X-Request-ID"] != "mine"


def test_a_view_knows_the_id() -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(request.request_id)  # type: ignore[attr-defined]

    response = RequestIdMiddleware(view)(RequestFactory().get("/"))
    assert response.content.decode() == response.headers["X-Request-ID"]


def test_an_answer_of_the_api_is_kept_by_nobody_and_taken_for_nothing_else(tenant: Tenant) -> None:
    """As it is served, on the API's short way, and where the body's limit refuses."""
    with serve(application) as address:
        caller = Caller(address, tenant.key)
        for path, status in (("/rows", 200), ("/rows?limit=x", 400), ("/nothing", 404), ("/rows?a=%00", 400)):
            reply = caller.get(path)
            assert (reply.status, reply.headers["x-content-type-options"]) == (status, "nosniff")
            assert "no-store" in reply.headers["cache-control"], path


def test_a_page_that_depends_on_who_asks_is_kept_by_nobody() -> None:
    """Signed out at a shared computer, nobody goes back to the customers' conversations."""

    def kept(**headers: str) -> str:
        middleware = RequestIdMiddleware(lambda _: HttpResponse(headers=headers))
        return middleware(RequestFactory().get("/p/x/")).headers.get("Cache-Control", "")

    assert "no-store" in kept(Vary="Cookie")
    assert kept(**{"Vary": "Cookie", "Cache-Control": "max-age=60"}) == "max-age=60"
    assert kept() == ""
