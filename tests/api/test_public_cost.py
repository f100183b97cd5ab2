"""Addresses that answer without sign-in are cheap: a few statements, and CPU time like that of a static page."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import UUID

import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from projects.api import schema_view
from tests.conftest import Tenant
from tests.tenancy.routes import routes

# A page without queries, forms and sessions.
STATIC_PAGE = "/account/inactive/"
# The catalogue of a language, both formats of the document, and the script of the API's page are reached by these only.
MORE = (
    "/i18n/it.js",
    "/api/v1/schema/?format=json",
    "/api/v1/docs/?script=",
    "/no-such-page",
    "/static/no-such-file.js",
)
KNOWN = {
    "/healthz",
    "/livez",
    "/widget.js",
    "/api/v1/schema/",
    "/api/v1/docs/",
    "/account/login/",
    "/account/signup/",
    "/join",
}
SAMPLES = {"uuid": str(UUID(int=7)), "int": "1"}
PARAMETER = re.compile(r"<(?:(\w+):)?\w+>|\(\?P<\w+>[^)]*\)+")
MOST_STATEMENTS = 4
# Building the OpenAPI document takes several hundred times as long as the static page, a form about ten times.
MOST_STATIC_PAGES = 50
RUNS = 5


@dataclass(frozen=True)
class Cost:
    """The cost of one GET. `cpu` is in seconds, of this process."""

    cpu: float
    statements: int


def address_of(route: str) -> str:
    """The route with sample ids."""
    filled = PARAMETER.sub(lambda found: SAMPLES.get(found[1] or "", "sample"), route)
    return "/" + re.sub(r"[\^$\\]|\\Z", "", filled)


def is_public(path: str) -> bool:
    """True if the address answers a visitor with something other than a request to sign in."""
    answer = Client(raise_request_exception=False).get(path)
    asks = answer.status_code in (301, 302) and "/login/" in answer.headers["Location"]
    return answer.status_code not in (401, 405) and not asks


def cost_of(path: str) -> Cost:
    """The lowest CPU time of a few requests, so that other work of the machine doesn't count."""
    client = Client(raise_request_exception=False)
    client.get(path)
    with ExitStack() as stack:
        counted = [stack.enter_context(CaptureQueriesContext(connections[alias])) for alias in ("default", "ops")]
        client.get(path)
        statements = sum(map(len, counted))
    return Cost(min(_seconds(client, path) for _ in range(RUNS)), statements)


def _seconds(client: Client, path: str) -> float:
    start = time.process_time()
    client.get(path)
    return time.process_time() - start


def is_expensive(path: str) -> bool:
    cost = cost_of(path)
    return cost.statements > MOST_STATEMENTS or cost.cpu > MOST_STATIC_PAGES * cost_of(STATIC_PAGE).cpu


@pytest.fixture
def public(tenant: Tenant, settings: Settings) -> list[str]:
    settings.DEMO_SHOP = True
    return [path for path in [*map(address_of, routes()), *MORE] if is_public(path)]


def test_every_address_without_sign_in_is_cheap(public: list[str]) -> None:
    assert {*public} >= KNOWN
    assert [path for path in public if is_expensive(path)] == []


@pytest.fixture
def rendered_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(dict):  # type: ignore[type-arg]
        def get(self, key: object, default: object = None) -> object:
            return default

        def setdefault(self, key: object, default: object = None) -> object:
            return default

    monkeypatch.setattr(schema_view, "_rendered", Forgetful())


def test_a_document_that_is_built_for_each_request_would_be_found(tenant: Tenant, rendered_anew: None) -> None:
    assert is_expensive("/api/v1/schema/")
