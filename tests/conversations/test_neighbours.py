"""A tenant under whose load another tenant's customers must not wait. Real workers, real sockets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from conversations.models import Message
from tests.conftest import Tenant
from tests.conversations.conftest import begin
from tests.conversations.pipeline.conftest import configure
from tests.processes import ScriptedModel, until

# More than a worker's reply slots
CUSTOMERS = 260
SLOW = "Are you there, slow one?"


@pytest.fixture
def pressing(tenant: Tenant, model: ScriptedModel) -> Tenant:
    """A tenant with a message in each of many conversations, whose model answers none."""
    model.script("reply", match=SLOW, times=0, fault="hang")

    def write(number: int) -> None:
        begin(tenant, external_id=f"customer {number}").say(SLOW)
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(CUSTOMERS)))
    return tenant


def replies(tenant: Tenant) -> int:
    with tenant.tx():
        return Message.objects.filter(role="agent").count()


@pytest.mark.parametrize("has_own_model", [True, False])
def test_a_slow_model_holds_up_no_other_tenant(
    has_own_model: bool, pressing: Tenant, stranger: Tenant, model: ScriptedModel, processes
) -> None:
    """It took all 256 reply slots, until the first calls exceeded their deadline: another tenant waited 45 s."""
    if has_own_model:
        configure(pressing, model_base_url=model.base_url)
    processes.worker()
    until(lambda: model.log()["in_flight"] >= 60, what="the slow calls")
    model.script("reply", text="Good evening!")
    turn = begin(stranger).say("Hello")
    until(lambda: replies(stranger) == 1, what=f"the reply to turn {turn.pk}")
    assert replies(pressing) == 0
