"""Offline model over real sockets: wire format, script, faults and log."""

from __future__ import annotations

import json
import socket
import time
from http.client import IncompleteRead
from typing import Any

import pytest

from tests.offline_model.conftest import HELLO, Server, chat_body

SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "other",
        "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}


def events(body: bytes) -> list[Any]:
    """The data of a stream's events; the end mark as None."""
    data = [line[6:] for line in body.decode().split("\n\n") if line.startswith("data: ")]
    return [None if text == "[DONE]" else json.loads(text) for text in data]


def stream(server: Server, **fields: Any) -> list[Any]:
    return events(server.call("/v1/chat/completions", chat_body(stream=True, **fields))[1])


def text_of(chunks: list[Any]) -> str:
    return "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c and c["choices"])


def test_health_and_models_are_there(server: Server) -> None:
    assert server.json("/healthz")["status"] == "ok"
    assert [model["id"] for model in server.json("/v1/models")["data"]] == ["offline-large", "offline-fast"]


def test_plain_answer_has_the_shape_of_the_wire(server: Server) -> None:
    answer = server.chat()
    choice = answer["choices"][0]
    assert answer["object"] == "chat.completion"
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"]
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


def test_stream_ends_with_finish_usage_and_the_end_mark(server: Server) -> None:
    *chunks, finish, usage, end = stream(server, stream_options={"include_usage": True})
    assert len(chunks) > 1
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert (
        usage["usage"]["completion_tokens"] == len(text_of(chunks).split()) or usage["usage"]["completion_tokens"] > 0
    )
    assert end is None


def test_stream_says_the_same_as_the_plain_answer(server: Server) -> None:
    assert text_of(stream(server)) == server.chat()["choices"][0]["message"]["content"]


