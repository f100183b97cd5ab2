"""Malformed and hostile input against a real server."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.db import connections

from tenancy.scope import tenant_tx
from tests.api.live import Address, Caller
from tests.conftest import Tenant
from tests.processes import ForkServer

KB = 1024
WRITES = [
    ("POST", "/conversations"),
    ("POST", "/conversations/{conversation}/messages"),
    ("POST", "/conversations/{conversation}/events"),
    ("PATCH", "/personas/{persona}"),
    ("PUT", "/attributes/greeting"),
    ("POST", "/todos"),
    ("POST", "/todos/approve"),
]


@pytest.fixture(scope="module")
def server(_fork_server: ForkServer) -> Iterator[Address]:
    """A web process of its own."""
    web, url = _fork_server.web()
    place = urlsplit(url)
    yield str(place.hostname), int(place.port or 0)
    web.kill()


@dataclass
class Chat:
    """A conversation, and the caller who opened it."""

    caller: Caller
    conversation: str
    persona: str

    @property
    def path(self) -> str:
        return f"/conversations/{self.conversation}"

    @property
    def messages(self) -> str:
        return f"{self.path}/messages"

    def fill(self, path: str) -> str:
        return path.format(conversation=self.conversation, persona=self.persona)

    def transcript(self) -> list[str]:
        return [message["content"] for message in self.caller.get(self.messages).json()["results"]]


def open_chat(server: Address, tenant: Tenant) -> Chat:
    caller = Caller(server, tenant.key)
    opened = caller.post("/conversations", {"channel": "chat", "persona": {"external_id": "guest"}})
    assert opened.status == 201, opened.text
    return Chat(caller, opened.json()["id"], opened.json()["persona"]["id"])


@pytest.fixture
def chat(server: Address, tenant: Tenant) -> Chat:
    return open_chat(server, tenant)


@pytest.fixture
def foreign(server: Address, stranger: Tenant) -> Chat:
    return open_chat(server, stranger)


# Row, body, error code and message
BODIES: list[tuple[int, bytes, str, str]] = [
    (1, b"[" * 100_000, "json_too_deep", "JSON may be nested at most 32 levels."),
    (1, b'{"a":' * 40_000, "json_too_deep", "JSON may be nested at most 32 levels."),
    (2, b'{"content":"a","metadata":{"x":"\\u0000"}}', "nul_character", "metadata.x contains a NUL character."),
    (3, b'{"metadata":{"x":"\\ud800"}}', "invalid_unicode", "metadata contains text that is not valid Unicode."),
    (4, b'{"n":' + b"9" * 999 + b"}", "out_of_range", f"n must be between {-(2**63)} and {2**63 - 1}."),
    (4, b'{"a":{"n":1e999}}', "out_of_range", "a.n must be a number between -1.8e308 and 1.8e308."),
    (4, b'{"n":NaN}', "out_of_range", "n must be a number between -1.8e308 and 1.8e308."),
    (5, b'{"content":"a","content":"b"}', "duplicate_key", "Key 'content' appears twice."),
]


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_bad_body_is_400_at_every_address(chat: Chat, method: str, path: str) -> None:
    for row, body, code, message in BODIES:
        reply = chat.caller.send(method, chat.fill(path), body)
        assert (row, reply.status, reply.error["code"], reply.error["message"]) == (row, 400, code, message)


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_an_oversized_or_compressed_body_is_refused_at_every_address(chat: Chat, method: str, path: str) -> None:
    big = chat.caller.send(method, chat.fill(path), b"a" * 3 * KB * KB)
    assert (big.status, big.error["message"]) == (413, "Body is 3.0 MB; the limit is 256 kB.")
    assert big.headers["connection"] == "close"
    bomb = gzip.compress(b" " * 10 * KB * KB)
    packed = chat.caller.send(method, chat.fill(path), bomb, Content_Encoding="gzip")
    assert (packed.status, packed.error["message"]) == (415, "Compressed bodies are not accepted.")
    assert chat.caller.send(method, chat.fill(path), b"{}", Content_Encoding="gzip").status == 415


def test_a_chunked_body_is_read(chat: Chat) -> None:
    """A body without a length is not treated as empty."""
    parts = iter([b'{"content":', b'"in pieces"}'])
    reply = chat.caller.send("POST", chat.messages, parts)  # type: ignore[arg-type]
    assert reply.status == 202
    assert chat.transcript() == ["in pieces"]


def test_an_idempotency_key_with_another_body_is_422(chat: Chat) -> None:
    assert chat.caller.post(chat.messages, {"content": "one"}, Idempotency_Key="k").status == 202
    reused = chat.caller.post(chat.messages, {"content": "two"}, Idempotency_Key="k")
    assert (reused.status, reused.error["code"]) == (422, "idempotency_key_reused")
    assert chat.transcript() == ["one"]


def test_an_idempotency_key_of_300_characters_is_400(chat: Chat) -> None:
    assert chat.caller.post(chat.messages, {"content": "one"}, Idempotency_Key="k" * 300).status == 400
    assert chat.transcript() == []


def test_50_posts_with_one_idempotency_key_make_one_message(chat: Chat) -> None:
    with ThreadPoolExecutor(50) as pool:
        replies = list(
            pool.map(lambda _: chat.caller.post(chat.messages, {"content": "one"}, Idempotency_Key="k"), range(50))
        )
    assert {reply.status for reply in replies} <= {202, 409}
    assert len({reply.json()["message"]["id"] for reply in replies if reply.status == 202}) == 1
    assert chat.transcript() == ["one"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/conversations/{conversation}", None),
        ("GET", "/conversations/{conversation}/messages", None),
        ("GET", "/conversations/{conversation}/turns", None),
        ("GET", "/conversations/{conversation}/events", None),
        ("POST", "/conversations/{conversation}/messages", b'{"content":"a"}'),
        ("POST", "/conversations/{conversation}/events", b'{"idn":"urgent_message"}'),
        ("GET", "/personas/{persona}", None),
        ("PATCH", "/personas/{persona}", b'{"name":"a"}'),
    ],
)
def test_another_tenants_objects_answer_like_missing_ones(
    chat: Chat, foreign: Chat, method: str, path: str, body: bytes | None
) -> None:
    theirs = chat.caller.send(method, foreign.fill(path), body)
    never = chat.caller.send(method, path.format(conversation=uuid4(), persona=uuid4()), body)
    assert (theirs.status, theirs.timeless_error) == (404, never.timeless_error)


def test_a_deleted_conversation_answers_like_another_tenants(chat: Chat, foreign: Chat, tenant: Tenant) -> None:
    with tenant_tx(tenant.organization.pk, using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("delete from conversations_conversation where id = %s", [chat.conversation])
        assert cursor.rowcount == 1
    deleted, theirs = chat.caller.get(chat.path), chat.caller.get(foreign.path)
    assert (deleted.status, deleted.timeless_error) == (404, theirs.timeless_error)


@pytest.mark.parametrize(
    "identifier", ["../1", "1", "x" * 10_000, "%00", "%2e%2e%2f", "null", "-1", "%F0%9F%92%A9", "' or 1=1--"]
)
def test_a_malformed_id_is_404(chat: Chat, identifier: str) -> None:
    reply = chat.caller.get(f"/conversations/{identifier.replace(' ', '%20')}")
    assert (reply.status, reply.error["code"]) == (404, "not_found")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_name_with_a_nul_is_404(chat: Chat, method: str) -> None:
    reply = chat.caller.send(method, "/custom-tools/send%00quote", b"{}" if method == "PUT" else None)
    assert (reply.status, reply.error["code"]) == (404, "not_found")


@pytest.mark.parametrize("key", ["k" * 161, "%E2%80%AE", "two%20words"])
def test_an_attribute_needs_a_printable_name(chat: Chat, key: str) -> None:
    reply = chat.caller.send("PUT", f"/attributes/{key}", b'{"value": 1}')
    assert (reply.status, reply.error["field"]) == (400, "key")
    assert (
        reply.error["message"]
        == "key: Start with a letter, then use letters, digits, _, - and full stops, at most 160 characters."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a" * 8001, "content has 8,001 characters; the limit is 8,000."),
        ("   \n ", "content is empty."),
        ("\u200b\u200c\u200d\ufeff", "content is empty."),
    ],
)
def test_content_that_is_too_long_or_empty_is_400(chat: Chat, content: str, message: str) -> None:
    reply = chat.caller.post(chat.messages, {"content": content})
    assert (reply.status, reply.error["message"], reply.error["field"]) == (400, message, "content")


@pytest.mark.parametrize("wait", ["x", "-1", "nan", "inf", "1s"])
def test_an_invalid_wait_stores_nothing(chat: Chat, wait: str) -> None:
    """Clients retry after an error, so nothing may be stored."""
    reply = chat.caller.post(f"{chat.messages}?wait={wait}", {"content": "Hello"})
    assert (reply.status, reply.error["code"], reply.error["field"]) == (400, "invalid_wait", "wait")
    assert chat.transcript() == []


@pytest.mark.parametrize("content", ["\u0301" * 8000, "photo\u202egnp.exe", "a" * 8000])
def test_unusual_content_is_stored_unchanged(chat: Chat, content: str) -> None:
    assert chat.caller.post(chat.messages, {"content": content}).status == 202
    assert chat.transcript() == [content]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"tennant": 2}, "Unknown field 'tennant'. Did you mean one of: attachments, content?"),
        ({"contents": "a"}, "Unknown field 'contents'. Did you mean 'content'?"),
        ({"tenant": 2}, "tenant cannot be set."),
        ({"organization": str(uuid4())}, "organization cannot be set."),
        ({"id": 1}, "id cannot be set."),
    ],
)
def test_an_unknown_field_is_refused_everywhere(chat: Chat, extra: dict[str, Any], message: str) -> None:
    reply = chat.caller.post(chat.messages, {"content": "a", **extra})
    assert (reply.status, reply.error["message"]) == (400, message)


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        (
            "/conversations",
            {"channel": "api", "persona": {"external_id": "a"}, "metadata": {str(number): 1 for number in range(51)}},
            "metadata has 51 keys; the limit is 50.",
        ),
        (
            "/evaluation-cases",
            {"name": "x", "answer": "y", "expected": {}, "channel": "E-mail"},
            "channel must be the name of a channel, such as chat or phone.",
        ),
        (
            "/todos/approve",
            {"todos": [{"todo": str(uuid4()), "version": 1, "content_hash": "x"}]},
            "todos.0.content_hash must be the todo's content_hash as you retrieved it: 64 of the digits 0-9 and a-f.",
        ),
    ],
)
def test_a_refusal_suggests_the_right_name(chat: Chat, path: str, body: dict[str, Any], message: str) -> None:
    reply = chat.caller.post(path, body)
    assert (reply.status, reply.error["message"]) == (400, message)


@pytest.mark.parametrize("last", ["-1", "9e99", "999", "x", "\xe9", "9" * 400])
def test_an_invalid_last_event_id_gets_a_reset(chat: Chat, last: str) -> None:
    chat.caller.post(chat.messages, {"content": "ciao"})
    event = chat.caller.first_event(f"{chat.path}/events", Last_Event_ID=last)
    assert event["event"] == "reset"
    assert [message["content"] for message in event["data"]["messages"]] == ["ciao"]


def test_an_event_id_of_another_conversation_reveals_nothing(chat: Chat, foreign: Chat) -> None:
    for number in range(5):
        foreign.caller.post(foreign.messages, {"content": f"secret {number}"})
    chat.caller.post(chat.messages, {"content": "ciao"})
    last = foreign.caller.first_event(f"{foreign.path}/events", Last_Event_ID="99")["id"]
    event = chat.caller.first_event(f"{chat.path}/events", Last_Event_ID=last)
    assert event["event"] == "reset"
    assert "secret" not in json.dumps(event["data"])


NAMES = [
    "content",
    "channel",
    "persona",
    "external_id",
    "metadata",
    "idn",
    "payload",
    "name",
    "email",
    "attributes",
    "value",
]
NASTY: list[Any] = [
    None,
    True,
    -1,
    2**62,
    0.1,
    "",
    " ",
    "chat",
    "a" * 300,
    "a" * 9000,
    "\u202e",
    "😀",
    "a@b",
    "\x1b[0m",
    "{{ x }}",
    "</tag>",
    [],
    {},
    [[]],
    {"external_id": "x"},
    {"": ""},
    {"__proto__": 1},
    [None] * 100,
    {"a": {"b": {"c": []}}},
]


def nasty_body(chance: random.Random) -> bytes:
    names = chance.sample(NAMES, chance.randint(0, 4))
    values = {name: chance.choice(NASTY) for name in names}
    if "persona" in values and chance.random() < 0.5:
        values["persona"] = {"external_id": chance.choice(NASTY), "email": chance.choice(NASTY)}
    text = json.dumps(values).encode()
    # Some are truncated or corrupted in transit.
    if chance.random() < 0.3 and text:
        spot = chance.randrange(len(text))
        text = (
            text[:spot]
            + chance.choice([b"", b"\xff", b"\\u0000", b"\\ud800", b"[", b"1e999"])
            + text[spot + chance.randint(0, 2) :]
        )
    return text


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize("count", [100, pytest.param(4000, marks=pytest.mark.slow)])
def test_no_body_causes_a_server_error(chat: Chat, method: str, path: str, count: int) -> None:
    """Random bodies built from the schema's own names: never a 5xx, always the standard error shape."""
    chance = random.Random(f"{method} {path} {count}")
    for _ in range(count):
        body = nasty_body(chance)
        reply = chat.caller.send(method, chat.fill(path), body)
        assert reply.status < 500, (body, reply.text)
        if reply.status >= 400:
            assert reply.error["message"]
