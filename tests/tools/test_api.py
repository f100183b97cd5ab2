"""The API of custom tools, and the attribute that holds the same tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from projects.records.attributes import set_attribute
from tests.api.conftest import error_of
from tests.conftest import Tenant
from tests.tools.examples import NAME, REGISTRATION_TEXT, SCHEMA_TEXT, event, registration, webhook
from tools.engine.custom.attribute import KEY
from tools.models import CustomTool

TOOLS = "/api/v1/custom-tools"
ONE = f"{TOOLS}/{NAME}"
ATTRIBUTE = f"/api/v1/attributes/{KEY}"


def send(api: Client, method: str, url: str, body: Any) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    return getattr(api, method)(url, text, content_type="application/json")


def catalogue(api: Client) -> dict[str, Any]:
    return {tool["name"]: tool for tool in api.get("/api/v1/tools").json()["results"]}


# Adding


@pytest.mark.requirement("N50", "N15")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        (REGISTRATION_TEXT, NAME),
        (SCHEMA_TEXT, "tool_name"),
        (json.dumps({"name": "flat_tool", **event()}), "flat_tool"),
        (json.dumps({"name": "wrapped_tool", "definition": event()}), "wrapped_tool"),
    ],
    ids=["registration", "schema", "flat", "wrapped"],
)
def test_a_tool_can_be_added_in_any_accepted_form(api: Client, text: str, name: str) -> None:
    """It is in the next compiled set."""
    response = send(api, "post", TOOLS, text)
    assert response.status_code == 201, response.content
    assert response.json()["name"] == name
    assert catalogue(api)[name]["origin"] == "custom"


def test_several_tools_are_returned_as_a_list(api: Client) -> None:
    added = send(api, "post", TOOLS, {"tools": {"a_tool": event(), "b_tool": webhook()}}).json()
    assert [tool["name"] for tool in added["results"]] == ["a_tool", "b_tool"]
    assert [tool["name"] for tool in api.get(TOOLS).json()["results"]] == ["a_tool", "b_tool"]


def test_a_signing_secret_is_in_the_first_response_only(api: Client) -> None:
    added = send(api, "post", TOOLS, registration()).json()
    assert added["signing_secret"].startswith("whsec_")
    saved = send(api, "put", ONE, webhook(method="PUT")).json()
    assert "signing_secret" not in saved
    assert saved["has_signing_secret"] is True


def test_a_taken_name_is_a_conflict(api: Client) -> None:
    send(api, "post", TOOLS, registration())
    assert error_of(send(api, "post", TOOLS, registration()), status=409)["code"] == "name_taken"


# Refusals


def test_a_refusal_names_the_path_and_the_correction(api: Client) -> None:
    document = registration()
    document["tools"][NAME]["conditions"]["agentPromised"]["type"] = "string"
    error = error_of(send(api, "post", TOOLS, document), status=400)
    path = f"tools.{NAME}.conditions.agentPromised.type"
    assert (error["code"], error["field"]) == ("invalid_definition", path)
    assert error["message"] == f'{path} must be "boolean", not "string".'


def test_paths_of_a_put_are_relative_to_the_definition(api: Client) -> None:
    error = error_of(send(api, "put", ONE, event(conditions={})), status=422)
    assert (error["field"], error["message"]) == ("conditions", "A tool needs at least one condition.")


@pytest.mark.parametrize("tools", [{"another_tool": event()}, {}, {NAME: event(), "another_tool": event()}])
def test_a_put_of_another_tool_is_refused(tools: dict[str, Any], api: Client) -> None:
    error = error_of(send(api, "put", ONE, {"tools": tools}), status=400)
    assert (error["field"], error["message"]) == ("tools", f"This URL is for {NAME}; send only that tool.")


def test_a_python_literal_is_refused_with_line_and_column(api: Client) -> None:
    error = error_of(send(api, "put", ONE, '{\n  "useConversationHistory": True\n}'), status=400)
    assert error["code"] == "invalid_json"
    assert "line 2, column 29" in error["message"]


def test_a_duplicate_key_is_refused(api: Client) -> None:
    text = '{"description": "a", "description": "b"}'
    assert error_of(send(api, "put", ONE, text), status=400)["message"] == "Key 'description' appears twice."


@pytest.mark.parametrize(
    ("name", "status"),
    [("Send_SMS_tool", 422), ("urgent_message", 422), ("send quote", 400), ("x" * 200, 400), ("__proto__", 400)],
)
def test_an_invalid_name_is_refused(api: Client, name: str, status: int) -> None:
    assert error_of(send(api, "put", f"{TOOLS}/{name}", event()), status=status)["field"] == "name"


def test_an_invalid_key_of_a_registration_is_422(api: Client) -> None:
    """OpenAPI doesn't describe keys."""
    assert (
        error_of(send(api, "post", TOOLS, {"tools": {"send quote": event()}}), status=422)["field"]
        == "tools.send quote"
    )


@pytest.mark.parametrize("body", [{}, {"name": 7, **event()}, {"tools": []}, {"tools": {"a": 1}}, {"a": {}, "b": {}}])
def test_a_body_without_a_tool_is_refused(api: Client, body: Any) -> None:
    error_of(send(api, "post", TOOLS, body), status=400)


# One tool


def test_a_tool_is_returned_as_it_was_written(api: Client) -> None:
    send(api, "post", TOOLS, registration())
    tool = api.get(ONE).json()
    assert tool["definition"] == webhook()
    assert (tool["version"], tool["enabled"], tool["overrides"], tool["secret_headers"]) == (1, True, None, [])


