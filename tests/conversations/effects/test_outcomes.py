"""The outcome table: the result of each kind of attempt, over real sockets."""

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
# Never sent again under the "once" policy; sent again under the same key if the endpoint supports it.
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
    """The state after the first attempt, for a once effect and for an idempotent one."""
    effects = (
        in_memory(delivery=delivery, attempts=1, is_uncertain=is_uncertain) for delivery in ("once", "idempotent")
    )
    once, idempotent = (next_step(effect, outcome, now=NOW) for effect in effects)
    return once, idempotent


@pytest.mark.parametrize(("answer", "expected"), ANSWERED, ids=lambda value: str(getattr(value, "status", "")))
async def test_the_response_decides_the_outcome(
    answer: Answers, expected: tuple[NextStep, NextStep], target: Target
) -> None:
    target.answers(answer)
    assert courses(await call(target.url)) == expected
    assert len(target.log) == 1


async def test_a_refused_connection_is_retried() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        outcome = await call(f"http://127.0.0.1:{closed.getsockname()[1]}/")
    assert courses(outcome) == NOT_EXECUTED


async def test_an_unknown_host_is_retried() -> None:
    assert courses(await call("https://no-such-host.invalid/")) == NOT_EXECUTED


async def test_a_failed_tls_handshake_is_retried(target: Target) -> None:
    assert courses(await call(target.url.replace("http://", "https://"))) == NOT_EXECUTED


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://127.1:6379/", "http://[64:ff9b::a9fe:a9fe]/"])
async def test_a_forbidden_address_is_not_retried(url: str) -> None:
    """The address is checked again at the call."""
    outcome = await call(url)
    assert courses(outcome) == FAILED


async def test_a_host_that_resolves_to_a_private_address_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent, and the name is resolved again at the next attempt."""

    async def inside(host: str, port: int) -> list[str]:
        return ["10.0.0.1"]

    monkeypatch.setattr(webhook, "Guard", partial(Guard, resolver=inside))
    assert courses(await call("https://crew.example/")) == NOT_EXECUTED


async def test_an_invalid_header_value_is_not_retried(target: Target) -> None:
    """The arguments stay as they were extracted."""
    options = WebhookOptions(url=target.url)
    said = {"headers": {"X-Guest": "村上"}}
    assert courses(await call_webhook(options, said, tool_context(), secrets=WebhookSecrets())) == FAILED
    assert target.log == []


async def test_a_202_response_waits_for_the_callback(target: Target) -> None:
    target.answers(Answers(202))
    assert courses(await call(target.url, callback=True)) == (NextStep.LATER, NextStep.LATER)


def test_retry_delays_grow() -> None:
    """5 s, 30 s, 2 min, 10 min, each with some jitter; then no more."""
    outcome = Outcome.not_sent("x")
    pauses = []
    for attempts in range(1, 6):
        due_at = next_attempt_at(in_memory(attempts=attempts), outcome, now=NOW)
        pauses.append(due_at and (due_at - NOW).total_seconds())
    assert pauses[4] is None
    for pause, least in zip(pauses, (5, 30, 120, 600), strict=False):
        assert least <= pause <= least * 1.1


@pytest.mark.parametrize(("told", "seconds"), [(7, 7), (86_400, 600), (0, 0)])
def test_retry_after_is_honored_within_the_limit(told: float, seconds: float) -> None:
    due_at = next_attempt_at(in_memory(attempts=1), Outcome.not_sent("x", retry_after_seconds=told), now=NOW)
    assert due_at is not None
    assert seconds <= (due_at - NOW).total_seconds() <= seconds * 1.1


@pytest.mark.parametrize("zone", ["GMT", "+0000", "-0000", ""])
async def test_a_retry_after_date_is_read_with_or_without_a_time_zone(zone: str, target: Target) -> None:
    """HTTP dates are in GMT."""
    due_at = datetime.now(UTC) + timedelta(minutes=5)
    target.answers(Answers(429, headers={"Retry-After": f"{due_at:%a, %d %b %Y %H:%M:%S} {zone}".strip()}))
    outcome = await call(target.url)
    assert outcome.ending is Ending.NOT_SENT
    assert 200 < (outcome.retry_after_seconds or 0) <= 300


def test_an_effect_is_not_retried_after_its_deadline() -> None:
    effect = in_memory(attempts=1, delivery="once", deadline_at=NOW + timedelta(seconds=4))
    assert next_step(effect, Outcome.not_sent("x"), now=NOW) is NextStep.FAILED


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.UNKNOWN])
def test_an_effect_that_may_have_happened_is_never_called_failed(ending: Ending) -> None:
    """An earlier attempt left its outcome open."""
    once, _ = courses(Outcome(ending, error="x"), is_uncertain=True)
    assert once is NextStep.UNKNOWN


def test_an_effect_that_staff_released_needs_no_second_approval() -> None:
    """A released repeat and an approved retry are approved already."""
    asks = {"requires_approval": True}
    assert needs_approval(in_memory(definition=asks))
    assert not needs_approval(in_memory(definition=asks, resolved_at=NOW))
    assert not needs_approval(in_memory(definition={}))
