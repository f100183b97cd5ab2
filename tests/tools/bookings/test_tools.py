"""The booking tools, as the agent's promises run them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from conversations.models import Channel
from conversations.turns.services import start_conversation
from tests.tools.bookings.conftest import ADA, NOW, Bookings, rome, stranger_contact
from tools.engine.execution.handler import Contact, ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.registry import builtin_tools
from tools.models import Booking, BookingState, Effect
from tools.services.bookings.misses import TOO_OFTEN
from tools.services.bookings.services import cancel

EVENING = rome(27, "19:00")
NUMBER = "+39065550199"
BOOK_TOOLS = (
    "check_availability_tool",
    "create_booking_tool",
    "search_booking_tool",
    "cancel_booking_tool",
    "create_meeting_tool",
    "check_zip_code_served_tool",
    "check_product_or_service_availability",
)
AGREED = {"date": "2026-11-27", "time": "19:00", "party_size": 4, "name": "Ada Lovelace", "phone": "06 555 0199"}


def failed(outcome: Outcome) -> str:
    """Return what the agent reads about the failed tool."""
    assert (outcome.ending, outcome.told) == (Ending.FAILED, outcome.error)
    return outcome.told


@pytest.mark.requirement("T22", "T24")
@pytest.mark.parametrize("name", BOOK_TOOLS)
def test_a_promise_opens_a_wait_and_the_agent_reports_the_result(name: str) -> None:
    handler = builtin_tools()[name].handler
    assert handler is not None
    assert (handler.wait_seconds > 0, handler.tells) == (True, True)


@pytest.mark.parametrize("name", BOOK_TOOLS)
def test_every_argument_has_a_description(name: str) -> None:
    handler = builtin_tools()[name].handler
    assert handler is not None
    fields = handler.arguments.model_json_schema()["properties"]
    assert fields
    assert all(field["description"] for field in fields.values())


@pytest.mark.requirement("N51")
def test_a_check_returns_free_times(bookings: Bookings) -> None:
    outcome = bookings.run("check_availability_tool", date="2026-11-27", time="19:00", party_size=4, with_whom=None)
    assert outcome.ending is Ending.DONE
    assert outcome.told.startswith("Friday 27 November at 19:00: a table for 4 is free. Also free: 18:30,")
    assert outcome.result["free"] is True


def test_a_check_of_a_taken_time_succeeds_with_no(bookings: Bookings) -> None:
    bookings.book(EVENING, 4)
    outcome = bookings.run("check_availability_tool", date="2026-11-27", time="19:00", party_size=4)
    assert (outcome.ending, outcome.result["free"]) == (Ending.DONE, False)
    assert "no table for 4 is free. Free that day: 20:30" in outcome.told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "The day isn't known, so nothing was looked up. Ask for which day it should be."),
        ({"date": "next Friday"}, "“next Friday” is no date; a date is written like 2026-11-27."),
        ({"date": "2026-11-27", "time": "evening"}, "“evening” is no time; a time is written like 19:00."),
        ({"date": "2026-11-27", "party_size": 0}, "The arguments don't fit: party_size: Input should be greater"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value),
)
def test_an_impossible_check_says_what_is_missing(bookings: Bookings, arguments: dict[str, Any], sentence: str) -> None:
    assert failed(bookings.run("check_availability_tool", **arguments)).startswith(sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"date": "2026-11-20"}, "Friday 20 November is past, today is Saturday 21 November. The next that are free"),
        ({"date": "2026-11-23", "time": "19:00"}, "Monday 23 November is a day on which it is closed. The next"),
        ({"date": "2036-11-27"}, "Thursday 27 November 2036 is too far ahead: bookings are taken until"),
        ({"date": "2026-11-27", "party_size": 40}, "40 people can't be booked together: the largest"),
    ],
    ids=["past", "closed", "too far", "too many"],
)
def test_a_check_of_an_unbookable_time_succeeds_and_says_so(
    bookings: Bookings, arguments: dict[str, Any], sentence: str
) -> None:
    """The promise to look it up is kept."""
    outcome = bookings.run("check_availability_tool", **arguments)
    assert (outcome.ending, outcome.result["free"]) == (Ending.DONE, False)
    assert outcome.told.startswith(sentence)


def test_an_iso_datetime_is_accepted_as_day_and_time(bookings: Bookings) -> None:
    outcome = bookings.run("check_availability_tool", date="2026-11-27T00:00:00Z", time="2026-11-27T19:00:00+05:00")
    assert outcome.told.startswith("Friday 27 November at 19:00: a table is free.")


def only(bookings: Bookings) -> Booking:
    with bookings.tenant.tx():
        return Booking.objects.select_related("resource").get()


def test_a_booking_is_confirmed_with_its_code(bookings: Bookings) -> None:
    outcome = bookings.run("create_booking_tool", **AGREED, email=None, notes="a quiet\x00 corner")
    booking = only(bookings)
    assert outcome.told == (
        f"Booked: a table for 4 on Friday 27 November at 19:00, under the name Ada Lovelace, code {booking.code}."
    )
    assert (booking.starts_at, booking.phone, booking.notes) == (EVENING, "+39065550199", "a quiet corner")


def test_an_invalid_number_is_asked_for_again(bookings: Bookings) -> None:
    """Nothing is booked under it."""
    for tool in ("create_booking_tool", "create_meeting_tool", "book_appointment"):
        assert failed(bookings.run(tool, **{**AGREED, "phone": "the usual one"})) == (
            "Nothing was booked: the usual one is not a phone number. Ask for it again, with its country, "
            "like +39 312 345 6789; then book."
        )
    with bookings.tenant.tx():
        assert not Booking.objects.exists()


def test_an_invalid_number_on_file_does_not_prevent_a_booking(bookings: Bookings) -> None:
    """The row predates validation, and the customer did not give it now."""
    contact = customer(bookings, name="Grace", phone="ask for Grace")
    bookings.run("create_booking_tool", bookings.tool_context(contact=contact), **{**AGREED, "phone": None})
    assert only(bookings).phone == "ask for Grace"


def test_missing_details_come_from_the_contact(bookings: Bookings) -> None:
    """And the customer finds the booking without a code."""
    contact = customer(bookings, name="Grace Hopper", phone="+390655501", email="grace@example.com")
    agreed = {"date": "2026-11-27", "time": "19:00", "party_size": 2}
    bookings.run("create_booking_tool", bookings.tool_context(contact=contact), **agreed)
    booking = only(bookings)
    assert (booking.name, booking.phone, booking.email) == (contact.name, contact.phone, contact.email)
    assert booking.persona_id == contact.persona_id
    assert booking.code in bookings.run("search_booking_tool", bookings.tool_context(contact=contact)).told


def customer(bookings: Bookings, **known: str) -> Contact:
    with bookings.tenant.tx():
        conversation = start_conversation(
            bookings.project, channel=Channel.API, external_id="grace", known={}, metadata={}
        )
    return Contact(persona_id=conversation.persona_id, **known)


def test_a_repeated_effect_returns_the_same_booking(bookings: Bookings) -> None:
    context = bookings.tool_context()
    outcomes = [bookings.run("create_booking_tool", context, **AGREED) for _ in range(2)]
    assert outcomes[0] == outcomes[1]
    assert only(bookings).code in outcomes[1].told


def test_a_booking_canceled_before_the_result_is_reported_as_canceled(bookings: Bookings) -> None:
    """An attempt whose response was lost had booked it, and the customer has canceled it since."""
    context = bookings.tool_context()
    bookings.run("create_booking_tool", context, **AGREED)
    with bookings.tenant.tx():
        cancel(only(bookings), by="customer", now=NOW)
    told = bookings.run("create_booking_tool", context, **AGREED).told
    assert told.startswith("It was booked and has been cancelled since: ")


def test_a_booking_without_its_size_or_time_asks_for_it(bookings: Bookings) -> None:
    unknown = failed(bookings.run("create_booking_tool", date="2026-11-27", time="19:00"))
    assert unknown == "Nothing was booked, because nobody said how many people come. Ask, then book."
    assert "day or the time isn't known" in failed(bookings.run("create_booking_tool", date="2026-11-27", party_size=2))


def test_a_taken_time_is_not_booked(bookings: Bookings) -> None:
    bookings.book(EVENING, 4)
    assert "no table for 4 is free. Free that day: 20:30" in failed(bookings.run("create_booking_tool", **AGREED))
    assert only(bookings).party_size == 4


def test_the_same_booking_is_a_repeat(bookings: Bookings) -> None:
    handler = builtin_tools()["create_booking_tool"].handler
    assert handler is not None
    keys = {
        handler.repeat_of({**AGREED, **change}, bookings.tool_context())
        for change in ({}, {"notes": "x"}, {"time": "20:00"})
    }
    assert len(keys) == 2


def test_meetings_and_bookings_share_the_resources(bookings: Bookings) -> None:
    outcome = bookings.run(
        "create_meeting_tool", date="2026-11-27", time="12:30", with_whom="Weber", title="Contract", name="Ada"
    )
    booking = only(bookings)
    assert (booking.kind, booking.title, booking.resource.name) == ("meeting", "Contract", "Dr. Weber")
    assert outcome.told == (
        "The meeting is in the book: a meeting with Dr. Weber on Friday 27 November at 12:30, under the name Ada, "
        f"code {booking.code}."
    )


def test_a_search_finds_by_code(bookings: Bookings) -> None:
    booking = bookings.book(EVENING, 4)
    outcome = bookings.run("search_booking_tool", code=booking.code)
    assert outcome.told == (
        f"Found: a table for 4 on Friday 27 November at 19:00, under the name Ada Lovelace, code {booking.code}."
    )


@pytest.mark.requirement("N51")
def test_a_search_finds_upcoming_bookings_soonest_first(bookings: Bookings) -> None:
    later, sooner = bookings.book(rome(28, "19:00")), bookings.book(EVENING)
    past = bookings.book(rome(21, "19:00"))
    context = bookings.tool_context(at=rome(22, "12:00"))
    context = replace(context, channel="phone", call={"caller_phone": ADA.phone})
    found = bookings.run("search_booking_tool", context).result["bookings"]
    assert [one["code"] for one in found] == [sooner.code, later.code]
    assert bookings.run("search_booking_tool", context, code=past.code).result["bookings"] == []


@pytest.mark.requirement("N51")
def test_a_phone_number_and_a_single_letter_find_nothing(bookings: Bookings) -> None:
    """A letter occurs in every name."""
    bookings.book(EVENING)
    assert bookings.run("search_booking_tool", phone=ADA.phone, name="a").result["bookings"] == []


def test_an_empty_search_says_what_is_needed(bookings: Bookings) -> None:
    bookings.book(EVENING)
    outcome = bookings.run("search_booking_tool", bookings.tool_context(contact=stranger_contact()), phone=ADA.phone)
    assert outcome.ending is Ending.DONE
    assert outcome.result["bookings"] == []
    assert "by its code, or by the phone number together with the surname" in outcome.told


def test_a_cancellation_happens_once_and_is_confirmed(bookings: Bookings) -> None:
    code, context = bookings.book(EVENING, 4).code, bookings.tool_context()
    outcomes = [bookings.run("cancel_booking_tool", context, code=code) for _ in range(2)]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0].told.startswith("Cancelled: a table for 4 on Friday 27 November at 19:00")
    assert (only(bookings).state, only(bookings).cancelled_by) == (BookingState.CANCELLED, "agent")


def by_phone(bookings: Bookings, number: str = ADA.phone) -> ToolContext:
    """A call from this number, as the network reports it."""
    return replace(bookings.tool_context(), channel="phone", call={"caller_phone": number})


def test_an_ambiguous_cancellation_cancels_nothing(bookings: Bookings) -> None:
    codes = [bookings.book(EVENING).code, bookings.book(rome(28, "19:00")).code]
    words = failed(bookings.run("cancel_booking_tool", by_phone(bookings)))
    assert words.startswith("Nothing was cancelled, because there are 2: ")
    assert all(code in words for code in codes)
    assert bookings.run("cancel_booking_tool", by_phone(bookings), date="2026-11-28").ending is Ending.DONE


def test_a_number_and_a_surname_show_no_code_and_cancel_nothing(bookings: Bookings) -> None:
    """Others may know both. The code proves that the booking is theirs, so it isn't told to them."""
    booking = bookings.book(EVENING)
    known = {"phone": ADA.phone, "name": "Lovelace"}
    seen = bookings.run("search_booking_tool", **known)
    assert "Friday 27 November at 19:00" in seen.told
    assert booking.code not in seen.told + str(seen.result)
    assert NUMBER not in str(seen.result)
    assert "only with its code" in failed(bookings.run("cancel_booking_tool", **known))
    assert only(bookings).state == BookingState.CONFIRMED


