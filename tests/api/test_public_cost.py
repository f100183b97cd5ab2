"""Addresses that answer without sign-in are cheap: a few statements, and CPU time like that of a static page."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from uuid import UUID

import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from projects.api import schema_view
from tests.conftest import Tenant
from tests.tenancy.routes import routes

pytestmark = pytest.mark.whole

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
RUNS = 3


def address_of(route: str) -> str:
    """The route with sample ids."""
    filled = PARAMETER.sub(lambda found: SAMPLES.get(found[1] or "", "sample"), route)
    return "/" + re.sub(r"[\^$\\]|\\Z", "", filled)


def is_public(path: str) -> bool:
    """True if the address answers a visitor with something other than a request to sign in."""
    answer = Client(raise_request_exception=False).get(path)
    asks = answer.status_code in (301, 302) and "/login/" in answer.headers["Location"]
    return answer.status_code not in (401, 405) and not asks


def statements_of(client: Client, path: str) -> int:
    with ExitStack() as stack:
        counted = [stack.enter_context(CaptureQueriesContext(connections[alias])) for alias in ("default", "ops")]
        client.get(path)
        return sum(map(len, counted))


def seconds_of(client: Client, path: str) -> float:
    """The CPU time of this process in one GET."""
    start = time.process_time()
    client.get(path)
    return time.process_time() - start


def most_seconds() -> float:
    client = Client()
    client.get(STATIC_PAGE)
    return MOST_STATIC_PAGES * min(seconds_of(client, STATIC_PAGE) for _ in range(RUNS))


def is_expensive(path: str, *, most: float) -> bool:
    """True if it takes more statements, or `most` seconds in each of a few requests: other work of the machine is in some."""
    client = Client(raise_request_exception=False)
    client.get(path)
    return statements_of(client, path) > MOST_STATEMENTS or all(seconds_of(client, path) > most for _ in range(RUNS))


@pytest.fixture
def public(tenant: Tenant, settings: Settings) -> list[str]:
    settings.DEMO_SHOP = True
    return [path for path in [*map(address_of, routes()), *MORE] if is_public(path)]


def test_every_address_without_sign_in_is_cheap(public: list[str]) -> None:
    assert {*public} >= KNOWN
    most = most_seconds()
    assert [path for path in public if is_expensive(path, most=most)] == []


@pytest.fixture
def rendered_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(dict):  # type: ignore[type-arg]
        def get(self, key: object, default: object = None) -> object:
            return default

        def setdefault(self, key: object, default: object = None) -> object:
            return default

    monkeypatch.setattr(schema_view, "_rendered", Forgetful())


def test_a_document_that_is_built_for_each_request_would_be_found(tenant: Tenant, rendered_anew: None) -> None:
    assert is_expensive("/api/v1/schema/", most=most_seconds())
