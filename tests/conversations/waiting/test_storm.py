"""A thousand waits whose results arrive, arrive twice, late or never, while sweeps race with them."""

from __future__ import annotations

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal

import pytest
from django.db import connections
from django.db.models import F

from conversations.common.queries import open_waits_of
from conversations.followups.waits import end_overdue_waits, is_waiting
from conversations.models import Event, Wait
from tests.conftest import Tenant
from tests.conversations.conftest import Talk
from tests.conversations.waiting.conftest import answered, awaited, begin, end

CONVERSATIONS, WAITS_EACH, THREADS = 50, 20, 12
LONGEST = 0.5


@pytest.mark.slow
def test_a_thousand_waits_each_end_once_and_on_time(tenant: Tenant) -> None:
    dice = random.Random(7)
    talks = [begin(tenant, external_id=f"guest-{number}") for number in range(CONVERSATIONS)]
    turns = {talk.conversation.pk: answered(talk) for talk in talks}
    over = Signal()
    plans = [
        (talk, dice.uniform(0.05, LONGEST), dice.choice(["once", "twice", "late", "never"]))
        for talk in talks
        for _ in range(WAITS_EACH)
    ]
    dice.shuffle(plans)

    def live(plan: tuple[Talk, float, str]) -> None:
        talk, seconds, kind = plan
        try:
            effect = awaited(talk, turns[talk.conversation.pk], seconds=seconds)
            if kind == "never":
                return
            time.sleep(seconds + 0.2 if kind == "late" else seconds * random.random())
            for _ in range(1 + (kind == "twice")):
                end(talk, effect)
        finally:
            connections.close_all()

    def sweep() -> None:
        try:
            while not over.is_set():
                end_overdue_waits()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(THREADS + 2) as pool:
        sweeps = [pool.submit(sweep) for _ in range(2)]
        list(pool.map(live, plans))
        until_none_is_open(tenant, talks)
        over.set()
        [one.result(timeout=30) for one in sweeps]
    check(tenant)


def until_none_is_open(tenant: Tenant, talks: list[Talk]) -> None:
    """By the clock alone: no wait is open once the longest one is over."""
    time.sleep(LONGEST)
    with tenant.tx():
        assert not any(is_waiting(talk.conversation.pk) for talk in talks)
        assert not any(open_waits_of(talk.conversation.pk) for talk in talks)
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        with tenant.tx():
            if not Wait.objects.filter(ended_at=None).exists():
                return
        time.sleep(0.05)
    raise AssertionError("Some waits were never ended.")


def check(tenant: Tenant) -> None:
    with tenant.tx():
        outcomes = Counter(Wait.objects.values_list("outcome", flat=True))
        ended = Counter(Event.objects.filter(idn="waiting_ended").values_list("payload__effect", flat=True))
        told = Counter(Event.objects.filter(idn="urgent_message").values_list("payload__effect", flat=True))
        late = set(Wait.objects.exclude(late_at=None).values_list("effect_id", flat=True))
        assert not Wait.objects.filter(outcome="timeout", ended_at__lt=F("until")).exists()
    assert sum(outcomes.values()) == CONVERSATIONS * WAITS_EACH
    assert set(outcomes) == {"result", "timeout"}
    assert set(ended.values()) == {1}
    assert len(ended) == CONVERSATIONS * WAITS_EACH
    assert {effect: count for effect, count in told.items() if count != 1} == {str(effect): 2 for effect in late}
