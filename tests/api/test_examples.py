"""Summaries and examples of the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from console.api_docs.reference import read_reference
from projects.api.openapi_examples import summary_of
from tests.api.documented import document, validate

LONGEST_SUMMARY = 80
FREE = "/api/v1/bookings/free"
ORDERS = "/api/v1/orders"


def operations() -> Iterator[dict[str, Any]]:
    for path in document()["paths"].values():
        yield from path.values()


def contents(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The request's content and those of successful responses."""
    yield from operation.get("requestBody", {}).get("content", {}).values()
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield from response.get("content", {}).values()


def test_every_operation_has_a_short_summary() -> None:
    summaries = {operation["operationId"]: operation.get("summary", "") for operation in operations()}
    assert {name: text for name, text in summaries.items() if not 5 < len(text) <= LONGEST_SUMMARY} == {}
    assert len({*summaries.values()}) > len(summaries) * 0.9


def test_every_operation_has_an_example_that_matches_its_schema() -> None:
    wrong = {
        operation["operationId"]: found
        for operation in operations()
        for content in contents(operation)
        if "example" not in content or (found := validate(content["schema"], content["example"]))
    }
    assert wrong == {}


def test_a_printed_request_has_the_query_parameters_that_must_be_given() -> None:
    [request] = [one.request for group in read_reference(document()) for one in group.operations if one.path == FREE]
    assert "/bookings/free?date=$DATE" in request


def test_a_printed_request_has_one_of_two_alternative_parameters() -> None:
    """Neither is required by itself."""
    [request] = [one.request for group in read_reference(document()) for one in group.operations if one.path == ORDERS]
    assert "/orders?persona=$PERSONA" in request


def test_an_example_contains_no_placeholder() -> None:
    """A new property without a value in the catalogue says so here."""
    texts = {op["operationId"]: json.dumps([*contents(op)], ensure_ascii=False) for op in operations()}
    assert [name for name, text in texts.items() if "…" in text] == []


@pytest.mark.parametrize(
    ("description", "summary"),
    [
        ("Creates a conversation. An unknown customer is created, too.", "Create a conversation"),
        ("Closes the conversation: its flag is cleared.", "Close the conversation"),
        ("Sends a message from\nthe operator.", "Send a message from the operator"),
        ("List bookings by start time.", "List bookings by start time"),
        ("Passes it on.", "Pass it on"),
    ],
)
def test_summary(description: str, summary: str) -> None:
    assert summary_of("any", description) == summary
