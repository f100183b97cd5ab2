"""Failures of an endpoint: each has its own error and is retried or not."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import replace

import pytest

from llm import errors
from llm.client import Client
from llm.types import CallRecord, ChatRequest, Deadlines
from outbound.guard import Guard
from tests.llm.fault_server import (
    DONE,
    Behaviour,
    Exchange,
    FaultServer,
    answers,
    chunk,
    chunked,
    error,
    hang,
    hang_up,
    message,
    streams,
)

Ask = Callable[..., ChatRequest]
# For endpoints that hang. The others need time for retries
QUICK = Deadlines(first_token_s=0.4, total_s=0.8)
PATIENT = Deadlines(first_token_s=20, total_s=20)
HTML = "<html><body>Please log in</body></html>"

# name -> behavior, error, attempts
BEFORE_TEXT: dict[str, tuple[Behaviour, type[errors.LlmError], int]] = {
    "429 short": (error(429, "slow down", headers={"Retry-After": "0.01"}), errors.RateLimited, 3),
    "429 long": (error(429, "come back", headers={"Retry-After": "120"}), errors.RateLimitedLong, 1),
    "429 dated": (
        error(429, "later", headers={"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"}),
        errors.RateLimitedLong,
        1,
    ),
    "429 dated in the past": (
        error(429, "later", headers={"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}),
        errors.RateLimited,
        3,
    ),
    "429 dated in no zone": (
        error(429, "later", headers={"Retry-After": "Fri, 31 Dec 2100 23:59:59 -0000"}),
        errors.RateLimited,
        3,
    ),
    "429 some time": (error(429, "later", headers={"Retry-After": "soon"}), errors.RateLimited, 3),
    "429 milliseconds": (error(429, "slow down", headers={"Retry-After-Ms": "20"}), errors.RateLimited, 3),
    "429 many milliseconds": (error(429, "later", headers={"Retry-After-Ms": "120000"}), errors.RateLimitedLong, 1),
    "408": (error(408, "timed out"), errors.Unavailable, 3),
    "409": (error(409, "conflict"), errors.Unavailable, 3),
    "429 quota": (error(429, "You exceeded your quota", code="insufficient_quota"), errors.QuotaUsedUp, 1),
    "500": (error(500, "oops"), errors.Unavailable, 3),
    "503": (error(503, "overloaded"), errors.Unavailable, 3),
    "503 long": (error(503, "maintenance", headers={"Retry-After": "600"}), errors.Unavailable, 1),
    "502 html": (answers(502, HTML, kind="text/html"), errors.Unavailable, 3),
    "401": (error(401, "Incorrect API key"), errors.Rejected, 1),
    "403": (error(403, "country not supported"), errors.Rejected, 1),
    "404": (error(404, "no such model"), errors.Rejected, 1),
    "400": (error(400, "context too long"), errors.Rejected, 1),
    "302": (answers(302, "", headers={"Location": "http://169.254.169.254/"}), errors.Rejected, 1),
    "hangs up": (hang_up, errors.Unavailable, 3),
    "hangs": (hang, errors.FirstTokenDeadline, 1),
    "hangs after the head": (streams(then=hang), errors.FirstTokenDeadline, 1),
    "role, then silence": (streams(chunk(role="assistant"), then=hang), errors.FirstTokenDeadline, 1),
    "empty stream": (streams(), errors.BadAnswer, 3),
    "done at once": (streams(DONE), errors.BadAnswer, 3),
    "cut before text": (streams(chunk(role="assistant"), then=hang_up), errors.Unavailable, 3),
    "no finish reason, no text": (streams(chunk(role="assistant"), DONE), errors.StreamCut, 3),
    "no text at all": (streams(chunk(finish="stop"), DONE), errors.BadAnswer, 3),
    "content filter": (streams(chunk(finish="content_filter"), DONE), errors.Refused, 1),
    "refusal": (streams(chunk(refusal="I can't"), chunk(finish="stop"), DONE), errors.Refused, 1),
    "html 200": (answers(200, HTML, kind="text/html"), errors.BadAnswer, 3),
    "empty 200": (answers(200, ""), errors.BadAnswer, 3),
    "error in 200": (answers(200, {"error": {"message": "upstream"}}), errors.BadAnswer, 3),
    "error in the stream": (streams('data: {"error": {"message": "upstream"}}\n\n', DONE), errors.BadAnswer, 3),
    "no choices": (answers(200, {"choices": []}), errors.BadAnswer, 3),
    "choices that are no list": (answers(200, {"choices": {"0": {}}}), errors.BadAnswer, 3),
    "a choice that is none": (answers(200, {"choices": [None]}), errors.BadAnswer, 3),
    "list for an answer": (answers(200, [1, 2]), errors.BadAnswer, 3),
    "content as list of texts": (answers(200, message(["Hi"])), errors.BadAnswer, 3),
    "content as number": (answers(200, message(7)), errors.BadAnswer, 3),
    "broken JSON": (answers(200, '{"choices": [{'), errors.BadAnswer, 3),
    "broken event": (streams("data: {oops}\n\n", DONE), errors.BadAnswer, 3),
    "deeply nested JSON": (answers(200, "[" * 100_000), errors.BadAnswer, 3),
    "tool calls as a text": (streams(chunk(tool_calls="book()"), DONE), errors.BadAnswer, 3),
}

CUTS: dict[str, Behaviour] = {
    "end without finish reason": streams(chunk("Hel")),
    "[DONE] without finish reason": streams(chunk("Hel"), DONE),
    "cut in the middle of a line": streams(chunk("Hel"), 'data: {"choices": [{"delta"'),
    "connection closed": streams(chunk("Hel"), then=hang_up),
    "error in the stream": streams(chunk("Hel"), 'data: {"error": {"message": "overloaded", "code": 502}}\n\n'),
    "broken event": streams(chunk("Hel"), "data: {oops}\n\n", DONE),
    "unknown finish reason": streams(chunk("Hel"), chunk(finish="error"), DONE),
    "finish reason that is no text": streams(chunk("Hel"), chunk(finish=["stop"]), DONE),
}


def ignore(text: str) -> None:
    pass


@pytest.mark.parametrize("name", BEFORE_TEXT)
async def test_a_failure_before_any_text_raises_its_error(
    name: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    behaviour, expected, attempts = BEFORE_TEXT[name]
    url = server.script("case", behaviour)
    deadlines = QUICK if issubclass(expected, errors.DeadlineExceeded) else PATIENT
    with pytest.raises(expected) as caught:
        await client.stream(ask(url, deadlines=deadlines), on_text=ignore, record=records.append)
    assert type(caught.value) is expected
    assert (caught.value.partial, len(server.requests["case"])) == ("", attempts)
    assert [(record.error_code, record.attempts) for record in records] == [(expected.code, attempts)]


@pytest.mark.parametrize("name", CUTS)
async def test_a_stream_cut_after_text_is_not_retried_and_keeps_the_text(
    name: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", CUTS[name])
    with pytest.raises(errors.StreamCut) as caught:
        await client.stream(ask(url, deadlines=PATIENT), on_text=ignore, record=records.append)
    assert caught.value.partial == "Hel"
    assert len(server.requests["case"]) == 1
    assert [(record.error_code, record.output) for record in records] == [("stream_cut", "Hel")]


REASONS: dict[str, tuple[Behaviour, str]] = {
    "401": (error(401, "Incorrect API key"), "answered 401: .?Incorrect API key"),
    "error in 200": (answers(200, {"error": {"message": "upstream"}}), "error with status 200: upstream"),
    "error that is a text": (answers(200, {"error": "no credit"}), "error with status 200: no credit"),
    "a proxy's page": (answers(502, HTML, kind="text/html"), r"answered 502\.$"),
    "a detail": (answers(404, {"detail": "Not Found"}), "answered 404: “Not Found”"),
    "a bare text": (answers(400, {"error": "no such model"}), "answered 400: “no such model”"),
    "an error in a list": (
        answers(400, [{"error": {"message": "API key not valid."}}]),
        r"answered 400: “API key not valid”\.$",
    ),
    "broken JSON": (answers(200, '{"choices": [{'), r"answer is not JSON\.$"),
    "a text with status 200": (answers(200, "Busy", kind="text/plain"), r"is not an event stream but text/plain\.$"),
    "no end": (CUTS["end without finish reason"], r"^The answer ended early\.$"),
    "a page with status 200": (answers(200, HTML, kind="text/html"), r"answer is not JSON but text/html\.$"),
    "error in the stream": (CUTS["error in the stream"], "error with status 200: overloaded"),
    "refusal in pieces": (
        streams(chunk(refusal="I can't "), chunk(refusal="help."), chunk(finish="stop"), DONE),
        "refused to answer: I can't help.",
    ),
}


@pytest.mark.parametrize("name", REASONS)
async def test_the_endpoints_message_is_part_of_the_error(
    name: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    behaviour, sentence = REASONS[name]
    with pytest.raises(errors.LlmError, match=sentence):
        await client.stream(ask(server.script("case", behaviour)), on_text=ignore, record=records.append)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://127.0.0.1:1/v1", "can't be reached: it refuses connections at its address and port."),
        ("http://no-such-host.invalid/v1", "can't be reached: its host name can't be resolved."),
        ("not a url", "The model endpoint's base URL is not a valid URL."),
        ("https:///v1", "The model endpoint's base URL is not a valid URL."),
    ],
)
async def test_a_failed_connection_is_explained(
    url: str, sentence: str, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    with pytest.raises(errors.LlmError) as caught:
        await client.complete(ask(url), record=records.append)
    assert str(caught.value).endswith(sentence)


@pytest.mark.parametrize("is_trusted", [True, False])
@pytest.mark.parametrize(
    ("number", "kind"), [(socket.EAI_NONAME, errors.NoSuchModelHost), (socket.EAI_AGAIN, errors.Unavailable)]
)
async def test_only_a_name_whose_server_does_not_answer_is_an_outage(
    number: int,
    kind: type[errors.LlmError],
    is_trusted: bool,
    ask: Ask,
    client: Client,
    records: list[CallRecord],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A customer needn't wait for a host that doesn't exist."""

    def fails(*_: object, **__: object) -> None:
        raise socket.gaierror(number, "no address")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(errors.LlmError, match="can't be resolved") as caught:
        await client.complete(ask("https://models.example/v1", trusted=is_trusted), record=records.append)
    assert type(caught.value) is kind
    assert records[0].error_code == kind.code
    assert caught.value.outage is (number == socket.EAI_AGAIN)


