"""Retries, the retry budget and the circuit breaker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from uuid import uuid4

import pytest

from llm import errors
from llm.client import Client
from llm.health import FAILURES_TO_OPEN, OPEN_FOR_S, RETRY_FLOOR, Breaker, RetryBudget
from llm.types import CallRecord, ChatRequest, Deadlines, Usage
from outbound.tenant import on_behalf_of
from tests.llm.fault_server import FaultServer, answers, chunk, error, hang, message, streams, until

Ask = Callable[..., ChatRequest]
HELLO = answers(200, message("Hello"))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_a_call_succeeds_after_two_retries(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(500, "oops"), error(503, "oops"), HELLO)
    done = await client.complete(ask(url), record=records.append)
    assert (done.text, done.attempts) == ("Hello", 3)
    assert [(record.error_code, record.attempts) for record in records] == [(None, 3)]


async def test_the_retry_after_header_is_respected(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(429, "slow down", headers={"Retry-After": "0.3"}), HELLO)
    started = time.monotonic()
    await client.complete(ask(url), record=records.append)
    assert time.monotonic() - started >= 0.3


async def test_a_deadline_that_ends_the_retries_reports_the_outage(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """The caller waits for an endpoint that is out, and gives up on one that is slow."""
    url = server.script("case", error(500, "out of order", headers={"Retry-After": "0"}), hang)
    with pytest.raises(errors.Unavailable):
        await client.complete(ask(url, deadlines=Deadlines(0.5, 0.5)), record=records.append)
    assert len(server.requests["case"]) == 2


async def test_a_pause_beyond_the_deadline_fails_at_once(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(429, "slow down", headers={"Retry-After": "20"}), HELLO)
    with pytest.raises(errors.RateLimited) as caught:
        await client.complete(ask(url, deadlines=Deadlines(5, 5)), record=records.append)
    assert caught.value.retry_after_s == 20
    assert len(server.requests["case"]) == 1


async def test_the_tokens_of_failed_attempts_are_counted(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", answers(200, message("")), HELLO)
    done = await client.complete(ask(url), record=records.append)
    assert done.usage == records[0].usage == Usage(20, 12, 8)


async def test_a_stream_cut_before_any_text_is_retried(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", streams(chunk(role="assistant")), streams(chunk("Hello"), chunk(finish="stop")))
    done = await client.stream(ask(url), on_text=str, record=records.append)
    assert (done.text, done.attempts) == ("Hello", 2)


async def test_retries_stop_when_the_budget_is_used_up(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", error(429, "slow down", headers={"Retry-After": "0.01"}))
    for _ in range(3):
        with pytest.raises(errors.RateLimited):
            await client.complete(ask(url), record=records.append)
    assert [record.attempts for record in records] == [3, 2, 1]


async def test_timeouts_open_the_breaker(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    request = ask(server.script("case", hang), deadlines=Deadlines(0.05, 0.05))
    for _ in range(FAILURES_TO_OPEN):
        with pytest.raises(errors.TotalDeadline):
            await client.complete(request, record=records.append)
    with pytest.raises(errors.BreakerOpen):
        await client.complete(request, record=records.append)


async def test_a_busy_endpoint_gets_more_retries(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    refused = error(429, "slow down", headers={"Retry-After": "0.01"})
    url = server.script("case", *[HELLO] * 40, refused)
    for _ in range(40):
        await client.complete(ask(url), record=records.append)
    for _ in range(2):
        with pytest.raises(errors.RateLimited):
            await client.complete(ask(url), record=records.append)
    assert [record.attempts for record in records[40:]] == [3, 3]


async def test_a_canceled_probe_does_not_block_the_endpoint(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.script("case", *[error(500, "oops")] * FAILURES_TO_OPEN, hang, HELLO)
    for _ in range(3):
        with pytest.raises((errors.Unavailable, errors.BreakerOpen)):
            await client.complete(ask(url), record=records.append)
    monkeypatch.setattr("llm.health.OPEN_FOR_S", 0.0)
    probe = asyncio.create_task(client.complete(ask(url), record=records.append))
    await until(lambda: len(server.requests["case"]) > FAILURES_TO_OPEN)
    probe.cancel()
    await asyncio.gather(probe, return_exceptions=True)
    assert (await client.complete(ask(url), record=records.append)).text == "Hello"


async def test_a_failing_endpoint_is_paused_and_others_are_not(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    broken, healthy = server.script("broken", error(500, "oops")), server.script("healthy", HELLO)
    for _ in range(3):
        with pytest.raises((errors.Unavailable, errors.BreakerOpen)):
            await client.complete(ask(broken), record=records.append)
    with pytest.raises(errors.BreakerOpen):
        await client.complete(ask(broken), record=records.append)
    assert len(server.requests["broken"]) == FAILURES_TO_OPEN
    assert (records[-1].error_code, records[-1].attempts) == ("breaker_open", 0)
    assert (await client.complete(ask(healthy), record=records.append)).text == "Hello"


async def test_what_one_tenant_sends_does_not_pause_the_endpoint_for_another(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", *[error(500, "The prompt is odd.")] * FAILURES_TO_OPEN, HELLO)
    with on_behalf_of(uuid4()):
        for _ in range(3):
            with pytest.raises((errors.Unavailable, errors.BreakerOpen)):
                await client.complete(ask(url), record=records.append)
    with on_behalf_of(uuid4()):
        assert (await client.complete(ask(url), record=records.append)).text == "Hello"


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(clock=clock)
    for _ in range(FAILURES_TO_OPEN):
        assert breaker.refusal() is None
        breaker.failed()
    assert breaker.refusal() is not None
    return breaker


def test_a_refused_call_names_the_failure_that_opened_the_breaker() -> None:
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN):
        breaker.failed("The model endpoint answered 500.")
    assert str(breaker.refusal()).endswith("The model endpoint answered 500.")


def test_a_successful_probe_closes_the_breaker() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += OPEN_FOR_S
    assert breaker.refusal() is None
    assert breaker.refusal() is not None
    breaker.succeeded()
    assert breaker.refusal() is None


def test_a_failed_probe_reopens_the_breaker() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += OPEN_FOR_S
    assert breaker.refusal() is None
    breaker.failed()
    assert breaker.refusal() is not None


def test_the_endpoint_is_probed_after_a_second() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += 1.0
    assert breaker.refusal() is None


def test_each_failed_probe_doubles_the_pause_up_to_a_limit() -> None:
    clock = Clock()
    breaker = opened(clock)
    pauses = []
    for _ in range(5):
        opened_at = clock.now
        while breaker.refusal() is not None:
            clock.now += 0.5
        pauses.append(clock.now - opened_at)
        breaker.failed()
    assert pauses == [1.0, 2.0, 4.0, 8.0, 8.0]


def test_a_call_that_began_before_the_breaker_opened_does_not_prolong_the_pause() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += OPEN_FOR_S / 2
    breaker.failed()
    clock.now += OPEN_FOR_S / 2
    assert breaker.refusal() is None


def test_a_probe_that_times_out_reopens_the_breaker() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += OPEN_FOR_S
    assert breaker.refusal() is None
    breaker.abandoned()
    breaker.failed()
    assert breaker.refusal() is not None


def test_a_canceled_probe_allows_another() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += OPEN_FOR_S
    assert breaker.refusal() is None
    breaker.abandoned()
    assert breaker.refusal() is None


def test_a_success_resets_the_failure_count() -> None:
    breaker = Breaker()
    for _ in range(3):
        for _ in range(FAILURES_TO_OPEN - 1):
            breaker.failed()
        assert breaker.refusal() is None
        breaker.succeeded()


def test_one_retry_is_allowed_for_ten_calls() -> None:
    budget = RetryBudget(clock=Clock())
    for _ in range(200):
        budget.count_call()
    assert sum(budget.take() for _ in range(100)) == 20


def test_an_idle_endpoint_has_a_few_retries_per_minute() -> None:
    clock = Clock()
    budget = RetryBudget(clock=clock)
    assert sum(budget.take() for _ in range(100)) == RETRY_FLOOR
    clock.now += 61
    assert sum(budget.take() for _ in range(100)) == RETRY_FLOOR
