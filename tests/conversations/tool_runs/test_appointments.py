"""Bookings inside a turn use the tool caller's booking book, and reveal nothing of other customers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from projects.models import Member
from projects.records.attributes import set_attribute
from tests.conversations.tool_runs.turns import Turns
from todos.approvals.approve import approve_todo
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import Todo, TodoStatus
from tools.models import Booking, BookingState, EffectState
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.services import Guest, book
from tools.services.verification.services import record_verification

SET = {"check_availability", "book_appointment", "lookup_appointment", "cancel_appointment"}
VERIFYING = {"verify_caller", "send_verification_code", "check_verification_code"}


def soon() -> dict[str, Any]:
    """A Friday evening in the future."""
    today = timezone.now().date()
    friday = today + timedelta(days=(4 - today.weekday()) % 7 + 7)
    return {"date": friday.isoformat(), "time": "19:00", "party_size": 2}


@pytest.fixture
def booking(turns: Turns) -> Turns:
    """An agent that may use every tool its business state allows."""
    turns.configure(enabled_tools=None)
    return turns


def offered(turns: Turns) -> set[str]:
    turns.says("Hello!")
    turns.say("Hi")
    return set(turns.asked()[-1]["tools"])


@pytest.mark.requirement("F07", "F08")
def test_without_anything_to_book_no_booking_tool_is_offered(booking: Turns) -> None:
    """The booking and verification tools appear as one set from the next turn on."""
    assert offered(booking) >= SET | VERIFYING
    with booking.tenant.tx():
        booking.tenant.project.resources.all().update(is_active=False)
    assert not (SET | VERIFYING) & offered(booking)


@pytest.mark.requirement("F07")
def test_a_table_is_booked_before_the_reply_ends(booking: Turns) -> None:
    """The reply may say that it is booked."""
    booking.calls_tool("book_appointment", {**soon(), "name": "Ada"})
    booking.says("Your table is booked.")
    turn = booking.say("A table for two on Friday at seven, Ada")
    assert turn.reply is not None
    assert turn.reply.content == "Your table is booked."
    with booking.tenant.tx():
        assert Booking.objects.get(conversation_id=booking.conversation.pk).party_size == 2


def test_a_booking_made_in_a_turn_is_not_repeated_in_it(booking: Turns) -> None:
    """The second is a repeat."""
    for _ in range(2):
        booking.calls_tool("book_appointment", {**soon(), "name": "Ada"})
    booking.says("Done.")
    turn = booking.say("A table for two on Friday at seven, Ada")
    assert [effect.state for effect in booking.effects(turn)] == [EffectState.DONE, EffectState.HELD]


@pytest.mark.requirement("F07")
def test_a_free_time_is_told_to_the_model(booking: Turns) -> None:
    booking.calls_tool("check_availability", soon())
    booking.says("It is free.")
    assert "free" in booking.result(booking.say("Is Friday at seven free?"))


@pytest.mark.parametrize("tool", ["lookup_appointment", "cancel_appointment"])
def test_an_unverified_customer_is_told_of_no_booking(booking: Turns, tool: str) -> None:
    """If the project requires it, the agent must first verify who it talks to."""
    booking.configure(caller_verification="basic")
    known = booking.on("chat", external_id="ada", phone="+393475550142")
    known.calls_tool("book_appointment", {**soon(), "name": "Ada"})
    known.says("Booked.")
    known.say("A table for two on Friday at seven")
    known.calls_tool(tool, {"name": "Ada"})
    known.says("I have to be sure first.")
    assert "verify_caller" in known.result(known.say("What about my booking?"))
    with booking.tenant.tx():
        assert Booking.objects.get(conversation_id=known.conversation.pk).state == BookingState.CONFIRMED


@pytest.mark.parametrize(
    ("adas", "bobs"),
    [
        ({"phone": "+393475550142"}, {"phone": "+393475550199"}),
        ({"email": "ada@a.example"}, {"email": "bob@b.example"}),
    ],
    ids=["numbers", "no numbers"],
)
def test_a_verified_customer_is_told_of_no_other_customers_booking(
    booking: Turns, adas: dict[str, str], bobs: dict[str, str]
) -> None:
    """Neither a code nor a name and number reveal another's booking, once the project requires verification."""
    ada = booking.on("chat", external_id="ada", **adas)
    ada.calls_tool("book_appointment", {**soon(), "name": "Ada", **adas})
    ada.says("Booked.")
    ada.say("A table for two on Friday at seven")
    with booking.tenant.tx():
        made = Booking.objects.get(conversation_id=ada.conversation.pk)
    booking.configure(caller_verification="basic")
    bob = booking.on("chat", external_id="bob", **bobs)
    with booking.tenant.tx():
        persona = bob.conversation.persona_id
        record_verification(
            booking.tenant.project, persona_id=persona, conversation_id=bob.conversation.pk, method="basic"
        )
    bob.calls_tool("lookup_appointment", {"code": made.code, "name": "Ada", "phone": "+393475550142"})
    bob.says("I find none.")
    assert made.code not in bob.result(bob.say("What about Ada's booking?"))