CLOSED: dict[str, Behaviour] = {
    "before the head": hang_up,
    "before the text": streams(then=hang_up),
    "no HTTP": lambda exchange: exchange.send("SSH-2.0-OpenSSH_9.6\r\n\r\n"),
}


@pytest.mark.parametrize("is_trusted", [True, False])
@pytest.mark.parametrize("name", CLOSED)
async def test_a_closed_connection_is_explained(
    name: str, is_trusted: bool, server: FaultServer, ask: Ask, records: list[CallRecord]
) -> None:
    client = Client(outbound=Guard(allow=["127.0.0.1"]))
    url = server.script("case", CLOSED[name])
    with pytest.raises(errors.Unavailable) as caught:
        await client.complete(ask(url, trusted=is_trusted, deadlines=PATIENT), record=records.append)
    assert str(caught.value) == "The connection to the model endpoint was lost."
    await client.aclose()


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_an_untrusted_certificate_is_explained(
    is_trusted: bool, tls: ssl.SSLContext, ask: Ask, records: list[CallRecord]
) -> None:
    client = Client(outbound=Guard(allow=["127.0.0.1"]))
    async with await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0, ssl=tls) as endpoint:
        url = f"https://127.0.0.1:{endpoint.sockets[0].getsockname()[1]}/v1"
        with pytest.raises(errors.Unavailable) as caught:
            await client.complete(ask(url, trusted=is_trusted), record=records.append)
    assert str(caught.value) == "The model endpoint's certificate can't be trusted."
    await client.aclose()