def test_cached_tokens_are_the_shared_prefix_of_the_skill(server: Server) -> None:
    long = [{"role": "system", "content": "a" * 400}, {"role": "user", "content": "Hello"}]
    assert server.chat(long)["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert server.chat(long)["usage"]["prompt_tokens_details"]["cached_tokens"] > 99


def test_schema_gets_a_valid_instance(server: Server) -> None:
    answer = server.chat(response_format=SCHEMA)
    assert isinstance(json.loads(answer["choices"][0]["message"]["content"])["n"], int)


def test_a_schema_in_the_prompt_is_recognised_by_its_title(server: Server) -> None:
    messages = [{"role": "system", "content": 'Answer with JSON of this schema: {"title": "Detection"}'}, *HELLO]
    answer = server.chat(messages, response_format={"type": "json_object"})
    assert json.loads(answer["choices"][0]["message"]["content"]) == {"verdicts": [], "unserved": []}


@pytest.mark.parametrize("body", [b"{not json", b"[]", b'{"messages": []}', b'{"messages": ["hi"]}'])
def test_broken_request_is_refused_in_the_providers_shape(server: Server, body: bytes) -> None:
    status, answer = server.call("/v1/chat/completions", body)
    assert status == 400
    assert set(json.loads(answer)["error"]) == {"message", "type", "param", "code"}


def test_unknown_path_is_404(server: Server) -> None:
    assert server.call("/v1/unknown")[0] == 404


def test_scripted_steps_are_used_in_order_and_by_skill(server: Server) -> None:
    server.script({"skill": "other", "json": {"n": 7}}, {"skill": "reply", "text": "one"}, {"text": "two"})
    said = [server.chat()["choices"][0]["message"]["content"] for _ in range(2)]
    assert said == ["one", "two"]
    assert json.loads(server.chat(response_format=SCHEMA)["choices"][0]["message"]["content"]) == {"n": 7}


def test_a_step_waits_for_its_words(server: Server) -> None:
    server.script({"match": "pizza", "text": "matched"}, {"text": "other", "times": 0})
    assert server.chat()["choices"][0]["message"]["content"] == "other"
    pizza = [{"role": "user", "content": "A pizza please"}]
    assert server.chat(pizza)["choices"][0]["message"]["content"] == "matched"


@pytest.mark.requirement("W15")
def test_scripted_tool_call_streams_with_its_arguments(server: Server) -> None:
    server.script({"tool_calls": [{"name": "lookup_order", "arguments": {"limit": 5, "status": "processing"}}]})
    parts = [
        c["choices"][0]["delta"]["tool_calls"][0]
        for c in stream(server)
        if c and "tool_calls" in c["choices"][0]["delta"]
    ]
    assert parts[0]["function"]["name"] == "lookup_order"
    assert json.loads("".join(part["function"]["arguments"] for part in parts)) == {"limit": 5, "status": "processing"}


def test_strict_mode_refuses_unscripted_requests(server: Server) -> None:
    server.script({"skill": "observer", "json": {}})
    server.call("/script", {"mode": "strict"})
    status, body = server.call("/v1/chat/completions", chat_body())
    assert status == 500
    assert b"no step fits" in body
    assert [step["skill"] for step in server.log()["unused"]] == ["observer"]


@pytest.mark.parametrize("step", [{"fault": "flood"}, {"txt": "x"}, {"tool_calls": [{}]}, [3], "x"])
def test_a_step_that_cannot_be_read_is_refused(server: Server, step: Any) -> None:
    assert server.call("/script", step)[0] == 400


@pytest.mark.parametrize("code", [401, 404, 429, 500])
def test_status_faults_answer_their_status(server: Server, code: int) -> None:
    server.script({"fault": str(code), "retry_after": 3})
    connection, response = server.open("/v1/chat/completions", chat_body(stream=True))
    assert response.status == code
    assert response.headers["retry-after"] == "3" if code == 429 else True
    assert "message" in json.loads(response.read())["error"]
    connection.close()


def test_cut_closes_the_connection_in_the_middle(server: Server) -> None:
    server.script({"text": "one two three four", "fault": "cut", "after_tokens": 2})
    connection, response = server.open("/v1/chat/completions", chat_body(stream=True))
    with pytest.raises(IncompleteRead) as cut:
        response.read()
    assert text_of(events(cut.value.partial)) == "one two"
    connection.close()


def test_cut_of_a_plain_answer_is_incomplete(server: Server) -> None:
    server.script({"fault": "cut"})
    connection, response = server.open("/v1/chat/completions", chat_body())
    with pytest.raises(IncompleteRead):
        response.read()
    connection.close()


def test_eof_ends_cleanly_without_a_finish_reason(server: Server) -> None:
    server.script({"text": "one two", "fault": "eof"})
    chunks = stream(server)
    assert text_of(chunks) == "one two"
    assert all(c is not None and c["choices"][0]["finish_reason"] is None for c in chunks)


@pytest.mark.parametrize("fault", ["length", "content_filter"])
def test_answer_can_stop_for_another_reason(server: Server, fault: str) -> None:
    server.script({"text": "one two three four", "fault": fault, "after_tokens": 3})
    choice = server.chat()["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == (fault, "one two three")


def test_html_empty_garbage_and_error_bodies(server: Server) -> None:
    server.script({"fault": "html"}, {"fault": "empty"}, {"fault": "garbage_json"}, {"fault": "error_200"})
    assert server.call("/v1/chat/completions", chat_body())[1].startswith(b"<!doctype html>")
    assert server.chat()["choices"][0]["message"]["content"] == ""
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        server.chat()
    assert "error" in server.chat()


def test_garbage_where_json_was_asked_for_is_broken_content(server: Server) -> None:
    server.script({"fault": "garbage_json"})
    content = server.chat(response_format=SCHEMA)["choices"][0]["message"]["content"]
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(content)


@pytest.mark.parametrize("fault", ["hang", "stall"])
def test_silent_faults_end_only_when_the_client_goes(server: Server, fault: str) -> None:
    server.script({"text": "one two three", "fault": fault, "after_tokens": 1})
    body = json.dumps(chat_body(stream=True)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection((server.host, server.port)) as client:
        client.sendall(head + body)
        server.wait_for(lambda log: log["in_flight"] == 1)
        assert server.log()["requests"][-1]["ended"] is None
    log = server.wait_for(lambda log: log["in_flight"] == 0)
    assert log["requests"][-1]["cancelled"] is True


def test_a_client_that_goes_away_is_logged_as_cancelled(server: Server) -> None:
    server.call("/latency", {"ttft_ms": 60_000})
    connection = socket.create_connection((server.host, server.port))
    body = json.dumps(chat_body(stream=True)).encode()
    connection.sendall(
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    )
    server.wait_for(lambda log: log["in_flight"] == 1)
    connection.close()
    log = server.wait_for(lambda log: log["in_flight"] == 0)
    assert log["requests"][-1]["cancelled"] is True


def test_latency_is_kept_before_the_first_token_and_between_tokens(server: Server) -> None:
    server.call("/latency", {"ttft_ms": 60, "gap_ms": 10})
    server.script({"text": "a b c d e f"})
    started = time.monotonic()
    stream(server)
    # A sleep may end a little early, by the resolution of the event loop's clock.
    assert time.monotonic() - started >= 0.9 * (0.060 + 5 * 0.010)
    request = server.log()["requests"][-1]
    assert request["first_byte"] - request["arrived"] >= 0.055


def test_the_log_records_requests(server: Server) -> None:
    server.call("/v1/chat/completions", chat_body(response_format=SCHEMA), headers={"Authorization": "Bearer k"})
    server.chat()
    log = server.log()
    first, second = log["requests"]
    assert (first["skill"], first["response_format"], first["authorization"]) == ("other", "other", True)
    assert (second["skill"], second["authorization"], second["messages"]) == ("reply", False, HELLO)
    assert first["arrived"] <= first["first_byte"] <= first["ended"]
    assert [one["n"] for one in server.json(f"/log?since={first['n']}")["requests"]] == [second["n"]]


def test_reset_forgets_script_log_and_latency(server: Server) -> None:
    server.script({"text": "scripted"})
    server.call("/latency", {"ttft_ms": 60_000})
    server.call("/reset", {})
    assert server.log() == {"requests": [], "unused": [], "in_flight": 0}
    assert server.chat()["choices"][0]["message"]["content"] != "scripted"
