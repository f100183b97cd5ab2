"""Agreements stand in the prompts, from rows: bookings, promises, actions and refusals."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from conversations.context.turn_context import context_before
from conversations.models import Conversation
from projects.models import Project
from tests.conversations.memory.conftest import exchange, last_prompt, later, section
from tests.conversations.pipeline.conftest import configure, job_of
from tests.conversations.promises.conftest import PROMISE, SMS, Desk
from tools.models import (
    Booking,
    BookingState,
    Effect,
    EffectState,
    Evidence,
    Promise,
    PromiseOwner,
    PromiseState,
    Resource,
    Verification,
)

BOOK = "create_booking_tool"
BOTH = pytest.mark.parametrize("skill", ["reply", "thoughts"])


def agreed(desk: Desk, *, skill: str = "reply") -> list[str]:
    """The lines of the last prompt's section."""
    lines = section(last_prompt(desk.model, skill), "Agreed").splitlines()
    return [line.removeprefix("- ") for line in lines]


def book(desk: Desk, *, days: float = 4, **changes: Any) -> Booking:
    """A booking of the conversation's customer."""
    with desk.tenant.tx():
        resource, _ = Resource.objects.get_or_create(project=desk.tenant.project, name="Table 1")
        starts_at = timezone.now() + timedelta(days=days)
        return Booking.objects.create(
            resource=resource,
            persona_id=desk.talk.conversation.persona_id,
            starts_at=starts_at,
            ends_at=starts_at + timedelta(hours=2),
            **{
                "project_id": desk.tenant.project.pk,
                "code": uuid4().hex[:8].upper(),
                "party_size": 4,
                **changes,
            },
        )


# Bookings


@BOTH
def test_a_returning_customers_booking_stands_in_the_prompt(skill: str, desk: Desk) -> None:
    configure(desk.tenant, timezone="Europe/Rome")
    booking = book(desk, code="ABC234")
    with desk.tenant.tx():
        Booking.objects.filter(pk=booking.pk).update(
            starts_at=datetime.fromisoformat("2126-11-29T19:00:00+00:00"),
            ends_at=datetime.fromisoformat("2126-11-29T21:00:00+00:00"),
        )
    exchange(desk, "Hello, it's me again")
    assert agreed(desk, skill=skill) == ["Confirmed booking: Fri 29 Nov 2126 20:00, 4 people, code ABC234"]


@pytest.mark.parametrize("changes", [{"days": -3}, {"state": BookingState.CANCELLED}], ids=["past", "cancelled"])
def test_a_booking_that_is_over_is_left_out(changes: dict[str, Any], desk: Desk) -> None:
    book(desk, **changes)
    exchange(desk, "Hello")
    assert agreed(desk) == []


def test_a_visitor_who_claims_a_number_does_not_see_the_bookings_under_it(desk: Desk) -> None:
    book(desk, phone="+393475550142", name="Ada Lovelace")
    stranger = later(desk, external_id="visitor")
    exchange(stranger, "I'm Ada Lovelace, +39 347 555 0142", name="Ada Lovelace", phone="+393475550142")
    book(stranger, code="OWN234")
    exchange(stranger, "When is my booking?")
    assert [line.rpartition(" ")[2] for line in agreed(stranger)] == ["OWN234"]


def test_another_project_of_the_organization_shows_its_own_bookings(desk: Desk) -> None:
    with desk.tenant.tx():
        other = Project.objects.create(name="Other")
    book(desk, project_id=other.pk)
    exchange(desk, "Hello")
    assert agreed(desk) == []


@pytest.mark.parametrize(
    ("method", "minutes", "is_shown"),
    [("", 0, False), ("basic", 5, False), ("code", 61, False), ("code", 5, True)],
    ids=["unverified", "too weak", "too old", "verified"],
)
def test_where_verification_is_required_only_a_verified_customers_booking_is_shown(
    method: str, minutes: int, is_shown: bool, desk: Desk
) -> None:
    configure(desk.tenant, caller_verification="code")
    book(desk)
    if method:
        with desk.tenant.tx():
            conversation = desk.talk.conversation
            proof = Verification.objects.create(
                project=desk.tenant.project,
                persona_id=conversation.persona_id,
                conversation_id=conversation.pk,
                method=method,
            )
            at = timezone.now() - timedelta(minutes=minutes)
            Verification.objects.filter(pk=proof.pk).update(verified_at=at)
    exchange(desk, "When is my booking?")
    assert bool(agreed(desk)) is is_shown


def test_a_booking_made_in_this_conversation_needs_no_proof(desk: Desk) -> None:
    configure(desk.tenant, caller_verification="code")
    book(desk, conversation_id=desk.talk.conversation.pk)
    exchange(desk, "When is it?")
    assert len(agreed(desk)) == 1


def test_the_three_next_bookings_are_shown_in_order(desk: Desk) -> None:
    for days in (9, 2, 30, 5):
        book(desk, days=days, code=f"DAY{days}")
    exchange(desk, "Hello")
    assert [line.rpartition(" ")[2] for line in agreed(desk)] == ["DAY2", "DAY5", "DAY9"]


CLAIMS = pytest.mark.parametrize(
    ("says", "is_backed"),
    [("Your table is booked under the code ABC234.", True), ("Your table is booked under the code XYZ234.", False)],
)


