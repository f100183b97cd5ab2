"""The tools in a model request: definitions in the provider's format, and the addendum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from llm.structured import parse_object
from projects.common.verticals import Capability
from tests.tools.conftest import Tools
from tools.engine.business_state import BusinessState
from tools.engine.definition import Trigger
from tools.engine.execution.handler import schema_of
from tools.engine.function_calling.gemini import gemini_parameters
from tools.engine.function_calling.offer import HEADING, Offer, collect_agent_tools, offer_at
from tools.engine.registry import builtin_tools
from tools.engine.transfers import TRANSFER_NUMBERS

from .test_gating import NUMBERS

# A business that has everything.
ALL = BusinessState(
    channel="phone",
    capabilities=frozenset(Capability),
    connected=frozenset({"client_lookup", "caldav"}),
    escalations=frozenset({"transfer", "message"}),
    has_book=True,
    has_articles=True,
    attributes=NUMBERS,
)
# What Gemini's Schema has, of what we write.
GEMINI = {
    "type", "format", "description", "nullable", "enum", "properties", "required", "items", "anyOf",
    "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
}  # fmt: skip


def everything() -> Offer:
    return offer_at(Trigger.LIVE, ALL, None)


@pytest.mark.requirement("L02")
def test_a_session_offer_has_definitions_and_addendum(tools: Tools) -> None:
    with tools.tenant.tx():
        offer = collect_agent_tools(tools.tenant.project, channel="phone")
    assert "end_call" in {one.name for one in offer.definitions}
    assert offer.addendum.startswith("## Available Tools\n\n### ")


@pytest.mark.requirement("L15", "L16")
def test_all_sections_are_under_one_heading() -> None:
    """Each tool's `###` is below `##`, and only offered tools have a section."""
    addendum = everything().addendum
    headings = [line for line in addendum.splitlines() if line.startswith("#")]
    assert headings[0] == HEADING == "## Available Tools"
    assert headings[1:] == [tool.section.splitlines()[0] for tool in everything().tools.values() if tool.section]
    bare = offer_at(Trigger.LIVE, replace(ALL, enabled_tools=frozenset()), None)
    assert bare.addendum == f"{HEADING}\n\n{builtin_tools()['end_call'].section}"


@pytest.mark.requirement("W16")
def test_an_empty_offer_adds_nothing_to_the_request() -> None:
    offer = offer_at(Trigger.LIVE, replace(ALL, channel="portal", enabled_tools=frozenset()), None)
    assert (offer.functions, offer.declarations, offer.addendum) == ([], [], "")


@pytest.mark.requirement("L17")
def test_the_wording_of_end_call() -> None:
    assert (
        "### Ending the Call\n"
        "- When the conversation is naturally over, say your goodbye and IMMEDIATELY call `end_call`.\n"
        "- Do NOT wait for the caller to respond after your farewell.\n"
        "- Do NOT announce that you are ending the call — just say goodbye and invoke the tool."
    ) in everything().addendum


@pytest.mark.requirement("L18")
@pytest.mark.parametrize(
    "rule",
    [
        "- Call `lookup_caller` proactively at the start of the call, before you answer for the first time.",
        "- `query_knowledge` is required before you answer any question about the business",
        "- Ask whether the caller wants to be transferred, and call `transfer_call` only after they have said yes.",
    ],
)
def test_the_addendum_says_when_to_use_a_tool(rule: str) -> None:
    assert rule in everything().addendum


@pytest.mark.requirement("L04")
def test_end_call_has_no_parameters() -> None:
    """It is always offered on the phone."""
    [end_call] = [one for one in everything().definitions if one.name == "end_call"]
    assert end_call.parameters["properties"] == {}
    assert "parameters" not in end_call.as_gemini()


@pytest.mark.requirement("L07")
def test_the_schema_of_a_transfer_lists_the_numbers() -> None:
    [transfer] = [one for one in everything().definitions if one.name == "transfer_call"]
    number = transfer.parameters["properties"]["phone_number"]
    assert number["enum"] == ["+39065550114"]
    assert "is kitchen" in number["description"]
    assert str(NUMBERS[TRANSFER_NUMBERS].value).startswith("kitchen")


# Shapes


class Colour(BaseModel):
    name: Literal["red", "green"] = Field("red", description="its name")
    depth: int | None = Field(None, ge=0, le=9, description="how deep; null when nobody said")


