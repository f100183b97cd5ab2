"""2,000 approval races, with real threads, connections and requests."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest

from projects.models import Role
from tests.conftest import Tenant
from tests.conversations.effects.target import target_server
from tests.todos.conftest import REFUND, Desk, refund_tool
from tests.todos.racing import Races
from tools.engine.custom import service as custom_tools

pytestmark = pytest.mark.slow

RACES = int(os.environ.get("APPROVAL_RACES", "2000"))


def test_two_thousand_races_pay_nothing_twice_and_nothing_unapproved(
    tenant: Tenant, settings: Any, capsys: Any
) -> None:
    """No double runs and no runs of unapproved content; 0 of 2,000 puts the rate below 0.15 % (95 %)."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    desk = Desk(tenant)
    with tenant.tx():
        custom_tools.save(tenant.project, name=REFUND, document=refund_tool())
    with target_server() as target:
        races = Races(desk, target, [desk.owner, desk.join(Role.OPERATOR, "clerk")], random.Random(20261121))
        races.save_tool()
        races.run(RACES)
        assert races.findings() == []
    ended = Counter(desk.now(todo).status for todo in races.todos)
    with capsys.disabled():
        print(f"\n{RACES} races: {len(races.paid())} paid, {dict(ended)}; refused: {dict(races.refused)}")
