"""The OpenAPI page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from tests.tenancy.permission_table import OPERATIONS


@pytest.fixture
def schema() -> dict[str, Any]:
    GENERATOR_STATS.reset()
    return SchemaGenerator(urlconf="tests.api.edge").get_schema(public=True)  # type: ignore[no-any-return]


@pytest.mark.parametrize("urlconf", ["tests.api.edge", "config.urls"])
def test_it_generates_without_warnings(urlconf: str, capsys: pytest.CaptureFixture[str]) -> None:
    GENERATOR_STATS.reset()
    SchemaGenerator(urlconf=urlconf).get_schema(public=True)
    assert not GENERATOR_STATS, capsys.readouterr().err


def test_both_ways_to_sign_in_are_described(schema: dict[str, Any]) -> None:
    assert schema["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    assert {"apiKey": []} in schema["paths"]["/api/v1/notes"]["get"]["security"]
    assert {"session": []} in schema["paths"]["/api/v1/notes"]["get"]["security"]


def test_every_operation_shows_the_error(schema: dict[str, Any]) -> None:
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    assert operations
    for operation in operations:
        error = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert error == {"$ref": "#/components/schemas/Error"}
    error = schema["components"]["schemas"]["Error"]
    assert error["properties"]["error"]["required"] == ["code", "message", "field", "request_id"]


def test_an_idempotent_post_takes_the_header(schema: dict[str, Any]) -> None:
    names = [parameter["name"] for parameter in schema["paths"]["/api/v1/notes"]["post"]["parameters"]]
    assert sorted(names) == ["Idempotency-Key", "wait"]
    assert "parameters" not in schema["paths"]["/api/v1/notes"]["get"]


@pytest.fixture(scope="module")
def served() -> dict[str, Any]:
    """What the product serves."""
    return SchemaGenerator(urlconf="config.urls").get_schema(public=True)  # type: ignore[no-any-return]


def test_every_call_names_the_status_that_it_answers_with(served: dict[str, Any]) -> None:
    """As the permission table has it, which asks each of them."""
    for door in OPERATIONS:
        operation = served["paths"]["/" + re.sub(r"<\w+:(\w+)>", r"{\1}", door.route)][door.method.lower()]
        assert door.status >= 400 or str(door.status) in operation["responses"], door


def test_a_body_says_what_it_refuses(schema: dict[str, Any]) -> None:
    note = schema["components"]["schemas"]["NoteInputRequest"]
    assert note["additionalProperties"] is False
    assert note["properties"]["content"] == {"type": "string", "minLength": 1, "maxLength": 8_000}
    # What is said in the code of all serializers describes none of them.
    assert "description" not in note


def test_a_change_says_what_it_needs(served: dict[str, Any]) -> None:
    bodies = served["components"]["schemas"]
    assert bodies["SwitchRequest"]["required"] == ["enabled"]
    assert "required" not in bodies["PersonaPatchRequest"]


def test_a_list_has_its_form(schema: dict[str, Any]) -> None:
    [content] = schema["paths"]["/api/v1/rows"]["get"]["responses"]["200"]["content"].values()
    page = schema["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
    assert page["required"] == ["next", "results"]
    assert page["properties"]["results"]["items"] == {"$ref": "#/components/schemas/Note"}


def test_it_is_a_document_of_openapi(served: dict[str, Any]) -> None:
    validate_schema(served)
    lost = [one for one in _references(served) if one.rpartition("/")[2] not in served["components"]["schemas"]]
    assert not lost


def test_every_answer_names_its_fields(served: dict[str, Any]) -> None:
    """What is free in form says so in words: the metadata of a conversation, a tool's arguments, a custom event's payload."""
    answers = [
        content["schema"]
        for path in served["paths"].values()
        for operation in path.values()
        for answer in operation["responses"].values()
        for name, content in answer.get("content", {}).items()
        if name == "application/json"
    ]
    assert len(answers) > 150
    free = [one for one in (*answers, *_named_by(answers, served)) for one in _free_objects(one)]
    assert not free


def test_a_set_of_choices_has_one_name(served: dict[str, Any]) -> None:
    """In bodies and answers: a client that was generated of it has one type for both."""
    enums = [tuple(sorted(one["enum"])) for one in served["components"]["schemas"].values() if "enum" in one]
    assert len(enums) == len({*enums})


def _references(said: Any) -> Iterator[str]:
    for one in said.values() if isinstance(said, dict) else said if isinstance(said, list) else ():
        yield from _references(one)
    if isinstance(said, dict) and isinstance(said.get("$ref"), str):
        yield said["$ref"]


def _named_by(said: Any, document: dict[str, Any]) -> list[Any]:
    """Every schema that is referred to, directly or by another."""
    found: dict[str, Any] = {}
    waiting = list(_references(said))
    while waiting:
        name = waiting.pop().rpartition("/")[2]
        if name not in found:
            found[name] = document["components"]["schemas"][name]
            waiting += _references(found[name])
    return list(found.values())


def _free_objects(said: Any) -> Iterator[Any]:
    """Objects of which neither the fields nor the values are told, and which say nothing of it."""
    for one in said.values() if isinstance(said, dict) else said if isinstance(said, list) else ():
        yield from _free_objects(one)
    is_open = isinstance(said, dict) and said.get("type") == "object" and not said.get("properties")
    if is_open and not said.get("additionalProperties") and "description" not in said:
        yield said


def test_what_is_made_names_the_calls_that_go_on_with_it(served: dict[str, Any]) -> None:
    made = served["paths"]["/api/v1/conversations"]["post"]["responses"]["201"]["links"]
    assert made["messages_create"] == {
        "operationId": "messages_create",
        "parameters": {"conversation_id": "$response.body#/id"},
    }
    assert "turns_read" not in made
    article = served["paths"]["/api/v1/knowledge"]["post"]["responses"]["201"]["links"]["knowledge_read"]
    assert article["parameters"] == {"slug": "$response.body#/slug"}


@pytest.mark.parametrize("accept", ["application/json", "*/*"])
def test_the_document_is_built_once(client: Client, monkeypatch: pytest.MonkeyPatch, accept: str) -> None:
    """Anybody may ask for it, and building it is expensive."""
    first = client.get("/api/v1/schema/", headers={"Accept": accept})
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *args, **kwargs: pytest.fail("It was built again."))
    second = client.get("/api/v1/schema/?lang=de&version=2", headers={"Accept": accept})
    assert (second.status_code, second.content) == (200, first.content)


def test_a_client_that_has_the_document_gets_304(client: Client) -> None:
    etag = client.get("/api/v1/schema/")["ETag"]
    assert client.get("/api/v1/schema/", headers={"If-None-Match": etag}).status_code == 304
