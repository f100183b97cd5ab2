"""A storm over planned effects: nothing is lost, repeated, or wrongly reported as done."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import Error as DatabaseError

from jobs.models import LIVE, Job, State
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin
from tests.conversations.effects.target import Answers, target_server
from tests.processes import Child, ForkServer, until
from tests.storms import planted
from tests.storms.checker import findings
from tests.storms.faults import Storm, forget_connections
from tests.storms.planning import plan, save_tools
from tests.storms.world import World
from tools.models import Effect

pytestmark = [pytest.mark.slow, pytest.mark.short_leases]

# The nightly run has the full storm; a smaller one helps while changing this code.
FAULTS = int(os.environ.get("STORM_FAULTS", "300"))
EFFECTS = int(os.environ.get("STORM_EFFECTS", "2000"))
CONVERSATIONS = EFFECTS // 10
# Pause between faults: long enough for workers to start, short enough that many are busy at the next fault.
PAUSE_SECONDS = (0.2, 1.8)
# Pauses between attempts take minutes; the storm skips them.
HURRY = "2020-01-01T00:00:00Z"


@pytest.fixture
def world(settings: Any) -> Iterator[World]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as target:
        yield World(target, random.Random(20261121))


def test_a_storm_loses_and_repeats_nothing(
    tenant: Tenant, processes: ForkServer, servers: Any, world: World, capsys: Any, model: Any
) -> None:
    """300 faults over 2,000 planned effects: none lost, no repeated `once`, no false `done`, every `unknown` shown."""
    talks = [begin(tenant, external_id=f"guest {number}") for number in range(CONVERSATIONS)]
    names = save_tools(talks[0], world.target.url)
    storm = Storm(processes, servers, random.Random(7))
    storm.begin()
    planned, started = 0, time.monotonic()
    for struck in range(FAULTS):
        due = EFFECTS * (struck + 1) // FAULTS
        planned += patiently(
            lambda first=planned, count=due - planned: len(plan(talks, names, first=first, count=count))
        )
        storm.strike()
        time.sleep(storm.chance.uniform(*PAUSE_SECONDS))
        patiently(lambda: hurry(tenant))
    settled_in = settle(tenant, storm)
    found = findings(tenant, world)
    with capsys.disabled():
        print(figures(tenant, world, storm, seconds=time.monotonic() - started, settled_in=settled_in))
    assert found == [], "\n".join(found[:40])


def patiently(work: Any) -> Any:
    """Retry while PostgreSQL is down."""
    while True:
        try:
            return work()
        except DatabaseError:
            forget_connections()
            time.sleep(0.2)


def hurry(tenant: Tenant) -> None:
    with tenant.tx():
        Job.objects.filter(lane="effect", state=State.QUEUED).update(run_after=HURRY)


def settle(tenant: Tenant, storm: Storm, *, seconds: float = 300) -> float:
    """Wait until no effect has work left. Returns how many seconds after the last fault that was."""
    started = time.monotonic()

    def settled() -> bool:
        storm.keep_alive()
        patiently(lambda: hurry(tenant))
        time.sleep(0.2)
        return bool(patiently(lambda: not live(tenant)))

    while not settled():
        assert time.monotonic() < started + seconds, f"work is left after {seconds} s: {left(tenant)}"
    return time.monotonic() - started


def left(tenant: Tenant) -> list[tuple[Any, ...]]:
    """The jobs that never end, for debugging."""
    with tenant.tx():
        rows = Job.objects.filter(lane="effect", state__in=LIVE)
        return list(rows.values_list("state", "key", "attempts", "run_after", "lease_until", "error"))[:20]


def live(tenant: Tenant) -> bool:
    with tenant.tx():
        return Job.objects.filter(lane="effect", state__in=LIVE).exists()


def figures(tenant: Tenant, world: World, storm: Storm, *, seconds: float, settled_in: float) -> str:
    with tenant.tx():
        states = Counter(Effect.objects.values_list("delivery", "state"))
        attempts = Counter(Effect.objects.values_list("attempts", flat=True))
        unknown = list(Effect.objects.filter(state="unknown").values_list("effect_key", flat=True))
        whys = Counter(Effect.objects.filter(state__in=("unknown", "failed")).values_list("state", "error"))
    happened = sum(world.done[key] > 0 for key in unknown)
    return (
        f"\n{sum(storm.counts.values())} faults {dict(storm.counts)} in {seconds:.0f} s; {sum(states.values())} effects\n"
        f"  states {dict(states)}\n  attempts {dict(attempts)}\n"
        f"  requests {world.keys.total()}, carried out {world.done.total()}\n"
        f"  unknown: {len(unknown)}, of which {happened} had happened\n"
        f"  why {dict(whys.most_common(12))}\n  settled {settled_in:.1f} s after the last fault\n"
    )


# The checker itself


@pytest.fixture
def talk(tenant: Tenant, world: World) -> Talk:
    return begin(tenant)


def worker_with(bug: str, processes: ForkServer, *, crash_at: str = "") -> Child:
    return processes.start("worker", crash_at=crash_at, queues="replies,work", planted=bug)


def after_a_while(tenant: Tenant, world: World) -> list[str]:
    """The checker's findings once nothing more happens."""
    ends_at = time.monotonic() + 20
    while live(tenant) and time.monotonic() < ends_at:
        hurry(tenant)
        time.sleep(0.2)
    return findings(tenant, world)


