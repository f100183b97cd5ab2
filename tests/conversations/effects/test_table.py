"""The table of outcomes: what each end of an attempt means, over real sockets."""

from __future__ import annotations

import socket
import uuid
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from outbound.guard import Guard
from tests.conversations.effects.target import Answers, Target
from tools.engine.custom.secrets import WebhookSecrets
from tools.engine.definition import WebhookOptions
from tools.engine.execution import webhook
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.outcome_policy import NextStep, next_attempt_at, next_step
from tools.engine.execution.webhook import call_webhook
from tools.engine.ledger import needs_approval
from tools.models import Effect

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NOT_EXECUTED = (NextStep.AGAIN, NextStep.AGAIN)
DONE = (NextStep.DONE, NextStep.DONE)
FAILED = (NextStep.FAILED, NextStep.FAILED)
# Never again where once is the law; again under the same key where the endpoint honours it.
UNKNOWN = (NextStep.UNKNOWN, NextStep.AGAIN)

ANSWERED = [
    (Answers(200), DONE),
    (Answers(201), DONE),
    (Answers(204, body=""), DONE),
    (Answers(200, body=""), DONE),
    (Answers(202), DONE),
    (Answers(301, headers={"Location": "http://127.0.0.1:1/"}), FAILED),
    (Answers(307, headers={"Location": "http://127.0.0.1:1/"}), FAILED),
    (Answers(400), FAILED),
    (Answers(401), FAILED),
    (Answers(404), FAILED),
    (Answers(410), FAILED),
    (Answers(422), FAILED),
    (Answers(429, headers={"Retry-After": "3"}), NOT_EXECUTED),
    (Answers(429), NOT_EXECUTED),
    (Answers(503, headers={"Retry-After": "3"}), NOT_EXECUTED),
    (Answers(503), UNKNOWN),
    (Answers(408), UNKNOWN),
    (Answers(409), UNKNOWN),
    (Answers(425), UNKNOWN),
    (Answers(500), UNKNOWN),
    (Answers(502), UNKNOWN),
    (Answers(504), UNKNOWN),
    (Answers(hangs=1.3), UNKNOWN),
    (Answers(drops=True), UNKNOWN),
    (Answers(cuts=True), UNKNOWN),
]


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]


def tool_context() -> ToolContext:
    return ToolContext(
        organization_id=uuid.uuid4(),
        project_id=uuid.uuid4(),
        effect_id=uuid.uuid4(),
        key="k",
        conversation_id=None,
        turn_id=None,
        channel="chat",
        timezone="UTC",
        at=NOW,
        contact=None,
    )


async def call(url: str, **more: Any) -> Outcome:
    options = WebhookOptions(url=url, timeout_seconds=1, **more)
    return await call_webhook(options, {}, tool_context(), secrets=WebhookSecrets())


def in_memory(**fields: Any) -> Effect:
    return Effect(organization_id=uuid.uuid4(), **fields)


def courses(outcome: Outcome, *, is_uncertain: bool = False) -> tuple[NextStep, NextStep]:
    """What becomes of the first attempt, of an effect that is done once and of one that may be repeated."""
    effects = (
        in_memory(delivery=delivery, attempts=1, is_uncertain=is_uncertain) for delivery in ("once", "idempotent")
    )
    once, idempotent = (next_step(effect, outcome, now=NOW) for effect in effects)
    return once, idempotent


@pytest.mark.parametrize(("answer", "expected"), ANSWERED, ids=lambda value: str(getattr(value, "status", "")))
async def test_an_answer_means(answer: Answers, expected: tuple[NextStep, NextStep], target: Target) -> None:
    target.answers(answer)
    assert courses(await call(target.url)) == expected
    assert len(target.log) == 1


async def test_nobody_listens() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        outcome = await call(f"http://127.0.0.1:{closed.getsockname()[1]}/")
    assert courses(outcome) == NOT_EXECUTED


async def test_a_name_that_is_nobodys() -> None:
    assert courses(await call("https://no-such-host.invalid/")) == NOT_EXECUTED


