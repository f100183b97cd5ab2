"""Calls whose caller types: no telephone and no key, with the offline provider and the offline model's answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conversations.models import Call
from tests.calls_provider import Provider
from tests.conversations.calls.conftest import Line
from tests.processes import ForkServer, until


@pytest.fixture(autouse=True)
def _offline(settings: Any, calls_provider: Provider) -> None:
    settings.OFFLINE_CALLS_URL = f"{calls_provider.url}/v1"


@pytest.fixture
def worker(processes: ForkServer) -> None:
    processes.standing_worker()


def begin(line: Line, channel: str = "phone") -> str:
    """A new test conversation of a project that connected no provider."""
    line.api.delete("/api/v1/channels/openai_sip")
    body = {"channel": channel, "persona": {"external_id": "typist"}, "metadata": {"playground": True}}
    return str(post(line, "/api/v1/conversations", body).json()["id"])


def post(line: Line, path: str, body: Any) -> Any:
    return line.api.post(path, json.dumps(body), content_type="application/json")


def start(line: Line) -> str:
    """A typed call that the agent has answered."""
    conversation = begin(line)
    answer = post(line, f"/api/v1/conversations/{conversation}/call", {})
    assert answer.status_code == 202, answer.content
    with line.tenant.tx():
        line.call_id = Call.objects.get().external_id
    line.until_state("live")
    return conversation


def say(line: Line, conversation: str, text: str) -> Any:
    return post(line, f"/api/v1/conversations/{conversation}/call/words", {"text": text})


def agent_said(line: Line) -> list[str]:
    return [text for role, text in line.transcript() if role == "agent"]


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_what_is_typed_is_heard_and_answered(line: Line) -> None:
    conversation = start(line)
    until(lambda: agent_said(line), seconds=40, what="the greeting")
    assert say(line, conversation, "Are you open on Friday?").status_code == 202
    until(lambda: len(agent_said(line)) == 2, seconds=40, what="the answer")
    assert line.transcript()[1] == ("user", "Are you open on Friday?")
    assert line.verbs() == ["accept"]


@pytest.mark.requirement("T28")
@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_directives_arrive_during_the_call(line: Line) -> None:
    conversation = start(line)
    until(lambda: agent_said(line), seconds=40, what="the greeting")
    say(line, conversation, "I would like a table on Friday.")
    until(
        lambda: any("<CurrentTaskAnalysis" in told for told in line.at_provider()["told"]),
        seconds=40,
        what="the directives",
    )


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_goodbye_ends_the_call(line: Line) -> None:
    conversation = start(line)
    until(lambda: agent_said(line), seconds=40, what="the greeting")
    say(line, conversation, "That's all, goodbye.")
    assert line.until_state("ended").ended_at is not None
    assert line.verbs() == ["accept", "hangup"]
    assert say(line, conversation, "Hello?").status_code == 409


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_a_caller_who_types_is_transferred(line: Line) -> None:
    conversation = start(line)
    until(lambda: agent_said(line), seconds=40, what="the greeting")
    say(line, conversation, "Please put me through to the kitchen.")
    assert line.until_state("transferred").transferred_to
    assert line.verbs()[-1] == "refer"


@pytest.mark.standing_worker
@pytest.mark.usefixtures("worker")
def test_the_caller_hangs_up(line: Line) -> None:
    conversation = start(line)
    assert post(line, f"/api/v1/conversations/{conversation}/call/events", {"event": "hung_up"}).status_code == 200
    line.until_state("ended")


def test_without_the_offline_provider_nobody_types(line: Line, settings: Any) -> None:
    settings.OFFLINE_CALLS_URL = ""
    conversation = begin(line)
    answer = post(line, f"/api/v1/conversations/{conversation}/call", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "calls_off")


def test_a_chat_is_no_call(line: Line) -> None:
    conversation = begin(line, channel="chat")
    answer = post(line, f"/api/v1/conversations/{conversation}/call", {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_voice")