def on_file(bookings: Bookings, channel: str) -> ToolContext:
    """A conversation with a customer whose number the business's API gave."""
    with bookings.tenant.tx():
        conversation = start_conversation(
            bookings.project, channel=Channel.API, external_id="ada", known={"phone": NUMBER}, metadata={}
        )
    contact = Contact(persona_id=conversation.persona_id)
    return replace(bookings.tool_context(contact=contact), channel=channel)


@pytest.mark.parametrize("channel", ["chat", "webcall", "portal", "api"])
def test_a_number_on_file_proves_nothing_on_a_channel_without_numbers(bookings: Bookings, channel: str) -> None:
    bookings.book(EVENING)
    context = replace(on_file(bookings, channel), call={"caller_phone": NUMBER})
    assert "Nothing was cancelled" in failed(bookings.run("cancel_booking_tool", context))


@pytest.mark.parametrize("channel", ["sms", "whatsapp"])
def test_the_number_of_the_channel_is_a_proof(bookings: Bookings, channel: str) -> None:
    bookings.book(EVENING)
    assert bookings.run("cancel_booking_tool", on_file(bookings, channel)).ending is Ending.DONE


def conversation(bookings: Bookings) -> UUID:
    with bookings.tenant.tx():
        return start_conversation(
            bookings.project, channel=Channel.API, external_id=uuid4().hex, known={}, metadata={}
        ).pk