async def test_an_endpoints_message_is_made_storable(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(400, "no\0 such\ud83d model"))
    with pytest.raises(errors.Rejected) as caught:
        await client.complete(ask(url), record=records.append)
    assert "“no such\ufffd model”" in str(caught.value)


async def test_nothing_is_sent_to_a_closed_endpoint(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    request = ask(server.script("case", hang))
    closed = replace(request.model, endpoint=replace(request.model.endpoint, closed="Write its key again."))
    with pytest.raises(errors.Rejected, match=r"^Write its key again\.$"):
        await client.complete(replace(request, model=closed), record=records.append)
    assert (records[0].error_code, records[0].attempts, server.connections) == ("rejected", 1, 0)


async def test_a_stalled_stream_ends_at_the_total_deadline(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", streams(chunk("Hel"), then=hang))
    with pytest.raises(errors.TotalDeadline) as caught:
        await client.stream(ask(url, deadlines=QUICK), on_text=ignore, record=records.append)
    assert caught.value.partial == "Hel"
    assert (records[0].error_code, records[0].output) == ("deadline_total", "Hel")


async def test_a_started_tool_call_has_until_the_total_deadline(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    begun = chunk(tool_calls=[{"index": 0, "id": "a", "function": {"name": "book", "arguments": "{"}}])
    url = server.script("case", streams(begun, then=hang))
    with pytest.raises(errors.TotalDeadline):
        await client.stream(ask(url, deadlines=QUICK), on_text=ignore, record=records.append)


async def test_a_silent_model_fails_at_the_first_token_deadline(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    deadlines = Deadlines(first_token_s=0.3, total_s=60)
    async with asyncio.timeout(5):
        with pytest.raises(errors.FirstTokenDeadline):
            await client.stream(
                ask(server.script("case", hang), deadlines=deadlines), on_text=ignore, record=records.append
            )


def takes_its_time(*events: str) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await asyncio.sleep(0.4)
        for event in events:
            await exchange.send(chunked(event))
        await exchange.send("0\r\n\r\n")

    return behave


async def test_a_started_answer_has_until_the_total_deadline(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    then = takes_its_time(chunk("lo"), chunk(finish="stop"), DONE)
    request = ask(server.script("case", streams(chunk("Hel"), then=then)), deadlines=Deadlines(0.2, 20))
    assert (await client.stream(request, on_text=ignore, record=records.append)).text == "Hello"


async def test_a_background_call_has_no_first_token_deadline(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    async def late(exchange: Exchange) -> None:
        await asyncio.sleep(0.2)
        await answers(200, message("Hello"))(exchange)

    request = ask(server.script("case", late), deadlines=Deadlines(first_token_s=0.05, total_s=20))
    assert (await client.complete(request, record=records.append)).text == "Hello"


async def test_a_background_call_has_one_deadline_for_all_attempts(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", hang)
    with pytest.raises(errors.TotalDeadline):
        await client.complete(ask(url, deadlines=Deadlines(first_token_s=9, total_s=0.3)), record=records.append)
    assert records[0].error_code == "deadline_total"


async def test_a_refused_connection_is_retried(client: Client, ask: Ask, records: list[CallRecord]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(errors.Unavailable):
            await client.stream(ask(url), on_text=ignore, record=records.append)
    assert records[0].attempts == 3


@pytest.mark.parametrize("key", ["sk-line\nbreak-123", "sk-ключ-12345"])
async def test_a_key_with_invalid_characters_is_rejected(
    key: str, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    with pytest.raises(errors.Rejected, match="The API key contains"):
        await client.complete(ask(server.script("case", hang), key=key), record=records.append)
    assert (records[0].error_code, server.connections) == ("rejected", 0)


@pytest.mark.parametrize("url", ["http://[::1", "not a url", "http://x:port/v1"])
async def test_an_invalid_base_url_is_rejected(url: str, client: Client, ask: Ask, records: list[CallRecord]) -> None:
    with pytest.raises((errors.Rejected, errors.Unavailable)):
        await client.complete(ask(url), record=records.append)


async def test_an_error_in_on_text_is_recorded_as_internal(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    def listener(text: str) -> None:
        raise ZeroDivisionError

    url = server.script("case", streams(chunk("Hel"), chunk(finish="stop"), DONE))
    with pytest.raises(ZeroDivisionError):
        await client.stream(ask(url), on_text=listener, record=records.append)
    assert records[0].error_code == "internal"


def test_every_error_has_its_own_code_and_message() -> None:
    classes = [
        errors.RateLimited, errors.RateLimitedLong, errors.Unavailable, errors.Rejected, errors.FirstTokenDeadline,
        errors.TotalDeadline, errors.StreamCut, errors.LengthCut, errors.BadAnswer, errors.SchemaMismatch,
        errors.Refused, errors.BreakerOpen, errors.Blocked,
    ]  # fmt: skip
    assert len({each.code for each in classes}) == len(classes)
    assert all(str(each()).endswith((".", "(5xx).", "(429).")) for each in classes)
