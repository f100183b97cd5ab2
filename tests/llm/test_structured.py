"""Structured output: the schema that is sent, and the strict parsing of the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from llm import errors
from llm.client import Client
from llm.structured import Mismatch, parse, parse_object, schema_of
from llm.types import CallRecord, ChatRequest, Deadlines, Usage
from tests.llm.fault_server import Behaviour, FaultServer, answers, hang, message

Ask = Callable[..., ChatRequest]


class Mood(StrEnum):
    GOOD = "good"
    BAD = "bad"


class Reading(BaseModel):
    """A parsed reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    quote: str
    """The words it rests on."""
    is_met: bool
    mood: Mood | None
    """How they sounded."""


class Report(BaseModel):
    """The parsed report."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    readings: list[Reading]
    title: Annotated[int, Field(ge=1, le=10)] = 3


GOOD = {"readings": [{"quote": "I'll do it", "is_met": True, "mood": "good"}], "title": 7}


def with_reading(**changes: Any) -> dict[str, Any]:
    return {"readings": [{**GOOD["readings"][0], **changes}], "title": 7}  # type: ignore[index]


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


MISFITS: dict[str, Any] = {
    "a boolean as text": with_reading(is_met="true"),
    "a boolean as number": with_reading(is_met=1),
    "a null boolean": with_reading(is_met=None),
    "an unknown mood": with_reading(mood="so-so"),
    "an additional field": {**GOOD, "extra": 1},
    "a missing field": without("readings"),
    "a number as text": {**GOOD, "title": "7"},
    "a number out of range": {**GOOD, "title": 11},
    "a list": [GOOD],
    "no JSON": "Sure! Here is the report.",
    "JSON cut off": json.dumps(GOOD)[:-5],
    "two objects": json.dumps(GOOD) * 2,
    "a NUL character": with_reading(quote="a\0b"),
    "half a character": with_reading(quote="a\ud800b"),
}


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def says(value: Any, **fields: Any) -> Behaviour:
    return answers(200, message(text_of(value), **fields))


@pytest.mark.parametrize("name", MISFITS)
def test_an_answer_that_does_not_match_exactly_is_rejected(name: str) -> None:
    with pytest.raises(Mismatch):
        parse(text_of(MISFITS[name]), output=Report)


@pytest.mark.parametrize("form", ["{}", "  {}\n", "```json\n{}\n```", "```\n{}\n```\n"])
@pytest.mark.parametrize("thoughts", ["", "<think>{a}</think>\n", "[THINK]Hm[/THINK]", "Hm, {a}.\n</think>\n\n"])
def test_bare_and_fenced_json_is_accepted(form: str, thoughts: str) -> None:
    assert parse(thoughts + form.replace("{}", json.dumps(GOOD)), output=Report).title == 7


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e999", '"\\ud800"', '{"\\udfff": 1}', '"\\u0000"'])
def test_values_that_cannot_be_stored_match_no_schema(value: str) -> None:
    with pytest.raises(Mismatch, match=r"^- the answer: contains"):
        parse_object(f'{{"a": {value}}}', schema={"type": "object"})


def test_only_objects_match_a_tenants_schema() -> None:
    with pytest.raises(Mismatch, match="is not an object"):
        parse_object("[1]", schema={})


async def test_a_tenants_schema_is_not_sent_as_strict(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """Providers reject a strict schema that leaves anything open."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    url = server.script("case", says({"n": 1}))
    assert await client.object(ask(url), schema=schema, record=records.append) == {"n": 1}
    sent = server.requests["case"][0].body["response_format"]["json_schema"]
    assert (sent["strict"], sent["schema"]) == (False, schema)


def test_a_mismatch_names_the_place_but_not_the_value() -> None:
    with pytest.raises(Mismatch, match=r"readings\.0\.is_met: Input should be a valid boolean") as caught:
        parse(text_of(with_reading(is_met="hush")), output=Report)
    assert "hush" not in str(caught.value)


def test_the_schema_is_strict_and_has_no_references() -> None:
    schema = schema_of(Report, name="report").schema
    assert schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["readings", "title"],
        "properties": {
            "title": {"type": "integer", "minimum": 1, "maximum": 10},
            "readings": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["quote", "is_met", "mood"],
                    "properties": {
                        "quote": {"type": "string", "description": "The words it rests on."},
                        "is_met": {"type": "boolean"},
                        "mood": {
                            "anyOf": [{"enum": ["good", "bad"], "type": "string"}, {"type": "null"}],
                            "description": "How they sounded.",
                        },
                    },
                },
            },
        },
    }


async def test_a_valid_answer_is_returned_as_the_output_model(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", says(GOOD))
    report = await client.structured(ask(url, skill="report"), output=Report, record=records.append)
    assert report == Report.model_validate(GOOD)
    sent = server.requests["case"][0].body["response_format"]
    assert (sent["type"], sent["json_schema"]["name"], sent["json_schema"]["strict"]) == ("json_schema", "report", True)
    assert [(record.error_code, record.attempts) for record in records] == [(None, 1)]


async def test_a_mismatch_is_repaired_once_within_the_same_record(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", says(with_reading(is_met="true")), says(GOOD))
    report = await client.structured(ask(url), output=Report, record=records.append)
    assert report.readings[0].is_met is True
    *_, shown, report = server.requests["case"][1].body["messages"]
    assert shown == {"role": "assistant", "content": text_of(with_reading(is_met="true"))}
    assert "readings.0.is_met" in report["content"]
    assert [(record.attempts, record.usage) for record in records] == [(2, Usage(20, 12, 8))]
    assert json.loads(records[0].output) == GOOD


async def test_a_second_mismatch_fails(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", says("no"))
    with pytest.raises(errors.SchemaMismatch) as caught:
        await client.structured(ask(url), output=Report, record=records.append)
    assert caught.value.__context__ is None
    assert len(server.requests["case"]) == 2
    assert [(record.error_code, record.output) for record in records] == [("schema_mismatch", "no")]


async def test_the_deadline_includes_the_repair(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", says("no"), hang)
    with pytest.raises(errors.TotalDeadline):
        await client.structured(ask(url, deadlines=Deadlines(1.5, 1.5)), output=Report, record=records.append)
    assert [(record.error_code, record.attempts) for record in records] == [("deadline_total", 2)]


async def test_a_truncated_answer_is_never_repaired(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", says(json.dumps(GOOD)[:-5], finish="length"))
    with pytest.raises(errors.LengthCut):
        await client.structured(ask(url), output=Report, record=records.append)
    assert len(server.requests["case"]) == 1
    assert records[0].error_code == "length"


async def test_an_answer_that_ends_while_reasoning_is_not_repaired(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """A repair would cost as much again and end the same way."""
    url = server.script("case", says("", finish="length"))
    with pytest.raises(errors.LengthCut):
        await client.structured(ask(url), output=Report, record=records.append)
    assert len(server.requests["case"]) == 1


async def test_a_refusal_is_not_a_mismatch(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", answers(200, message(None, refusal="I can't help with that.")))
    with pytest.raises(errors.Refused):
        await client.structured(ask(url), output=Report, record=records.append)
    assert len(server.requests["case"]) == 1