def missed(bookings: Bookings, number: int, *, conversation_id: UUID, phone: str = "") -> None:
    """Store searches that found nothing."""
    with bookings.tenant.tx():
        for _ in range(number):
            Effect.objects.filter(pk=bookings.effect()).update(
                kind="booking_search", conversation_id=conversation_id, result={"bookings": [], "missed": phone}
            )


def test_guesses_end_after_five_misses_in_a_conversation(bookings: Bookings) -> None:
    booking, here = bookings.book(EVENING), conversation(bookings)
    missed(bookings, 4, conversation_id=here)
    context = replace(bookings.tool_context(), conversation_id=here)
    assert bookings.run("search_booking_tool", context, code="AAAAAA").result == {"bookings": [], "missed": ""}
    missed(bookings, 1, conversation_id=here)
    assert booking.code not in bookings.run("search_booking_tool", context, code=booking.code).told
    assert failed(bookings.run("cancel_booking_tool", context, code=booking.code)).endswith(TOO_OFTEN)


def test_guesses_about_a_number_end_in_all_conversations(bookings: Bookings) -> None:
    bookings.book(EVENING)
    known = {"phone": "06 555 0199", "name": "Lovelace"}
    missed(bookings, 9, conversation_id=conversation(bookings), phone=NUMBER)
    assert bookings.run("search_booking_tool", **known).result["bookings"]
    missed(bookings, 1, conversation_id=conversation(bookings), phone=NUMBER)
    assert bookings.run("search_booking_tool", **known).told == TOO_OFTEN


def test_a_customer_without_a_booking_has_not_guessed(bookings: Bookings) -> None:
    outcome = bookings.run("search_booking_tool", bookings.tool_context(contact=stranger_contact()))
    assert outcome.result == {"bookings": []}


def test_a_canceled_booking_is_not_found_again(bookings: Bookings) -> None:
    booking = bookings.book(EVENING)
    with bookings.tenant.tx():
        cancel(booking, by="customer", now=NOW)
    assert failed(bookings.run("cancel_booking_tool", code=booking.code)).startswith(
        "Nothing was cancelled. No booking"
    )