class Wish(BaseModel):
    """Everything that our schemas may contain."""

    title: str = Field(min_length=1, max_length=20, pattern="^[a-z]+$", description="what it is called")
    colours: list[Colour] = Field(description="in which colours", max_length=3)
    other: Colour | None = Field(None, description="or another")
    size: int | str = Field(description="how big")
    age: int | None = Field(ge=0, description="how old; null for a new one")


@pytest.mark.requirement("L08")
def test_openai_gets_the_schema_unchanged() -> None:
    [function] = [one for one in everything().functions if one["function"]["name"] == "send_sms"]
    assert function["type"] == "function"
    assert function["function"]["parameters"]["additionalProperties"] is False
    assert set(function["function"]) == {"name", "description", "parameters"}


@pytest.mark.requirement("L08")
def test_gemini_gets_supported_keywords_only() -> None:
    """References are inlined and types are in capitals."""
    written = gemini_parameters(schema_of(Wish)) or {}
    assert written["type"] == "OBJECT"
    assert written["required"] == ["title", "colours", "size", "age"]
    properties = written["properties"]
    assert properties["title"] == {
        "type": "STRING", "description": "what it is called", "minLength": 1, "maxLength": 20
    }  # fmt: skip
    assert properties["colours"]["maxItems"] == 3
    colour = properties["colours"]["items"]["properties"]
    assert colour["name"] == {"type": "STRING", "description": "its name", "enum": ["red", "green"], "format": "enum"}
    assert colour["depth"] == {"type": "INTEGER", "minimum": 0, "maximum": 9, "description": "how deep"}
    assert properties["other"]["type"] == "OBJECT"
    assert properties["age"] == {
        "type": "INTEGER", "minimum": 0, "nullable": True, "description": "how old; null for a new one"
    }  # fmt: skip
    assert [one["type"] for one in properties["size"]["anyOf"]] == ["INTEGER", "STRING"]


@pytest.mark.requirement("L08")
@pytest.mark.parametrize(
    ("part", "written"),
    [
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "format": "enum"}),
        ({"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "format": "enum"}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "INTEGER", "description": "one of: 1, 2"}),
        (
            {"type": ["number", "null"], "enum": [0.5, None], "description": "how much"},
            {"type": "NUMBER", "description": "how much; one of: 0.5"},
        ),
        ({"const": True}, {"type": "BOOLEAN", "description": "one of: true"}),
        ({"const": "x"}, {"type": "STRING", "enum": ["x"], "format": "enum"}),
    ],
)
def test_gemini_gets_other_enums_in_the_description(part: dict[str, Any], written: dict[str, Any]) -> None:
    """A custom schema may list any values; Gemini supports string enums only."""
    [shown] = (gemini_parameters({"properties": {"x": part}}) or {})["properties"].values()
    assert shown == written | ({"nullable": True} if None in part.get("enum", []) else {})


@pytest.mark.requirement("L08")
@pytest.mark.parametrize("declaration", everything().declarations, ids=lambda one: one["name"])
def test_every_built_in_tool_converts_to_gemini(declaration: dict[str, Any]) -> None:
    assert set(declaration) <= {"name", "description", "parameters"}
    assert _keywords(declaration.get("parameters", {})) <= GEMINI


def _keywords(schema: Any) -> set[str]:
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    found = set(schema).union(*(_keywords(one) for one in inner))
    return found | (_keywords(schema["items"]) if "items" in schema else set())


@pytest.mark.requirement("W17")
def test_argument_schemas_are_terse() -> None:
    """Titles and class descriptions are dropped; a field may be named `title`."""
    schema = schema_of(Wish)
    assert "title" in schema["properties"]
    assert "description" not in schema
    assert "title" not in schema
    assert "title" not in schema["properties"]["title"]
    assert "default" not in schema["properties"]["other"]


@pytest.mark.requirement("W17")
def test_null_is_accepted_for_an_optional_argument() -> None:
    """It isn't in the schema, but models may send it."""
    depth = schema_of(Colour)["properties"]["depth"]
    assert depth == {"type": "integer", "minimum": 0, "maximum": 9, "description": "how deep"}
    assert parse_object('{"depth": null}', schema=schema_of(Colour)) == {}
