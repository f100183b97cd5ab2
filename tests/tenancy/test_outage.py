"""During an outage one thread at a time tries to connect, and the others fail at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError

from tenancy.postgresql.outage import Outage


@pytest.fixture
def outage() -> Outage:
    outage = Outage()
    outage.begin()
    return outage


@pytest.fixture
def other() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


def attempt(outage: Outage) -> None:
    with outage.attempt():
        pass


def test_a_success_ends_the_outage(outage: Outage) -> None:
    attempt(outage)
    assert not outage.is_on


def test_a_failure_does_not_end_the_outage(outage: Outage) -> None:
    with pytest.raises(OSError, match="unreachable"), outage.attempt():
        raise OSError("unreachable")
    assert outage.is_on
    attempt(outage)
    assert not outage.is_on


def test_others_fail_while_one_tries(outage: Outage, other: ThreadPoolExecutor) -> None:
    with outage.attempt(), pytest.raises(OperationalError):
        other.submit(attempt, outage).result()


def test_others_connect_when_the_first_attempt_succeeds_soon(
    outage: Outage, other: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenancy.postgresql.outage.PATIENCE_SECONDS", 60)
    waits = threading.Event()
    with outage.attempt():
        waiting = other.submit(lambda: (waits.set(), attempt(outage)))
        waits.wait()
    waiting.result()
    assert not outage.is_on


def test_without_an_outage_everyone_connects_at_once(other: ThreadPoolExecutor) -> None:
    reachable = Outage()
    with reachable.attempt():
        other.submit(attempt, reachable).result()
