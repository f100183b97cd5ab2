"""Approval races with real threads, connections and requests: no double runs, no unapproved runs.

The first hundred are here; tests/storms runs two thousand.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from projects.models import Member
from tests.conversations.effects.target import target_server
from tests.todos.conftest import Desk
from tests.todos.racing import CALM, SWAPPED, Races
from todos.approvals import validity
from todos.models import Todo


@pytest.fixture
def races(desk: Desk, owner: Member, clerk: Member, settings: Any) -> Iterator[Races]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as target:
        races = Races(desk, target, [owner, clerk], random.Random(20261121))
        races.save_tool()
        yield races


def test_a_hundred_races_never_pay_twice_or_unapproved(races: Races) -> None:
    """Not even if a person pays by hand at the same time."""
    races.run(100)
    assert races.findings() == []
    assert {str(order) for order in range(CALM)} <= races.paid()


def test_an_amount_changed_after_approval_is_not_paid(races: Races, owner: Member) -> None:
    """The todo returns to review."""
    todo = approved_and_swapped(races, owner)
    races.run(0)
    now = races.desk.now(todo)
    assert (races.target.log, now.status, now.version) == ([], "pending_review", 2)
    assert now.reason == "Changed after approval: arguments."


def test_the_checker_finds_an_unapproved_run(races: Races, owner: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the comparison of hashes disabled, the money is paid."""
    monkeypatch.setattr(validity, "_require_same", lambda todo, approval, contacts: None)
    approved_and_swapped(races, owner)
    races.run(0)
    [found] = races.findings()
    assert (found.startswith("nobody has seen"), str(SWAPPED) in found) == (True, True)


def approved_and_swapped(races: Races, owner: Member) -> Todo:
    desk = races.desk
    todo = desk.refund(arguments={"body": {"amount": 82, "order": "0"}})
    races.todos.append(todo)
    desk.approve(todo, owner)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(arguments={"body": {"amount": SWAPPED, "order": "0"}})
    return todo
