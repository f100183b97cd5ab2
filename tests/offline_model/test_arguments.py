"""Arguments skill of the offline model."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from llm.prompts import render
from offline_model.composer import compose
from offline_model.wire import ChatCall
from tests.offline_model.prompts import DEMO
from tools.builtin.send_email_tool import EmailArguments
from tools.builtin.send_sms_tool import SmsArguments
from tools.engine.skills.arguments import ArgumentsContext, KnownFact
from tools.engine.skills.detect import TranscriptLine

pytestmark = pytest.mark.requirement("N45")


CONTEXT = DEMO["business_context"]
# A Saturday.
NOW = "Saturday 21 November 2026, 13:00"
BOOKING = [
    (
        "customer",
        "Hi, I'm Giulia Ferri, +39 347 555 0142, giulia@example.org. A table for four on Friday at 7 pm please",
    ),
    ("agent", "I'll check that for you."),
]


def fill(schema: dict[str, Any], *, said: list[tuple[str, str]] | None = None, **more: Any) -> Any:
    context = ArgumentsContext(
        **{
            "business_name": "Nello",
            "business_context": CONTEXT,
            "task": "The tool is about to be used.",
            "now": NOW,
            "quote": "",
            "known": [],
            "earlier": [],
            "material": "",
            "summary": "",
            "messages": [TranscriptLine(role, content) for role, content in said or BOOKING],
            **more,
        }
    )
    prompt = render("arguments", context)
    messages = [("system", prompt.system), ("user", prompt.user)]
    found = json.loads(compose(ChatCall("offline-fast", messages, schema_name="arguments", schema=schema)).text)
    jsonschema.validate(found, schema)
    return found


def one(name: str, schema: dict[str, Any], **more: Any) -> Any:
    return fill({"type": "object", "properties": {name: schema}, "required": [name]}, **more)[name]


@pytest.mark.parametrize(
    ("name", "schema", "value"),
    [
        ("customer_name", {"type": "string", "description": "The customer's full name"}, "Giulia Ferri"),
        ("phone", {"type": "string"}, "+39 347 555 0142"),
        ("email", {"type": "string", "format": "email"}, "giulia@example.org"),
        ("party_size", {"type": "integer"}, 4),
        ("guests", {"type": "integer", "description": "How many people come"}, 4),
        ("date", {"type": "string", "format": "date"}, "2026-11-27"),
        ("day", {"type": "string", "description": "The day of the visit, YYYY-MM-DD"}, "2026-11-27"),
        ("time", {"type": "string"}, "19:00"),
        ("starts_at", {"type": "string", "format": "date-time"}, "2026-11-27T19:00:00"),
        ("zip", {"type": "string"}, ""),
        ("language", {"type": ["string", "null"]}, None),
    ],
)
def test_a_field_is_read_off_the_conversation(name: str, schema: dict[str, Any], value: Any) -> None:
    assert one(name, schema) == value


@pytest.mark.parametrize(
    ("words", "date"),
    [
        ("tomorrow at 8 pm", "2026-11-22"),
        ("tonight", "2026-11-21"),
        ("on 3 December", "2026-12-03"),
        ("on January 2nd", "2027-01-02"),
        ("domani alle 20", "2026-11-22"),
    ],
)
def test_a_day_is_a_date(words: str, date: str) -> None:
    assert one("date", {"type": "string"}, said=[("customer", f"A table {words} please")]) == date


def test_unstated_values_are_left_out() -> None:
    properties = {"zip": {"type": "string"}, "order_id": {"type": "string"}, "phone": {"type": "string"}}
    assert fill({"type": "object", "properties": properties}) == {"phone": "+39 347 555 0142"}


def test_known_facts_count() -> None:
    known = [KnownFact("name", "Ada Bianchi")]
    assert one("name", {"type": "string"}, said=[("customer", "Hello")], known=known) == "Ada Bianchi"


def test_parts_of_a_request_are_filled_each() -> None:
    zip_code = {"type": "object", "properties": {"zip": {"type": "string"}}}
    body = {
        "type": "object",
        "properties": {
            "party": {"type": "object", "properties": {"size": {"type": "integer", "description": "party size"}}}
        },
    }
    schema = {"type": "object", "properties": {"query": zip_code, "body": body}, "required": ["query", "body"]}
    said = [("customer", "We are 4 people, zip code 00153.")]
    assert fill(schema, said=said) == {"query": {"zip": "00153"}, "body": {"party": {"size": 4}}}


@pytest.mark.parametrize("model", [SmsArguments, EmailArguments])
def test_a_text_holds_the_information_itself(model: Any) -> None:
    said = [("customer", "Can you send me the opening hours?"), ("agent", "I'll send you the opening hours.")]
    found = fill(model.model_json_schema(), said=said, quote="I'll send you the opening hours.")
    assert "12:00" in " ".join(found.values())


def test_the_way_of_a_message_is_not_its_topic() -> None:
    """A request for an e-mail beside the text made the business's e-mail address its content."""
    said = [("customer", "I'm Ada, ada@example.org. Could you text me the address and e-mail me the menu?")]
    found = fill(SmsArguments.model_json_schema(), said=said, quote="I'll send you a text with the details")
    assert "Via dei Serpenti" in found["text"]


@pytest.mark.parametrize(
    ("words", "is_asked"),
    [
        ("I didn't get it, please send it again", True),
        ("Could you text me the address too?", True),
        ("It never arrived", True),
        ("Thank you!", False),
        ("Great, is it on its way?", False),
        ("And what are your hours?", False),
    ],
)
def test_repeated_requests_are_recognized(words: str, is_asked: bool) -> None:
    schema = {"type": "object", "properties": {"asked_again": {"type": "boolean"}}, "required": ["asked_again"]}
    assert fill(schema, said=[*BOOKING, ("customer", words)]) == {"asked_again": is_asked}


@pytest.mark.requirement("N47")
def test_a_value_is_made_of_an_input() -> None:
    schema = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
    assert fill(schema, task="The total amount.", material='{"total": 42.5}') == {"value": "42.5"}
    assert fill(schema, task="One sentence.", material="It is late. Sorry.") == {"value": "It is late."}