@CLAIMS
def test_a_claim_that_names_the_booking_is_not_withheld(says: str, is_backed: bool, desk: Desk) -> None:
    book(desk, code="ABC234")
    turn = exchange(desk, "Is my table booked?", reply=says)
    assert (desk.talk.turn(turn)["reply"]["content"] == says) is is_backed


@CLAIMS
def test_a_claim_that_names_the_booking_is_not_corrected(says: str, is_backed: bool, desk: Desk) -> None:
    configure(desk.tenant, truthful_status=False)
    desk.switch_on("booking")
    book(desk, code="ABC234")
    desk.reads(BOOK, quote=says, rule="completed")
    exchange(desk, "Is my table booked?", reply=says)
    assert (desk.talk.reload().correction == "") is is_backed


# Long conversations


@pytest.fixture
def long(desk: Desk) -> Desk:
    """A conversation whose promise was cut out of the transcript; nothing of it is in the summary."""
    desk.reads(SMS)
    exchange(desk, "Please text me", reply=PROMISE)
    desk.model.script("summary", times=0, json={"text": "They talked.", "facts": []})
    for _ in range(4):
        exchange(desk, "And what else? " + "x " * 600, reply="Well. " + "y " * 600)
        desk.run("summary")
    with desk.tenant.tx():
        conversation = Conversation.objects.select_related("summary").get(pk=desk.talk.conversation.pk)
        assert conversation.summary is not None
        assert "SMS" not in conversation.summary.as_text
    return desk


def promise_line(desk: Desk, *, skill: str = "reply") -> str:
    exchange(desk, "Where were we?")
    assert PROMISE not in section(last_prompt(desk.model, "thoughts"), "Conversation")
    [line] = agreed(desk, skill=skill)
    return line


@BOTH
def test_a_promise_that_was_cut_out_of_the_transcript_is_kept_with_its_state(skill: str, long: Desk) -> None:
    assert promise_line(long, skill=skill) == f"You promised “{PROMISE}”: not kept yet"


@pytest.mark.parametrize(
    ("state", "words"),
    [(PromiseState.KEPT, "kept"), (PromiseState.BROKEN, "not kept"), (PromiseState.WITHDRAWN, "withdrawn")],
)
def test_what_became_of_a_promise_is_told(state: PromiseState, words: str, long: Desk) -> None:
    with long.tenant.tx():
        evidence = Evidence.EFFECT if state == PromiseState.KEPT else Evidence.NONE
        Promise.objects.update(state=state, evidence=evidence, owner=PromiseOwner.NOBODY)
    assert promise_line(long) == f"You promised “{PROMISE}”: {words}"


def test_an_action_without_a_promise_is_kept_too(long: Desk) -> None:
    with long.tenant.tx():
        Promise.objects.update(
            effect=None, state=PromiseState.KEPT, evidence=Evidence.EFFECT, owner=PromiseOwner.NOBODY
        )
        Effect.objects.update(state=EffectState.DONE, kind="sms", told="The text was sent.")
    exchange(long, "Where were we?")
    assert f"Done: {SMS}, The text was sent." in agreed(long)


def test_what_is_kept_is_bounded_and_in_order_of_time(long: Desk) -> None:
    with long.tenant.tx():
        first = Promise.objects.get()
        for number in range(12):
            Promise.objects.create(
                project_id=first.project_id,
                conversation_id=first.conversation_id,
                turn_id=first.turn_id,
                message_id=first.message_id,
                quote=f"{number:02} {'very ' * 100}",
                due_at=first.due_at,
                owner=first.owner,
            )
    exchange(long, "Where were we?")
    assert [line.split("“")[1][:2] for line in agreed(long)] == [f"{number:02}" for number in range(4, 12)]
    assert max(len(line.encode()) for line in agreed(long)) < 250


def test_another_conversations_promises_are_not_shown(long: Desk) -> None:
    exchange(later(long), "Hello")
    assert agreed(long) == []


def test_a_short_conversation_shows_its_promise_in_the_transcript_only(desk: Desk) -> None:
    desk.reads(SMS)
    exchange(desk, "Please text me", reply=PROMISE)
    exchange(desk, "Thank you")
    assert agreed(desk) == []


def test_a_promise_that_a_large_transcript_still_has_is_not_repeated(desk: Desk) -> None:
    desk.reads(SMS)
    exchange(desk, "Please text me", reply=PROMISE)
    exchange(desk, "And what else? " + "x " * 1_500, reply="Well. " + "y " * 1_000)
    exchange(desk, "Thank you")
    assert agreed(desk) == []


@BOTH
def test_a_refusal_stands_in_every_conversation(skill: str, desk: Desk) -> None:
    exchange(desk, "Never text me", sms_opt_in="false", email_opt_in="true")
    exchange(later(desk), "Hello")
    assert agreed(desk, skill=skill) == ["The customer wants no text messages"]


# Cost


def test_a_reply_pays_one_statement_more_for_bookings_and_promises(desk: Desk, django_assert_num_queries: Any) -> None:
    """None without them: a new customer's turn reads the turn, its messages and the fields."""
    turn = exchange(desk, "Hello")
    assert_reads(desk, turn, 3, django_assert_num_queries)
    for days in (3, 5):
        book(desk, days=days)
    assert_reads(desk, turn, 4, django_assert_num_queries)


def assert_reads(desk: Desk, turn: Any, number: int, django_assert_num_queries: Any) -> None:
    with desk.tenant.tx():
        context_before(job_of(turn))
        with django_assert_num_queries(number):
            context_before(job_of(turn))
