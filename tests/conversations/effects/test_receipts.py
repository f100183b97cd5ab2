"""A text's promise is kept when the text was delivered, and broken when the provider says that it failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.db.models.functions import Now
from django.test import Client

from conversations.models import Delivery
from conversations.promises.make_good import draft_make_goods
from conversations.tool_runs.effects.receipts import NO_RECEIPT, end_overdue_receipts
from conversations.turns.services import give_fields
from notices.models import Notice, NoticeKind
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from tests.conftest import Tenant
from tests.conversations.effects.conftest import Bench
from tests.processes import ForkServer, ScriptedModel, until
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.reporting import PUBLIC, report
from tests.tools.messaging.twilio_server import FROM, MESSAGE_SID, SID, TOKEN, Call, TwilioServer
from todos.models import Todo, TodoSource
from tools.engine.promises import STAFF_DEADLINE, break_overdue_promises
from tools.models import Effect, Promise

SWITCHED_OFF = "30003"
OLD_SID = "SM" + "0" * 32


@dataclass
class Texts:
    """A conversation whose agent promises texts, and a Twilio that reports on them."""

    bench: Bench
    server: TwilioServer
    model: ScriptedModel

    @property
    def call(self) -> Call:
        """The newest request to Twilio."""
        return self.server.script.calls[-1]

    def plan(self) -> Effect:
        self.model.script("arguments", json={"text": "Your table: Friday at 20:00."})
        [effect] = self.bench.plan("send_sms_tool", quote="I'll text you the details.")
        return effect

    def send(self) -> Effect:
        effect = self.plan()
        self.bench.run()
        return self.bench.effect(effect)

    def promise(self) -> Promise:
        with self.bench.tenant.tx():
            return Promise.objects.get()

    def state(self) -> tuple[str, str, str]:
        """The effect's state, and the promise's with its evidence."""
        promise = self.promise()
        with self.bench.tenant.tx():
            return Effect.objects.get().state, promise.state, promise.evidence

    def let_time_pass(self) -> None:
        """Let the time for a receipt pass, and sweep."""
        with self.bench.tenant.tx():
            Effect.objects.update(receipt_due_at=Now() - timedelta(seconds=1))
            Promise.objects.update(due_at=Now() - timedelta(seconds=1))
        end_overdue_receipts()
        break_overdue_promises()

    def make_goods(self) -> list[Todo]:
        draft_make_goods()
        self.bench.run("make_good")
        with self.bench.tenant.tx():
            return list(Todo.objects.filter(source=TodoSource.MAKE_GOOD))

    def told(self) -> list[str]:
        return self.bench.urgent()


@pytest.fixture
def twilio_api() -> Iterator[TwilioServer]:
    with TwilioServer() as server:
        yield server


@pytest.fixture
def texts(bench: Bench, twilio_api: TwilioServer, model: ScriptedModel, settings: Any) -> Texts:
    settings.BASE_URL = PUBLIC
    with bench.tenant.tx():
        give_fields(bench.talk.conversation.persona, {"phone": "+393331234567"})
    connect_twilio(bench.tenant, twilio_api.url)
    return Texts(bench, twilio_api, model)


# The way of a text


def test_a_text_names_our_address_its_connection_and_its_effect(texts: Texts) -> None:
    effect = texts.send()
    address, _, query = texts.call.form["StatusCallback"].partition("?")
    assert address == f"{PUBLIC}/hooks/twilio/status"
    assert query.startswith("source=")
    assert query.endswith(f"&effect={effect.effect_key}")


def test_a_text_that_was_sent_keeps_no_promise_until_it_was_delivered(texts: Texts) -> None:
    effect = texts.send()
    promise = texts.promise()
    assert texts.state() == ("done", "open", "sent")
    assert (promise.owner, promise.due_at > effect.receipt_due_at) == ("tool", True)


@pytest.mark.parametrize("state", ["delivered", "read"])
def test_a_delivered_text_keeps_its_promise(texts: Texts, state: str) -> None:
    texts.send()
    assert report(texts.call, state).status_code == 200
    assert texts.state() == ("done", "kept", "delivered")


def test_an_undelivered_text_breaks_its_promise_and_drafts_a_correction(texts: Texts) -> None:
    texts.send()
    report(texts.call, "undelivered", ErrorCode=SWITCHED_OFF)
    assert texts.state() == ("failed", "broken", "")
    assert "switched off" in texts.promise().reason
    [todo] = texts.make_goods()
    assert "switched off" in todo.description


def test_the_agent_is_told_of_a_text_that_failed(texts: Texts) -> None:
    texts.send()
    report(texts.call, "undelivered", ErrorCode=SWITCHED_OFF)
    [said] = texts.told()
    assert "switched off" in said


def test_a_receipt_is_in_the_live_stream(texts: Texts) -> None:
    texts.send()
    report(texts.call, "delivered")
    [event] = texts.bench.events("effect_receipt")
    assert event["receipt"]["state"] == "delivered"


# Exactly once


def test_repeated_and_reordered_reports_settle_the_promise_once(texts: Texts) -> None:
    texts.send()
    for state in ("delivered", "sent", "queued", "delivered", "undelivered", "failed"):
        assert report(texts.call, state).status_code == 200
    assert texts.state() == ("done", "kept", "delivered")
    assert len(texts.bench.events("effect_receipt")) == 1


def test_a_failure_is_final(texts: Texts) -> None:
    texts.send()
    report(texts.call, "failed", ErrorCode=SWITCHED_OFF)
    report(texts.call, "delivered")
    assert texts.state() == ("failed", "broken", "")


@pytest.mark.parametrize(
    ("state", "end"), [("delivered", ("done", "kept", "delivered")), ("failed", ("failed", "broken", ""))]
)
def test_a_report_that_comes_before_our_commit_counts(texts: Texts, state: str, end: tuple[str, str, str]) -> None:
    """Twilio reports while we still wait for its answer."""

    def report_at_once(call: Call) -> None:
        assert report(call, state).status_code == 200
        connections.close_all()

    texts.server.script.before_answer = report_at_once
    texts.send()
    assert texts.state() == end


@pytest.mark.short_leases
@pytest.mark.parametrize(
    ("state", "end"),
    [
        ("delivered", ("done", "kept", "delivered")),
        ("sent", ("done", "open", "sent")),
        ("undelivered", ("failed", "broken", "")),
    ],
)
def test_a_report_says_what_became_of_a_text_whose_worker_died(
    texts: Texts, processes: ForkServer, state: str, end: tuple[str, str, str]
) -> None:
    texts.plan()
    processes.worker(crash_at="effect.response_pre_commit:1", address=PUBLIC).wait()
    processes.worker(address=PUBLIC)
    until(lambda: texts.state()[0] == "unknown", what="the unknown outcome")
    assert report(texts.call, state).status_code == 200
    assert (texts.state(), len(texts.server.script.calls)) == (end, 1)


@pytest.mark.short_leases
def test_a_report_that_comes_before_the_next_worker_counts(texts: Texts, processes: ForkServer) -> None:
    effect = texts.plan()
    processes.worker(crash_at="effect.response_pre_commit:1", address=PUBLIC).wait()
    assert report(texts.call, "delivered").status_code == 200
    assert texts.bench.effect(effect).state == "sending"
    processes.worker(address=PUBLIC)
    until(lambda: texts.state() == ("done", "kept", "delivered"), what="the kept promise")
    assert len(texts.server.script.calls) == 1


def test_a_report_without_the_name_of_its_effect_is_found_by_its_message(texts: Texts) -> None:
    texts.send()
    texts.call.form["StatusCallback"] = f"{PUBLIC}/hooks/twilio/status"
    report(texts.call, "delivered")
    assert texts.state() == ("done", "kept", "delivered")


@pytest.mark.short_leases
def test_a_late_failure_of_the_first_text_is_not_that_of_the_second(
    texts: Texts, api: Client, processes: ForkServer
) -> None:
    """The worker of the second dies, so that only a report can say what became of it."""
    texts.server.script.sid = OLD_SID
    effect = texts.send()
    texts.let_time_pass()
    api.post(f"/api/v1/effects/{effect.pk}/resolve", {"happened": False}, content_type="application/json")
    report(texts.call, "undelivered", sid=OLD_SID)
    texts.server.script.sid = MESSAGE_SID
    processes.worker(crash_at="effect.response_pre_commit:1", address=PUBLIC).wait()
    report(texts.call, "failed", sid=OLD_SID)
    processes.worker(address=PUBLIC)
    until(lambda: texts.bench.effect(effect).state == "unknown", what="the unknown outcome")
    report(texts.call, "delivered")
    assert texts.state() == ("done", "kept", "delivered")


def test_a_report_on_the_text_of_an_earlier_attempt_changes_nothing(texts: Texts, api: Client) -> None:
    texts.server.script.sid = OLD_SID
    effect = texts.send()
    texts.let_time_pass()
    api.post(f"/api/v1/effects/{effect.pk}/resolve", {"happened": False}, content_type="application/json")
    texts.server.script.sid = MESSAGE_SID
    texts.bench.run()
    report(texts.call, "undelivered", sid=OLD_SID)
    assert texts.bench.effect(effect).receipt == "sent"
    report(texts.call, "delivered")
    assert texts.state() == ("done", "kept", "delivered")


@pytest.mark.parametrize("token", ["wrong", ""])
def test_a_forged_report_stores_nothing(texts: Texts, token: str) -> None:
    texts.send()
    assert report(texts.call, "delivered", token=token).status_code == 401
    assert texts.state() == ("done", "open", "sent")


def test_another_project_of_the_account_gets_its_own_reports(texts: Texts, tenant: Tenant, stranger: Tenant) -> None:
    """Both have the same account and number; the address says whose text it was."""
    edit = SourceEdit({"account_sid": SID, "sender": FROM, "base_url": texts.server.url}, TOKEN)
    with stranger.tx():
        connect_source(stranger.project, KINDS["twilio"], edit, by=stranger.owner)
    texts.send()
    report(texts.call, "delivered")
    assert texts.state() == ("done", "kept", "delivered")
    with stranger.tx():
        assert not Delivery.objects.exists()


# Receipts that never come


def test_a_receipt_that_never_comes_is_unknown_and_asked_of_staff(texts: Texts) -> None:
    effect = texts.send()
    texts.let_time_pass()
    assert texts.state() == ("unknown", "open", "")
    promise = texts.promise()
    assert (promise.owner, promise.due_at - promise.created_at > STAFF_DEADLINE - timedelta(minutes=1)) == (
        "staff",
        True,
    )
    with texts.bench.tenant.tx():
        assert Notice.objects.filter(kind=NoticeKind.UNKNOWN, subject=effect.pk).exists()
    assert texts.bench.effect(effect).error == NO_RECEIPT


def test_the_customer_is_not_told_that_a_receipt_never_came(texts: Texts) -> None:
    texts.send()
    texts.let_time_pass()
    assert texts.told() == []


def test_the_time_for_a_receipt_is_a_setting_of_the_connection(texts: Texts, tenant: Tenant) -> None:
    settings = {"account_sid": SID, "sender": FROM, "base_url": texts.server.url, "receipt_hours": 2}
    with tenant.tx():
        connect_source(tenant.project, KINDS["twilio"], SourceEdit(settings, TOKEN), by=tenant.owner)
    effect = texts.send()
    assert effect.receipt_due_at - effect.receipt_at == timedelta(hours=2)


def test_a_receipt_that_comes_late_still_keeps_the_promise(texts: Texts) -> None:
    texts.send()
    texts.let_time_pass()
    report(texts.call, "delivered")
    assert texts.state() == ("done", "kept", "delivered")


def test_what_staff_says_of_an_unknown_text_stands(texts: Texts, api: Client) -> None:
    effect = texts.send()
    texts.let_time_pass()
    api.post(f"/api/v1/effects/{effect.pk}/resolve", {"happened": True}, content_type="application/json")
    report(texts.call, "undelivered")
    assert texts.state() == ("done", "kept", "person")


# Without receipts


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:8000", "http://localhost:8000", "http://10.0.0.5", "https://makegood", "http://a.local"],
)
def test_without_a_public_address_a_sent_text_keeps_its_promise(texts: Texts, settings: Any, address: str) -> None:
    settings.BASE_URL = address
    texts.send()
    assert "StatusCallback" not in texts.call.form
    assert texts.state() == ("done", "kept", "effect")


def test_the_api_shows_the_receipt(texts: Texts, api: Client) -> None:
    effect = texts.send()
    report(texts.call, "undelivered", ErrorCode=SWITCHED_OFF)
    receipt = api.get(f"/api/v1/effects/{effect.pk}").json()["receipt"]
    assert receipt["state"] == "failed"
    assert "switched off" in receipt["reason"]
