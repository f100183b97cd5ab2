"""Look-ups of names: a tenant's silent names leave threads for everybody else."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from outbound import guard as guard_module
from outbound.errors import NotSent
from outbound.fair_threads import FairThreads
from outbound.guard import Guard, system_resolver
from outbound.tenant import current_tenant, on_behalf_of

SILENT = ".silent.example"


class SilentNames:
    """The system's resolver, which waits for ever on silent names and gives every other a public address."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.end = threading.Event()

    def getaddrinfo(self, host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        if host.endswith(SILENT):
            self.end.wait(60)
            raise socket.gaierror("no answer")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("203.0.113.7", port))]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[SilentNames]:
    names = SilentNames()
    monkeypatch.setattr(socket, "getaddrinfo", names.getaddrinfo)
    monkeypatch.setattr(guard_module, "_resolver_threads", FairThreads(32, name="test-names"))
    yield names
    names.end.set()


async def look_up_silent(count: int) -> list[asyncio.Task[list[str]]]:
    return [asyncio.create_task(system_resolver(f"{number}{SILENT}", 443)) for number in range(count)]


async def test_silent_names_of_one_tenant_leave_threads_for_another(names: SilentNames) -> None:
    """Forty silent names made the look-ups of good ones fail."""
    with on_behalf_of(uuid4()):
        silent = await look_up_silent(40)
    with on_behalf_of(uuid4()):
        found = await asyncio.wait_for(system_resolver("good.example", 443), 30)
    assert found == ["203.0.113.7"]
    assert not any(task.done() for task in silent)
    names.end.set()
    await asyncio.gather(*silent, return_exceptions=True)


async def test_a_tenants_look_ups_beyond_its_share_wait_for_its_own(names: SilentNames) -> None:
    with on_behalf_of(uuid4()):
        silent = await look_up_silent(40)
        while len(names.asked) < 16:
            await asyncio.sleep(0.005)
        waiting = asyncio.create_task(system_resolver("good.example", 443))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        names.end.set()
        assert await asyncio.wait_for(waiting, 30) == ["203.0.113.7"]
    await asyncio.gather(*silent, return_exceptions=True)
    assert len(names.asked) == 41


async def test_a_silent_name_is_reported_before_the_deadline_of_a_request(
    names: SilentNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard_module, "RESOLVE_SECONDS", 0.05)
    with pytest.raises(NotSent, match="was not resolved") as caught:
        await Guard().request("POST", f"https://hooks{SILENT}/", deadline_s=60)
    assert caught.value.reason == "dns"


async def test_a_canceled_look_up_that_waits_takes_no_thread(names: SilentNames) -> None:
    with on_behalf_of(uuid4()):
        silent = await look_up_silent(16)
        while len(names.asked) < 16:
            await asyncio.sleep(0.005)
        [abandoned] = await look_up_silent(1)
        await asyncio.sleep(0)
        abandoned.cancel()
        await asyncio.gather(abandoned, return_exceptions=True)
        names.end.set()
        await asyncio.gather(*silent, return_exceptions=True)
    assert len(names.asked) == 16


def test_a_free_thread_is_used_even_if_one_is_left() -> None:
    threads = FairThreads(1, name="test-one")
    assert threads.submit(uuid4(), lambda: 7).result(10) == 7


def test_a_tenant_whose_calls_wait_is_crowded() -> None:
    threads, pressing, other = FairThreads(4, name="test-crowded"), uuid4(), uuid4()
    end = threading.Event()
    calls = [threads.submit(pressing, lambda: end.wait(60)) for _ in range(5)]
    calls.append(threads.submit(other, lambda: end.wait(60)))
    assert (threads.crowded(3), threads.crowded(4)) == ({pressing}, frozenset())
    end.set()
    assert all(call.result(10) for call in calls)
    assert threads.crowded(1) == frozenset()


def test_waiting_tenants_take_turns() -> None:
    threads, order = FairThreads(1, name="test-turns"), []
    first, second, end = uuid4(), uuid4(), threading.Event()
    threads.submit(uuid4(), lambda: end.wait(60))
    calls = [threads.submit(tenant, lambda name=tenant: order.append(name)) for tenant in (first, first, second)]
    end.set()
    for call in calls:
        call.result(10)
    assert order == [first, second, first]


def test_an_error_in_a_thread_reaches_the_caller_and_frees_the_thread() -> None:
    threads = FairThreads(1, name="test-error")
    tenant = uuid4()
    with pytest.raises(ZeroDivisionError):
        threads.submit(tenant, lambda: 1 / 0).result(10)
    assert threads.submit(tenant, lambda: 7).result(10) == 7


async def test_tasks_and_threads_inherit_the_tenant() -> None:
    tenant = uuid4()
    with on_behalf_of(tenant):
        task = asyncio.create_task(asyncio.to_thread(current_tenant))
    assert await task == tenant
    assert current_tenant() != tenant
