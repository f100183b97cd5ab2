"""Receipts of a conversation's messages: live, by the name of the effect, and those that never come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from conversations.channels.twilio import MESSAGES
from conversations.models import Event, Receipt
from conversations.tool_runs.effects.receipts import end_overdue_receipts
from tests.conftest import Tenant
from tests.conversations.channels.twilio_number import Number
from tests.processes import ForkServer, ScriptedModel, until
from tests.tools.messaging.reporting import PUBLIC, report
from tests.tools.messaging.twilio_server import TwilioServer
from tools.models import Effect


@pytest.fixture
def number(tenant: Tenant, model: ScriptedModel, settings: Any) -> Iterator[Number]:
    """A number at a Twilio that can reach the product."""
    settings.OUTBOUND_ALLOW, settings.BASE_URL = ["127.0.0.1"], PUBLIC
    with TwilioServer() as server:
        number = Number(tenant, server)
        number.connect()
        yield number


def answered(number: Number, processes: ForkServer) -> Effect:
    """The effect of the agent's answer to a text, which Twilio has taken."""
    processes.worker(address=PUBLIC)
    number.post(MESSAGES, number.text())
    number.until_state("sent")
    [effect] = number.rows(Effect)
    return effect


def shown(number: Number) -> list[str]:
    """The receipts in the live stream."""
    with number.tenant.tx():
        events = Event.objects.filter(type="receipt").order_by("seq")
        return [event.payload["state"] for event in events]


def test_a_message_names_its_effect_and_its_receipts_are_live(number: Number, processes: ForkServer) -> None:
    effect = answered(number, processes)
    [call] = number.server.script.calls
    assert call.form["StatusCallback"].endswith(f"&effect={effect.effect_key}")
    for state in ("delivered", "read", "sent"):
        assert report(call, state).status_code == 200
    assert shown(number) == ["sent", "delivered", "read"]
    assert [one.state for one in number.rows(Receipt)] == ["read"]


def test_a_message_whose_receipt_never_comes_is_unknown(number: Number, processes: ForkServer) -> None:
    answered(number, processes)
    with number.tenant.tx():
        Effect.objects.update(receipt_due_at=Now() - timedelta(seconds=1))
    end_overdue_receipts()
    assert [one.state for one in number.rows(Receipt)] == ["unknown"]
    assert [one.state for one in number.rows(Effect)] == ["unknown"]


@pytest.mark.short_leases
def test_a_report_says_what_became_of_a_message_whose_worker_died(number: Number, processes: ForkServer) -> None:
    replies = processes.worker(queues="replies")
    doomed = processes.worker(queues="work", crash_at="channel.response_pre_commit:1", address=PUBLIC)
    number.post(MESSAGES, number.text())
    doomed.wait()
    processes.worker(queues="work", address=PUBLIC)
    number.until_state("unknown")
    [call] = number.server.script.calls
    assert report(call, "delivered").status_code == 200
    assert [one.state for one in number.rows(Receipt)] == ["delivered"]
    until(lambda: [one.state for one in number.rows(Effect)] == ["done"], what="the done effect")
    replies.kill()
