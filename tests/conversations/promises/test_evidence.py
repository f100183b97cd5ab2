"""Kept means happened: the evidence of promises, their owners, and acts that are no promises."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from tests.conftest import Tenant
from tests.conversations.promises.conftest import PROMISE, SMS, Desk
from tests.conversations.promises.test_promises import CHEF, due, ended, settled
from tools.engine.effect_decisions import confirm
from tools.engine.promises import (
    KEPT_LATE,
    STAFF_DEADLINE,
    UNSENT,
    break_overdue_promises,
    evidence_of,
    settle_promises,
)
from tools.engine.registry import builtin_tools
from tools.models import Effect, EffectState, Evidence, Promise, PromiseOwner

CREW = "notify_crew"
GOODBYE, LOOK_UP = "end_conversation_tool", "check_availability_tool"

PROMISES = {
    "book_appointment",
    "cancel_appointment",
    "cancel_booking_tool",
    "create_booking_tool",
    "create_meeting_tool",
    "open_ticket",
    "send_email",
    "send_email_to_caller",
    "send_email_tool",
    "send_manage_booking_url_tool",
    "send_portal_link",
    "send_sms",
    "send_sms_tool",
    "transfer_call",
    "transfer_call_tool",
}
ACTS = {
    "check_availability",
    "check_availability_tool",
    "check_product_or_service_availability",
    "check_verification_code",
    "check_zip_code_served_tool",
    "end_call",
    "end_conversation_tool",
    "escalate_to_human",
    "flag_caller",
    "lookup_appointment",
    "lookup_caller",
    "lookup_order",
    "query_knowledge",
    "search_booking_tool",
    "search_knowledge",
    "send_kb_article",
    "send_verification_code",
    "verify_caller",
}


def not_sent(desk: Desk) -> Promise:
    """The promise of a text that was written to the outbox."""
    return ended(desk, EffectState.DONE, adapter="outbox")


def event_promise(desk: Desk, **definition: Any) -> Promise:
    """The promise of a custom tool without an action, whose event is sent and not acknowledged."""
    desk.tool(CREW, **definition)
    desk.reads(CREW)
    desk.analyse(PROMISE)
    return settled(desk, EffectState.DONE, adapter="event")


# Evidence


def test_a_done_effect_keeps_its_promise_as_evidence(desk: Desk) -> None:
    promise = ended(desk, EffectState.DONE)
    assert (promise.state, promise.evidence, promise.owner) == ("kept", Evidence.EFFECT, "")


def test_a_message_in_the_outbox_keeps_no_promise(desk: Desk) -> None:
    promise = not_sent(desk)
    assert (promise.state, promise.evidence, promise.reason) == ("open", Evidence.OUTBOX, UNSENT)


def test_a_promise_that_was_not_sent_waits_for_staff_until_the_deadline_for_people(desk: Desk) -> None:
    promise = not_sent(desk)
    assert (promise.owner, promise.due_at - promise.created_at) == (PromiseOwner.STAFF, STAFF_DEADLINE)


def test_a_promise_that_was_not_sent_in_time_is_broken_because_no_provider_is_connected(desk: Desk) -> None:
    not_sent(desk)
    due(desk)
    break_overdue_promises()
    [promise] = desk.promises()
    assert (promise.state, promise.evidence, promise.reason) == ("broken", Evidence.OUTBOX, UNSENT)


def test_a_promise_that_broke_before_its_message_went_to_the_outbox_was_not_sent(desk: Desk) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    due(desk)
    break_overdue_promises()
    promise = settled(desk, EffectState.DONE, adapter="outbox")
    assert (promise.state, promise.evidence, promise.owner) == ("broken", Evidence.OUTBOX, "")


@pytest.mark.parametrize(("is_overdue", "reason"), [(False, ""), (True, KEPT_LATE)])
def test_a_message_that_a_provider_sends_later_keeps_its_promise(desk: Desk, is_overdue: bool, reason: str) -> None:
    not_sent(desk)
    if is_overdue:
        due(desk)
        break_overdue_promises()
    promise = settled(desk, EffectState.DONE, adapter="twilio")
    assert (promise.state, promise.evidence, promise.reason) == ("kept", Evidence.EFFECT, reason)


def test_a_persons_word_about_an_unknown_effect_is_the_evidence(desk: Desk) -> None:
    assert ended(desk, EffectState.UNKNOWN).owner == PromiseOwner.STAFF
    [effect] = desk.effects()
    with desk.tenant.tx():
        confirm(effect, by=None)
        settle_promises(effect)
    [promise] = desk.promises()
    assert (promise.state, promise.evidence) == ("kept", Evidence.PERSON)


def test_an_effect_that_ran_after_a_persons_answer_is_its_own_evidence(desk: Desk) -> None:
    """A person said that it had not happened, and it was sent again."""
    promise = ended(desk, EffectState.DONE, resolved_at=Now(), finished_at=timezone.now())
    assert promise.evidence == Evidence.EFFECT


# Events


def test_an_event_that_was_not_acknowledged_keeps_no_promise(desk: Desk) -> None:
    promise = event_promise(desk)
    assert (promise.state, promise.evidence, promise.owner) == ("open", Evidence.NONE, PromiseOwner.STAFF)


def test_an_event_that_was_acknowledged_keeps_its_promise(desk: Desk) -> None:
    event_promise(desk)
    [effect] = desk.effects()
    vars(effect)["acknowledged_at"] = timezone.now()
    with desk.tenant.tx():
        settle_promises(effect)
    [promise] = desk.promises()
    assert (promise.state, promise.evidence) == ("kept", Evidence.ACKNOWLEDGED)


@pytest.mark.parametrize("action", ["send_webhook", "send_urgent_message"])
def test_other_actions_are_evidence_once_done(desk: Desk, action: str) -> None:
    options = {"url": "https://example.com/"} if action == "send_webhook" else {"message": "Say so."}
    assert event_promise(desk, action={"type": action, "options": options}).evidence == Evidence.EFFECT


@pytest.mark.parametrize("state", [state for state in EffectState if state != EffectState.DONE])
def test_only_a_done_effect_is_evidence(tenant: Tenant, state: EffectState) -> None:
    with tenant.tx():
        effect = Effect(tool=SMS, definition={}, state=state, adapter="outbox")
    vars(effect)["acknowledged_at"] = timezone.now()
    assert evidence_of(effect) == Evidence.NONE


# Owners and deadlines


@pytest.mark.parametrize("state", EffectState)
def test_every_promise_ends_or_stands_open_with_an_owner_and_a_deadline(desk: Desk, state: EffectState) -> None:
    promise = ended(desk, state, adapter="outbox")
    if promise.state == "open":
        assert promise.owner
        due(desk)
        break_overdue_promises()
        promise = desk.promises()[0]
    assert promise.state in ("kept", "broken", "withdrawn")
    assert promise.closed_at is not None
    assert promise.owner == ""


def test_a_promise_with_a_tool_belongs_to_the_tool_and_one_without_to_staff(desk: Desk) -> None:
    desk.reads(SMS, unserved=[CHEF])
    turn = desk.analyse(f"{CHEF['quote']}. {PROMISE}")
    assert {promise["tool"]: promise["owner"] for promise in turn["promises"]} == {SMS: "tool", None: "staff"}


def test_a_retried_effect_takes_its_promise_back_from_staff(desk: Desk) -> None:
    ended(desk, EffectState.UNKNOWN)
    assert settled(desk, EffectState.PLANNED).owner == PromiseOwner.TOOL


@pytest.mark.parametrize(
    "change",
    [
        "state = 'kept', owner = ''",
        "state = 'kept', owner = '', evidence = 'outbox'",
        "evidence = 'effect'",
        "owner = ''",
        "state = 'broken'",
    ],
)
def test_the_database_refuses_a_promise_without_evidence_or_owner(desk: Desk, change: str) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    with (
        pytest.raises(IntegrityError, match=r"kept_by_evidence|open_has_an_owner"),
        desk.tenant.tx(),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"update tools_promise set {change}")


# Promises and acts of the conversation


def test_every_built_in_tool_keeps_promises_or_is_an_act_of_the_conversation() -> None:
    stated = {name: tool.keeps_promise for name, tool in builtin_tools().items()}
    assert stated == {**dict.fromkeys(PROMISES, True), **dict.fromkeys(ACTS, False)}


@pytest.mark.parametrize(
    ("tool", "quote"), [(GOODBYE, "Have a lovely day!"), (LOOK_UP, "Let me check Friday at 7 PM for you.")]
)
def test_an_act_of_the_conversation_has_a_verdict_and_an_effect_and_no_promise(
    desk: Desk, tool: str, quote: str
) -> None:
    desk.reads(tool, quote=quote)
    turn = desk.analyse(quote)
    assert [effect["tool"] for effect in turn["effects"]] == [tool]
    assert [verdict["fired"] for verdict in turn["verdicts"] if verdict["tool"] == tool] == [True]
    assert turn["promises"] == []


@pytest.mark.parametrize(("definition", "promises"), [({}, 1), ({"keeps_promise": False}, 0)])
def test_a_custom_tool_keeps_promises_unless_it_says_otherwise(
    desk: Desk, definition: dict[str, Any], promises: int
) -> None:
    desk.tool(CREW, **definition)
    desk.reads(CREW)
    assert len(desk.analyse(PROMISE)["promises"]) == promises


def test_a_custom_goodbye_stays_an_act(desk: Desk) -> None:
    """The built-in handler runs it."""
    desk.tool(GOODBYE, is_heard=False)
    desk.reads(GOODBYE)
    assert desk.analyse(PROMISE)["promises"] == []


def test_an_undecided_look_up_breaks_no_promise(desk: Desk) -> None:
    """Neither of the competing tools keeps a promise."""
    desk.switch_on("products_and_services_background_check_availability")
    desk.reads(LOOK_UP, "check_product_or_service_availability")
    desk.ranks(check_availability_tool=50, check_product_or_service_availability=50)
    desk.analyse(PROMISE)
    assert desk.promises() == []
