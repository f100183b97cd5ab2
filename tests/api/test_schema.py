"""The OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from projects.api.serializers import VISIBLE, is_empty
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


def test_both_authentication_schemes_are_described(schema: dict[str, Any]) -> None:
    assert schema["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    assert {"apiKey": []} in schema["paths"]["/api/v1/notes"]["get"]["security"]
    assert {"session": []} in schema["paths"]["/api/v1/notes"]["get"]["security"]


def test_every_operation_documents_the_error(schema: dict[str, Any]) -> None:
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    assert operations
    for operation in operations:
        assert {"400", "401", "403", "404", "429", "503"} < operation["responses"].keys()
        # A default would document any status.
        assert "default" not in operation["responses"]
    for response in schema["components"]["responses"].values():
        assert response["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}
    error = schema["components"]["schemas"]["Error"]
    assert error["properties"]["error"]["required"] == ["code", "message", "field", "request_id"]


def test_an_idempotent_post_takes_the_header(schema: dict[str, Any]) -> None:
    names = [parameter["name"] for parameter in schema["paths"]["/api/v1/notes"]["post"]["parameters"]]
    assert sorted(names) == ["Idempotency-Key", "wait"]
    assert "parameters" not in schema["paths"]["/api/v1/notes"]["get"]


@pytest.fixture(scope="module")
def served() -> dict[str, Any]:
    """The document as served."""
    return SchemaGenerator(urlconf="config.urls").get_schema(public=True)  # type: ignore[no-any-return]


def test_every_operation_documents_its_success_status(served: dict[str, Any]) -> None:
    """The permission table requests each of them."""
    for door in OPERATIONS:
        operation = served["paths"]["/" + re.sub(r"<\w+:(\w+)>", r"{\1}", door.route)][door.method.lower()]
        assert door.status >= 400 or str(door.status) in operation["responses"], door


def test_a_body_documents_its_limits(schema: dict[str, Any]) -> None:
    note = schema["components"]["schemas"]["NoteInputRequest"]
    assert note["additionalProperties"] is False
    assert note["properties"]["content"] == {
        "type": "string",
        "minLength": 1,
        "maxLength": 8_000,
        "pattern": VISIBLE,
    }
    # The docstring of a base serializer describes none of its subclasses.
    assert "description" not in note


def test_a_patch_documents_its_required_fields(served: dict[str, Any]) -> None:
    bodies = served["components"]["schemas"]
    assert bodies["SwitchRequest"]["required"] == ["enabled"]
    assert "required" not in bodies["PersonaPatchRequest"]


def test_a_list_documents_its_page_format(schema: dict[str, Any]) -> None:
    [content] = schema["paths"]["/api/v1/rows"]["get"]["responses"]["200"]["content"].values()
    page = schema["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
    assert page["required"] == ["next", "results"]
    assert page["properties"]["results"]["items"] == {"$ref": "#/components/schemas/Note"}


def test_the_document_is_valid_openapi(served: dict[str, Any]) -> None:
    validate_schema(served)
    known = {f"#/components/{kind}/{name}" for kind, named in served["components"].items() for name in named}
    lost = {*_references(served)} - known
    assert not lost


def test_every_response_documents_its_fields(served: dict[str, Any]) -> None:
    """Free-form values have a description instead: a conversation's metadata, a tool's arguments, a custom event's
    payload.
    """
    answers = [
        content["schema"]
        for path in served["paths"].values()
        for operation in path.values()
        for answer in operation["responses"].values()
        for name, content in answer.get("content", {}).items()
        if name == "application/json"
    ]
    assert len(answers) > 100
    free = [one for one in (*answers, *_named_by(answers, served)) for one in _free_objects(one)]
    assert not free


def test_each_set_of_choices_has_one_schema_name(served: dict[str, Any]) -> None:
    """In requests and responses, so that a generated client has one type for both."""
    enums = [tuple(sorted(one["enum"])) for one in served["components"]["schemas"].values() if "enum" in one]
    assert len(enums) == len({*enums})


def _references(said: Any) -> Iterator[str]:
    for one in said.values() if isinstance(said, dict) else said if isinstance(said, list) else ():
        yield from _references(one)
    if isinstance(said, dict) and isinstance(said.get("$ref"), str):
        yield said["$ref"]


def _named_by(said: Any, document: dict[str, Any]) -> list[Any]:
    """Every schema referenced directly or through another."""
    found: dict[str, Any] = {}
    waiting = list(_references(said))
    while waiting:
        name = waiting.pop().rpartition("/")[2]
        if name not in found:
            found[name] = document["components"]["schemas"][name]
            waiting += _references(found[name])
    return list(found.values())


def _free_objects(said: Any) -> Iterator[Any]:
    """Objects without declared fields, value types or a description."""
    for one in said.values() if isinstance(said, dict) else said if isinstance(said, list) else ():
        yield from _free_objects(one)
    is_open = isinstance(said, dict) and said.get("type") == "object" and not said.get("properties")
    if is_open and not said.get("additionalProperties") and "description" not in said:
        yield said


def test_created_objects_link_to_further_operations(served: dict[str, Any]) -> None:
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
    """It is public, and expensive to build."""
    first = client.get("/api/v1/schema/", headers={"Accept": accept})
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *args, **kwargs: pytest.fail("It was built again."))
    second = client.get("/api/v1/schema/?lang=de&version=2", headers={"Accept": accept})
    assert (second.status_code, second.content) == (200, first.content)


def test_a_client_with_the_current_document_gets_304(client: Client) -> None:
    etag = client.get("/api/v1/schema/")["ETag"]
    assert client.get("/api/v1/schema/", headers={"If-None-Match": etag}).status_code == 304


def test_the_pattern_of_visible_text_is_what_bodies_are_checked_with() -> None:
    """For the characters that a regular expression without flags can name."""
    visible = re.compile(VISIBLE)
    letters = [chr(code) for code in range(0x10000) if not 0xD800 <= code <= 0xDFFF]
    assert [one for one in letters if bool(visible.search(one)) == is_empty(one)] == []


def test_an_operation_without_credentials_documents_no_refusal_of_them(served: dict[str, Any]) -> None:
    [result] = [
        operation
        for path in served["paths"].values()
        for operation in path.values()
        if operation["operationId"] == "tool_results_create"
    ]
    assert not {"401", "403", "429"} & result["responses"].keys()
    assert {"400", "404", "409", "413", "415", "422"} < result["responses"].keys()
