"""Schemas and tools without a skill of their own."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from offline_model.composer import compose
from offline_model.schema_instance import instance_of
from offline_model.wire import ChatCall, Tool

TALK = """<Conversation>
customer: Hi, I'm Giulia Ferri, a table for four on Friday at 7 pm please
agent: Which number can we reach you on?
customer: +39 347 555 0142
</Conversation>"""
SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}, "required": ["a"]},
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/B"}},
        "required": ["a"],
        "$defs": {"B": {"enum": ["x", "y"]}},
    },
    {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 5}]},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
    {"type": ["string", "null"], "format": "date-time"},
    {
        "type": "object",
        "properties": {"n": {"type": "number", "exclusiveMinimum": 2, "multipleOf": 2.5}},
        "required": ["n"],
    },
    {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}]},
]


def fill(schema: dict[str, Any], text: str = TALK) -> Any:
    call = ChatCall("offline-fast", [("system", "Fill it in."), ("user", text)], schema_name="other", schema=schema)
    return json.loads(compose(call).text)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_unknown_schema_gets_a_valid_instance(schema: dict[str, Any]) -> None:
    jsonschema.validate(instance_of(schema), schema)
    jsonschema.validate(fill(schema), schema)


@pytest.mark.requirement("N45")
def test_fields_are_filled_from_the_conversation() -> None:
    properties = {
        "customer_name": {"type": "string", "description": "The customer's full name"},
        "phone": {"type": "string"},
        "date": {"type": "string"},
        "time": {"type": "string"},
        "party_size": {"type": "integer"},
    }
    filled = fill({"type": "object", "properties": properties, "required": list(properties)})
    assert filled == {
        "customer_name": "Giulia Ferri",
        "phone": "+39 347 555 0142",
        "date": "Friday",
        "time": "19:00",
        "party_size": 4,
    }


def order_tool() -> Tool:
    schema = {"type": "object", "properties": {"limit": {"type": "integer", "default": 5}}, "required": []}
    return Tool("lookup_order", "Fetches the shopper's recent orders with status and tracking.", schema)


def asked(text: str, tool: Tool, *answered: tuple[str, str]) -> ChatCall:
    messages = [("system", "You help."), ("user", text), *answered]
    return ChatCall("m", messages, tools=(tool,), answered_tools=(tool.name,) if answered else ())


def test_a_clearly_asked_tool_is_called() -> None:
    answer = compose(asked("Where is my order?", order_tool()))
    assert [use.name for use in answer.tool_calls] == ["lookup_order"]


def test_no_tool_is_called_for_small_talk() -> None:
    assert compose(asked("Hello there", order_tool())).tool_calls == ()


def test_a_tools_result_is_told() -> None:
    answer = compose(
        asked("Where is my order?", order_tool(), ("assistant", ""), ("tool", '{"message": "It left on Monday"}'))
    )
    assert "It left on Monday" in answer.text


def test_a_tool_whose_argument_is_unknown_is_not_called() -> None:
    schema = {"type": "object", "properties": {"slug": {"type": "string"}}, "required": ["slug"]}
    tool = Tool("send_kb_article", "Shows a help article.", schema)
    assert compose(asked("Is there an article about this?", tool)).tool_calls == ()
