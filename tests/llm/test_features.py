"""Unsupported parameters are dropped, and not sent again within an hour."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from pydantic import BaseModel, ConfigDict

from llm import errors
from llm.client import Client
from llm.features import ErrorReport, Features
from llm.health import FEATURES_TTL_S, EndpointFeatures
from llm.types import CallRecord, ChatRequest
from tests.llm.fault_server import DONE, Exchange, FaultServer, answers, chunk, error, message, streams

Ask = Callable[..., ChatRequest]
TOOL = {"type": "function", "function": {"name": "book", "parameters": {"type": "object"}}}
STREAM = streams(chunk("Hello"), chunk(finish="stop"), DONE)


class Colour(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


async def test_max_tokens_replaces_max_completion_tokens(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    refusal = error(400, "Unrecognized request argument supplied: max_completion_tokens")
    url = server.script("case", refusal, answers(200, message("Hello")))
    await client.complete(ask(url, max_output_tokens=50), record=records.append)
    await client.complete(ask(url, max_output_tokens=50), record=records.append)
    bodies = [exchange.body for exchange in server.requests["case"]]
    assert ["max_completion_tokens" in body for body in bodies] == [True, False, False]
    assert [body.get("max_tokens") for body in bodies] == [None, 50, 50]
    assert [record.attempts for record in records] == [2, 1]


async def test_stream_options_are_dropped(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    refusal = answers(422, {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]})
    url = server.script("case", refusal, STREAM)
    done = await client.stream(ask(url), on_text=str, record=records.append)
    assert done.text == "Hello"
    assert "stream_options" not in server.requests["case"][1].body


@pytest.mark.requirement("W14")
async def test_tools_are_dropped(server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]) -> None:
    url = server.script("case", error(400, "library/gemma does not support tools"), STREAM)
    await client.stream(ask(url, tools=(TOOL,)), on_text=str, record=records.append)
    assert "tools" not in server.requests["case"][1].body


async def test_an_unsupported_schema_is_moved_into_the_prompt(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    refusal = error(400, "json_schema is not supported by this model", param="response_format")
    url = server.script("case", refusal, answers(200, message('```json\n{"name": "red"}\n```')))
    assert await client.structured(ask(url), output=Colour, record=records.append) == Colour(name="red")
    second = server.requests["case"][1].body
    assert "response_format" not in second
    assert second["messages"][0]["content"].startswith("Be kind.\n\nAnswer with one JSON object")
    assert '"required": ["name"]' in second["messages"][0]["content"]


async def test_all_parameters_can_be_dropped_in_turn(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    refusals = [
        error(400, f"unknown parameter {name}")
        for name in ("max_completion_tokens", "tools", "stream_options", "max_tokens")
    ]
    url = server.script("case", *refusals, STREAM)
    done = await client.stream(ask(url, tools=(TOOL,), max_output_tokens=9), on_text=str, record=records.append)
    assert (done.text, done.attempts) == ("Hello", 5)
    assert set(server.requests["case"][-1].body) == {"model", "messages", "stream"}


async def test_a_parameter_is_dropped_for_one_model_only(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(400, "unknown parameter stream_options"), STREAM)
    await client.stream(ask(url, model="small"), on_text=str, record=records.append)
    await client.stream(ask(url, model="large"), on_text=str, record=records.append)
    assert "stream_options" in server.requests["case"][-1].body


async def test_dropped_parameters_are_tried_again_later(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.script("case", error(400, "library/gemma does not support tools"), STREAM)
    await client.stream(ask(url, tools=(TOOL,)), on_text=str, record=records.append)
    await client.stream(ask(url, tools=(TOOL,)), on_text=str, record=records.append)
    monkeypatch.setattr("llm.health.FEATURES_TTL_S", 0.0)
    await client.stream(ask(url, tools=(TOOL,)), on_text=str, record=records.append)
    assert ["tools" in exchange.body for exchange in server.requests["case"]] == [True, False, False, True]


async def test_a_changed_key_starts_with_all_parameters(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """Another account may support it."""
    url = server.script("case", error(400, "library/gemma does not support tools"), STREAM)
    await client.stream(ask(url, tools=(TOOL,)), on_text=str, record=records.append)
    await client.stream(ask(url, tools=(TOOL,), key="sk-of-another-account"), on_text=str, record=records.append)
    assert "tools" in server.requests["case"][-1].body


def test_a_parameter_stays_dropped_for_an_hour() -> None:
    now = 1000.0
    features = EndpointFeatures(clock=lambda: now)
    features.of("small").tools = False
    now += FEATURES_TTL_S - 1
    assert not features.of("small").tools
    now += 1
    assert features.of("small").tools


async def test_an_error_that_names_no_parameter_is_final(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(400, "This model's maximum context length is 8192 tokens"))
    with pytest.raises(errors.Rejected):
        await client.complete(ask(url, max_output_tokens=9), record=records.append)
    assert len(server.requests["case"]) == 1


@pytest.mark.parametrize(
    ("status", "text", "given_up"),
    [
        (400, "This response_format type is unavailable now", "json_schema"),
        (422, "response_format: response_format.type `json_schema` is unavailable now", "json_schema"),
        (
            400,
            "response_format value as json_schema is enabled only for api versions 2024-08-01-preview",
            "json_schema",
        ),
        (400, "JSON mode is not enabled for models/gemma-3-27b-it", "json_schema"),
        (400, "Function calling is not enabled for models/gemma-3-27b-it", "tools"),
        (400, "Tool calling is not supported for this model.", "tools"),
        (404, "No endpoints found that support tool use.", "tools"),
        (501, "Tool use is not implemented.", "tools"),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "tools",
        ),
    ],
)
def test_error_messages_of_known_servers_are_recognized(status: int, text: str, given_up: str) -> None:
    features = Features()
    assert features.learn(ErrorReport(status, text), body={"tools": [], "response_format": {}})
    assert [name for name in ("json_schema", "tools") if not getattr(features, name)] == [given_up]


@pytest.mark.parametrize(
    "fields", [{"param": "stream_options"}, {"message": "stream_options", "code": "unknown_parameter"}]
)
async def test_the_param_and_code_fields_are_recognized(
    fields: dict[str, str], server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(400, **{"message": "Not with this model.", **fields}), STREAM)
    assert (await client.stream(ask(url), on_text=str, record=records.append)).text == "Hello"


async def test_concurrent_calls_can_drop_the_same_parameter(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    both_asked = asyncio.Barrier(2)

    async def refuses_both(exchange: Exchange) -> None:
        await both_asked.wait()
        await error(400, "Unrecognized request argument supplied: max_completion_tokens")(exchange)

    url = server.script("case", refuses_both, refuses_both, answers(200, message("Hello")))
    request = ask(url, max_output_tokens=50)
    done = await asyncio.gather(*(client.complete(request, record=records.append) for _ in range(2)))
    assert [one.text for one in done] == ["Hello", "Hello"]
    assert [exchange.body.get("max_tokens") for exchange in server.requests["case"][2:]] == [50, 50]


@pytest.mark.parametrize(
    "report",
    [
        ErrorReport(
            400, "Invalid 'tools[0].function.name': string does not match pattern", parameter="tools[0].function.name"
        ),
        ErrorReport(400, "max_completion_tokens is too large: 99999"),
        ErrorReport(400, "Invalid schema for response_format: context=('properties',)", parameter="x"),
        ErrorReport(500, "unknown parameter tools"),
        ErrorReport(404, "The model `gpt-tools` does not exist"),
        ErrorReport(400, "Unknown tool 'book'"),
        ErrorReport(404, "Unknown model toolset-7b"),
    ],
)
def test_an_error_about_a_value_drops_nothing(report: ErrorReport) -> None:
    body = {"tools": [], "max_completion_tokens": 1, "response_format": {}, "stream_options": {}}
    assert not Features().learn(report, body=body)