def test_a_put_creates_a_tool_or_a_version(api: Client) -> None:
    assert send(api, "put", ONE, event()).json()["version"] == 1
    saved = send(api, "put", ONE, {"definition": webhook(), "expected_version": 1})
    assert saved.json()["version"] == 2


def test_a_put_over_another_version_is_a_conflict(api: Client) -> None:
    send(api, "put", ONE, event())
    send(api, "put", ONE, event(description="Theirs"))
    error = error_of(send(api, "put", ONE, {**event(description="Ours"), "expected_version": 1}), status=409)
    assert error["code"] == "stale_version"
    assert "It differs from yours in: Description." in error["message"]


def test_a_tool_is_switched_off_and_on(api: Client) -> None:
    send(api, "put", ONE, event())
    assert send(api, "patch", ONE, {"enabled": False}).json()["enabled"] is False
    assert catalogue(api)[NAME]["why_not"] == "It is switched off."
    assert send(api, "patch", ONE, {"enabled": True}).json()["version"] == 3


def test_a_tool_is_removed_and_restored(api: Client) -> None:
    send(api, "put", ONE, event())
    assert api.delete(ONE).status_code == 204
    assert api.get(ONE).status_code == 404
    assert [version["removed"] for version in api.get(f"{ONE}/versions").json()["results"]] == [True, False]
    assert send(api, "post", f"{ONE}/restore", {"version": 1}).json()["version"] == 3
    assert api.get(ONE).json()["definition"] == event()


def test_a_plain_text_secret_is_answered_with_a_warning(api: Client) -> None:
    saved = send(api, "put", ONE, webhook(url="https://api.example.com/?token=abc")).json()
    assert [warning["path"] for warning in saved["warnings"]] == ["action.options.url"]


def test_secrets_have_their_own_endpoints(api: Client) -> None:
    send(api, "put", ONE, webhook())
    rotated = send(api, "post", f"{ONE}/signing-secret", {})
    assert rotated.json()["signing_secret"].startswith("whsec_")
    named = send(api, "patch", f"{ONE}/secret-headers", {"headers": {"Authorization": "Bearer x"}})
    assert named.json() == {"secret_headers": ["Authorization"]}
    assert error_of(send(api, "patch", f"{ONE}/secret-headers", {"headers": {"Host": "x"}}), status=422)["field"] == (
        "headers.Host"
    )


# The attribute


@pytest.mark.requirement("N50")
def test_the_attribute_returns_the_custom_tools(api: Client) -> None:
    send(api, "post", TOOLS, registration())
    found = api.get(ATTRIBUTE).json()
    assert found == {"key": KEY, "type": "json", "value": registration(), "origin": "project"}
    assert KEY in {attribute["key"] for attribute in api.get("/api/v1/attributes").json()["results"]}


@pytest.mark.requirement("N50", "N15")
@pytest.mark.parametrize("value", [registration(), REGISTRATION_TEXT], ids=["json", "text"])
def test_writing_the_attribute_saves_custom_tools(api: Client, tenant: Tenant, value: Any) -> None:
    """The value may be JSON or JSON text."""
    assert send(api, "put", ATTRIBUTE, {"value": value}).status_code == 200
    assert api.get(ONE).json()["definition"] == webhook()


def test_writing_the_attribute_replaces_all_tools(api: Client) -> None:
    """A tool that isn't in the value is removed; an unchanged one keeps its version."""
    send(api, "post", TOOLS, {"tools": {"a_tool": event(), "b_tool": event()}})
    send(api, "put", ATTRIBUTE, {"value": {"tools": {"b_tool": event(), "c_tool": event()}}})
    assert {tool["name"]: tool["version"] for tool in api.get(TOOLS).json()["results"]} == {"b_tool": 1, "c_tool": 1}


def test_the_attribute_is_all_or_nothing(api: Client) -> None:
    send(api, "post", TOOLS, registration())
    value = {"tools": {"good_tool": event(), "bad_tool": event(conditions={})}}
    error = error_of(send(api, "put", ATTRIBUTE, {"value": value}), status=422)
    assert error["field"] == "tools.bad_tool.conditions"
    assert [tool["name"] for tool in api.get(TOOLS).json()["results"]] == [NAME]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "{'tools': {}}",
            "line 1, column 2: Expecting property name enclosed in double quotes. JSON uses straight double quotes",
        ),
        ('{"tools": {"a": True}}', "JSON uses lowercase true and false."),
        ('{"tools": {}, "tools": {}}', "Key 'tools' appears twice."),
        ({"tols": {}}, "Unknown field 'tols'. Did you mean 'tools'?"),
        ([], "must be an object"),
    ],
)
def test_an_invalid_attribute_is_refused(api: Client, value: Any, words: str) -> None:
    assert words in error_of(send(api, "put", ATTRIBUTE, {"value": value}), status=422)["message"]


def test_removing_the_attribute_removes_every_tool(api: Client) -> None:
    send(api, "post", TOOLS, registration())
    assert api.delete(ATTRIBUTE).status_code == 204
    assert api.get(ATTRIBUTE).status_code == 404
    assert api.delete(ATTRIBUTE).status_code == 404
    assert NAME not in catalogue(api)


def test_set_attribute_uses_the_same_service(tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, KEY, registration())
        assert CustomTool.objects.get().definition == webhook()