@pytest.mark.requirement("F07")
@pytest.mark.parametrize("tool", ["lookup_appointment", "cancel_appointment"])
def test_a_verified_customer_finds_what_staff_booked_under_their_number(booking: Turns, tool: str) -> None:
    """The number on file is theirs, whoever entered the booking."""
    booking.configure(caller_verification="basic", hours={}, holidays=[])
    ada = booking.on("chat", external_id="ada", phone="+393475550142")
    now = timezone.now()
    with booking.tenant.tx():
        project = booking.tenant.project
        project.refresh_from_db()
        guest = Guest(name="Ada Lovelace", phone="347 555 0142")
        made = book(project, BookingRequest(2), starts_at=now + timedelta(days=3), guest=guest, now=now)
        conversation = ada.conversation
        record_verification(
            project, persona_id=conversation.persona_id, conversation_id=conversation.pk, method="basic"
        )
    ada.calls_tool(tool, {"code": made.code})
    ada.says("There it is.")
    assert made.code in ada.result(ada.say("My booking, please"))


def allow(turns: Turns, todo: Todo) -> None:
    """Approve the todo as it is."""
    boss = Member.objects.get(user=turns.tenant.owner)
    seen = {"version": todo.version, "content_hash": hash_of(content_of(todo))}
    approve_todo(todo.pk, **seen, actor=Actor("Nello", boss.pk), member=boss)


APPROVED = "project_attributes_setting_create_booking_tool_requires_approval_enabled"


def test_a_booking_in_a_turn_waits_for_the_approval_of_its_kind(booking: Turns) -> None:
    """The setting names another tool of the kind. Once approved, the booking is made as the agent planned it."""
    with booking.tenant.tx():
        set_attribute(booking.tenant.project, APPROVED, True)
    booking.calls_tool("book_appointment", {**soon(), "name": "Ada"})
    booking.says("A colleague has to approve it.")
    turn = booking.say("A table for two on Friday at seven, Ada")
    [effect] = booking.effects(turn)
    assert (effect.state, booking.result(turn).startswith("A colleague has to approve")) == (EffectState.PLANNED, True)
    with booking.tenant.tx():
        assert not Booking.objects.exists()
        todo = Todo.objects.get(effect=effect)
        allow(booking, todo)
    booking.run("todo")
    with booking.tenant.tx():
        assert Booking.objects.get().party_size == 2
        assert Todo.objects.get().status == TodoStatus.COMPLETED


def test_no_booking_is_made_once_the_kind_is_switched_off(booking: Turns) -> None:
    """Switched off while the approval was awaited."""
    with booking.tenant.tx():
        set_attribute(booking.tenant.project, APPROVED, True)
    booking.calls_tool("book_appointment", {**soon(), "name": "Ada"})
    booking.says("A colleague has to approve it.")
    turn = booking.say("A table for two on Friday at seven, Ada")
    with booking.tenant.tx():
        todo = Todo.objects.get()
        allow(booking, todo)
        set_attribute(booking.tenant.project, "project_attributes_setting_booking_enabled", False)
    booking.run("todo")
    with booking.tenant.tx():
        assert not Booking.objects.exists()
    assert booking.effects(turn)[0].state != EffectState.DONE