def calm(world: World, *, hangs: float = 0) -> None:
    """A target that does what it is asked, slowly."""

    def answer(heard: Any) -> Answers:
        with world.lock:
            world.keys[heard.key] += 1
            world.done[heard.key] += 1
            world.objects.setdefault(f"{heard.path} {heard.body.decode()}", set()).add(heard.key)
        return Answers(hangs=hangs)

    world.target.answers_by(answer)


def reached(world: World) -> bool:
    return bool(world.keys)


@pytest.mark.parametrize("is_planted", [True, False])
def test_a_missing_token_check_is_found(
    is_planted: bool, tenant: Tenant, talk: Talk, processes: ForkServer, world: World
) -> None:
    """A worker sleeps past its lease, another takes over, and the first one still writes."""
    calm(world, hangs=0.5)
    bug = "no_token_check" if is_planted else ""
    frozen = worker_with(bug, processes)
    plan([talk], save_tools(talk, world.target.url)[:1], first=1, count=1)
    until(lambda: reached(world), what="the request")
    frozen.signal(signal.SIGSTOP)
    worker_with(bug, processes)
    until(lambda: not live(tenant), what="the other worker")
    frozen.signal(signal.SIGCONT)
    time.sleep(2)
    assert bool(after_a_while(tenant, world)) is is_planted


@pytest.mark.parametrize("is_planted", [True, False])
def test_a_missing_sending_commit_is_found(
    is_planted: bool, tenant: Tenant, talk: Talk, processes: ForkServer, world: World
) -> None:
    calm(world)
    bug = "no_sending_commit" if is_planted else ""
    doomed = worker_with(bug, processes, crash_at="effect.response_pre_commit:1")
    plan([talk], save_tools(talk, world.target.url)[:1], first=1, count=1)
    doomed.wait()
    worker_with(bug, processes)
    found = after_a_while(tenant, world)
    assert [line for line in found if "was sent 2 times" in line] if is_planted else found == []


@pytest.mark.parametrize("is_planted", [True, False])
def test_a_missing_sweep_is_found(
    is_planted: bool, tenant: Tenant, talk: Talk, processes: ForkServer, world: World
) -> None:
    calm(world)
    bug = "no_sweep" if is_planted else ""
    doomed = worker_with(bug, processes, crash_at="effect.sending_pre_bytes:1")
    plan([talk], save_tools(talk, world.target.url)[:1], first=1, count=1)
    doomed.wait()
    worker_with(bug, processes)
    found = after_a_while(tenant, world)
    assert [line for line in found if "is lost" in line] if is_planted else found == []


@pytest.mark.parametrize("is_planted", [True, False])
def test_a_missing_repeat_guard_is_found(
    is_planted: bool, tenant: Tenant, talk: Talk, processes: ForkServer, world: World
) -> None:
    calm(world)
    worker_with("no_repeat_guard" if is_planted else "", processes)
    plan([talk], save_tools(talk, world.target.url)[:1], first=10, count=1)
    found = after_a_while(tenant, world)
    assert [line for line in found if "by different promises" in line] if is_planted else found == []


def test_work_queued_only_in_redis_is_found(tenant: Tenant, talk: Talk, processes: ForkServer, world: World) -> None:
    """Redis is wiped while the work is only there."""
    calm(world)
    effects = plan([talk], save_tools(talk, world.target.url)[:1], first=1, count=6, is_queued=False)
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.rpush(planted.QUEUE, *(f"{tenant.organization.pk} {effect.pk}" for effect in effects))
        client.flushall()
    worker_with("hint_instead_of_row", processes)
    time.sleep(2)
    assert [line for line in after_a_while(tenant, world) if "is lost" in line]
