"""Every answer names its request."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client, RequestFactory

from projects.middleware import RequestIdMiddleware

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