async def test_a_failed_handshake(target: Target) -> None:
    assert courses(await call(target.url.replace("http://", "https://"))) == NOT_EXECUTED


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://127.1:6379/", "http://[64:ff9b::a9fe:a9fe]/"])
async def test_an_address_that_may_never_be_called_is_not_tried_again(url: str) -> None:
    """The address is checked at the call too."""
    outcome = await call(url)
    assert courses(outcome) == FAILED


async def test_a_name_that_leads_inside_may_lead_elsewhere_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent, and it is looked up again at the next attempt."""

    async def inside(host: str, port: int) -> list[str]:
        return ["10.0.0.1"]

    monkeypatch.setattr(webhook, "Guard", partial(Guard, resolver=inside))
    assert courses(await call("https://crew.example/")) == NOT_EXECUTED


async def test_what_no_header_holds_is_not_tried_again(target: Target) -> None:
    """It stays as it was read off the conversation."""
    options = WebhookOptions(url=target.url)
    said = {"headers": {"X-Guest": "村上"}}
    assert courses(await call_webhook(options, said, tool_context(), secrets=WebhookSecrets())) == FAILED
    assert target.log == []


async def test_a_tool_that_answers_later(target: Target) -> None:
    target.answers(Answers(202))
    assert courses(await call(target.url, callback=True)) == (NextStep.LATER, NextStep.LATER)


def test_it_is_tried_again_after_longer_and_longer_pauses() -> None:
    """5 s, 30 s, 2 min, 10 min, each with a little more by chance; then no more."""
    outcome = Outcome.not_sent("x")
    pauses = []
    for attempts in range(1, 6):
        due_at = next_attempt_at(in_memory(attempts=attempts), outcome, now=NOW)
        pauses.append(due_at and (due_at - NOW).total_seconds())
    assert pauses[4] is None
    for pause, least in zip(pauses, (5, 30, 120, 600), strict=False):
        assert least <= pause <= least * 1.1


@pytest.mark.parametrize(("told", "seconds"), [(7, 7), (86_400, 600), (0, 0)])
def test_it_is_tried_again_when_it_was_told_but_soon(told: float, seconds: float) -> None:
    due_at = next_attempt_at(in_memory(attempts=1), Outcome.not_sent("x", retry_after_seconds=told), now=NOW)
    assert due_at is not None
    assert seconds <= (due_at - NOW).total_seconds() <= seconds * 1.1


@pytest.mark.parametrize("zone", ["GMT", "+0000", "-0000", ""])
async def test_a_date_says_when_to_try_again_whether_it_names_its_zone_or_not(zone: str, target: Target) -> None:
    """Of HTTP's dates all are Greenwich's."""
    due_at = datetime.now(UTC) + timedelta(minutes=5)
    target.answers(Answers(429, headers={"Retry-After": f"{due_at:%a, %d %b %Y %H:%M:%S} {zone}".strip()}))
    outcome = await call(target.url)
    assert outcome.ending is Ending.NOT_SENT
    assert 200 < (outcome.retry_after_seconds or 0) <= 300


def test_after_its_deadline_it_is_given_up() -> None:
    effect = in_memory(attempts=1, delivery="once", deadline_at=NOW + timedelta(seconds=4))
    assert next_step(effect, Outcome.not_sent("x"), now=NOW) is NextStep.FAILED


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.UNKNOWN])
def test_what_may_have_happened_before_is_never_called_failed(ending: Ending) -> None:
    """An earlier attempt left it open."""
    once, _ = courses(Outcome(ending, error="x"), is_uncertain=True)
    assert once is NextStep.UNKNOWN


def test_who_has_let_an_effect_go_is_not_asked_again() -> None:
    """A released repeat, and what was sent again, have their yes."""
    asks = {"requires_approval": True}
    assert needs_approval(in_memory(definition=asks))
    assert not needs_approval(in_memory(definition=asks, resolved_at=NOW))
    assert not needs_approval(in_memory(definition={}))
