"""Query parameters: a mistake is refused, never ignored."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator

from projects.api.views import TenantView
from projects.models import Attribute
from tests.api.conftest import error_of
from tests.conftest import Tenant

edge = pytest.mark.urls("tests.api.edge")
# Called by others at an address they were given, such as a tool's endpoint.
NOT_OURS = {"ToolResult", "schema", "api_docs"}


@edge
@pytest.mark.parametrize(
    ("address", "field", "sentence"),
    [
        ("rows?lmit=2", "lmit", "Unknown parameter 'lmit'. Did you mean 'limit'? Allowed here: limit, cursor."),
        ("rows?since=2026-01-01", "since", "Unknown parameter 'since'. Allowed here: limit, cursor."),
        ("rows?limit=2&limit=3", "limit", "limit appears more than once; send it once."),
    ],
)
def test_a_misspelled_foreign_or_repeated_parameter_is_refused(
    api: Client, address: str, field: str, sentence: str
) -> None:
    error = error_of(api.get(f"/api/v1/{address}"), status=400)
    assert (error["field"], error["message"]) == (field, sentence)


@edge
@pytest.mark.parametrize("address", ["rows?limit=2&_=1", "rows?trace=abc"])
def test_unrelated_parameters_are_ignored(api: Client, address: str) -> None:
    """Clients add parameters of their own, and have always been served."""
    assert api.get(f"/api/v1/{address}").status_code == 200


def test_an_unrelated_parameter_is_not_a_misspelling(api: Client) -> None:
    assert api.get("/api/v1/promises?trace=1").status_code == 200


@edge
def test_a_refused_query_has_no_effect(api: Client, tenant: Tenant) -> None:
    answer = api.post("/api/v1/notes?wiat=1", {"content": "Hello"}, content_type="application/json")
    assert error_of(answer, status=400)["code"] == "unknown_parameter"
    with tenant.tx():
        assert not Attribute.objects.filter(key__startswith="note-").exists()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("bookings?state=nonsense", "state must be one of: confirmed, cancelled."),
        ("bookings?state=Canceled", "state must be one of: confirmed, cancelled. Did you mean 'cancelled'?"),
        ("bookings/free?date=2030-01-02&kind=meting", "kind must be one of: booking, meeting. Did you mean 'meeting'?"),
        ("tickets?priority=hihg", "priority must be one of: low, normal, high, urgent. Did you mean 'high'?"),
        ("tools?channel=telegraf", None),
        ("todos?status=aproved", None),
        ("promises?state=0", None),
        ("effects?state=0", None),
        ("orders?status=0", None),
    ],
)
def test_an_unknown_choice_is_refused(api: Client, address: str, sentence: str | None) -> None:
    """It used to return an empty list."""
    error = error_of(api.get(f"/api/v1/{address}"), status=400)
    assert error["field"] == address.rpartition("=")[0].split("?")[1].split("&")[-1]
    assert error["message"] == sentence or (sentence is None and "must be one of: " in error["message"])


@pytest.mark.parametrize("address", ["bookings?state=", "todos?status=", "tickets?priority=", "tools?channel="])
def test_an_empty_parameter_is_ignored(api: Client, address: str) -> None:
    assert api.get(f"/api/v1/{address}").status_code == 200


def test_every_list_takes_a_limit_and_refuses_a_filter_of_another_list(api: Client) -> None:
    """A filter that a list doesn't have used to return the whole list."""
    for path in _lists():
        limited, unknown = api.get(f"{path}?limit=5"), api.get(f"{path}?wait=1")
        assert limited.status_code == (409 if path.endswith("/orders") else 200) or "persona" in limited.text, path
        assert error_of(unknown, status=400)["code"] == "unknown_parameter", path


def test_every_view_checks_its_declared_parameters() -> None:
    views = {_view_of(pattern.callback) for pattern in _patterns(get_resolver("config.api_urls"))}
    assert {
        view.__name__ for view in views if not (isinstance(view, type) and issubclass(view, TenantView))
    } == NOT_OURS


def test_the_openapi_document_lists_the_parameters() -> None:
    GENERATOR_STATS.reset()
    schema: Any = SchemaGenerator(urlconf="config.urls").get_schema(public=True)
    shown = {
        path: [one["name"] for one in schema["paths"][f"/api/v1/{path}"]["get"].get("parameters", ())]
        for path in ("promises", "tools", "attributes")
    }
    paged = ["cursor", "limit"]
    assert shown == {"promises": ["conversation", *paged, "state"], "tools": ["channel", *paged], "attributes": paged}


def _lists() -> list[str]:
    """The addresses of all lists that need no id."""
    GENERATOR_STATS.reset()
    schema: Any = SchemaGenerator(urlconf="config.urls").get_schema(public=True)
    found = [path for path, operations in schema["paths"].items() if "{" not in path and _is_list(operations, schema)]
    assert len(found) > 20
    return found


def _is_list(operations: Any, schema: Any) -> bool:
    if "get" not in operations:
        return False
    content = operations["get"]["responses"].get("200", {}).get("content", {})
    name = content.get("application/json", {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
    return {"results", "next"} <= {*schema["components"]["schemas"].get(name, {}).get("properties", {})}


def _patterns(resolver: Any) -> list[Any]:
    found = []
    for pattern in resolver.url_patterns:
        found += _patterns(pattern) if hasattr(pattern, "url_patterns") else [pattern]
    return found


def _view_of(view: Any) -> Any:
    """The view's class, or the view itself if it is a function."""
    return getattr(view, "cls", None) or getattr(view, "view_class", view)


@pytest.mark.parametrize(
    ("address", "field"),
    [("calls?live=maybe", "live"), (f"personas?q={'a' * 201}", "q")],
    ids=["no boolean", "too long"],
)
def test_a_value_that_the_document_excludes_is_refused(api: Client, address: str, field: str) -> None:
    assert error_of(api.get(f"/api/v1/{address}"), status=400)["field"] == field
