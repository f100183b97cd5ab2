"""Access to the customer's page by link, depending on the verification level of the project."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.models import Conversation, Message, Persona
from conversations.portal.chat_start import Beginning, beginning_of
from conversations.portal.session import open_visit
from conversations.turns.services import give_fields, post_message
from tests.conftest import Tenant
from tests.conversations.portal.test_portal import token_of
from tests.conversations.tool_runs.test_appointments import soon
from tests.conversations.tool_runs.turns import Turns
from tools.models import Booking, Verification
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.services import Guest, book
from tools.services.signed_links import PortalTarget
from tools.services.verification.services import record_verification

OVER = timedelta(minutes=61)
SAID, CODE_SAID = "Do you have a table on Friday?", "My booking is under Lovelace."


@dataclass
class Page:
    """The page of a customer who has called and who has booked a table."""

    turns: Turns
    link: str
    persona_id: UUID

    def look(self) -> str:
        return Client().get(self.link).content.decode()

    def say(self, content: str) -> None:
        assert Client().post(self.link, {"content": content}).status_code == 302

    def prove(self, method: str) -> None:
        with self.turns.tenant.tx():
            project, conversation_id = self.turns.tenant.project, self.turns.conversation.pk
            record_verification(project, persona_id=self.persona_id, conversation_id=conversation_id, method=method)

    def shows(self) -> tuple[bool, bool]:
        """Whether the booking is seen, and what was said on the phone."""
        page = self.look()
        return "/b/" in page, SAID in page


@pytest.fixture
def page(turns: Turns) -> Page:
    turns.configure(enabled_tools=None)
    phone = turns.on("phone", external_id="ada", phone="+393475550142")
    phone.calls_tool("book_appointment", {**soon(), "name": "Ada"})
    phone.says("Your table is booked.")
    phone.say(SAID)
    return Page(turns, f"/c/{token_of(phone.conversation)}", phone.conversation.persona_id)


def test_without_a_level_whoever_has_the_link_sees_it(page: Page) -> None:
    """Nobody is asked, here as little as in a conversation."""
    assert page.shows() == (True, True)


@pytest.mark.parametrize(("level", "proofs"), [("basic", ("basic", "code")), ("code", ("code",))])
def test_with_a_level_only_somebody_who_has_proved_it(page: Page, level: str, proofs: tuple[str, ...]) -> None:
    """By the same proofs as the tools ask for, and for as long."""
    page.turns.configure(caller_verification=level)
    assert page.shows() == (False, False)
    assert "Confirm it’s you" in page.look()
    for method in ("basic", "code"):
        page.prove(method)
        assert page.shows() == (method in proofs, method in proofs)
        with page.turns.tenant.tx():
            Verification.objects.update(verified_at=Now() - OVER)
        assert page.shows() == (False, False)


def test_the_chat_of_somebody_who_was_verified_is_gone_with_it(page: Page) -> None:
    """For the page, for its stream, and for the agent, which goes on in a new conversation."""
    page.turns.configure(caller_verification="code")
    page.prove("code")
    page.say(CODE_SAID)
    assert CODE_SAID in page.look()
    with page.turns.tenant.tx():
        Verification.objects.update(verified_at=Now() - OVER)
        Conversation.objects.filter(channel="portal").update(created_at=Now() - OVER)
    assert CODE_SAID not in page.look()
    place = PortalTarget(page.turns.tenant.organization.pk, page.persona_id)
    assert beginning_of(place) == Beginning(chat=None, begun=1)
    page.say("What did I say?")
    with page.turns.tenant.tx():
        said = Message.objects.filter(conversation__channel="portal").order_by("pk")
        assert len({message.conversation_id for message in said}) == 2
    assert "What did I say?" in page.look()


def test_somebody_who_never_proved_it_keeps_their_chat(page: Page) -> None:
    """Nothing in it was told to anybody who is more than they are."""
    page.turns.configure(caller_verification="basic")
    page.say("Hello?")
    with page.turns.tenant.tx():
        Conversation.objects.filter(channel="portal").update(created_at=Now() - OVER)
    page.say("Anybody?")
    assert "Hello?" in (seen := page.look())
    assert "Anybody?" in seen


def test_what_was_said_is_read_at_once(page: Page) -> None:
    """However many conversations there were: one statement for the messages of all."""
    with CaptureQueriesContext(connection) as one:
        page.look()
    for number in range(4):
        with page.turns.tenant.tx():
            talk = page.turns.on("phone", external_id="ada")
            post_message(talk.conversation.pk, f"Call {number}")
    with CaptureQueriesContext(connection) as five:
        seen = page.look()
    assert all(f"Call {number}" in seen for number in range(4))
    assert len(five) == len(one)


def test_the_newest_two_hundred_messages_of_each_are_shown(page: Page, tenant: Tenant) -> None:
    with tenant.tx():
        conversation = Conversation.objects.get(channel="phone", persona_id=page.persona_id)
        last = conversation.last_message
        rows = [
            Message(conversation=conversation, seq=last + number, role="user", content=f"Line {number}.")
            for number in range(1, 206)
        ]
        Message.objects.bulk_create(rows)
    seen = page.look()
    assert "Line 205." in seen
    assert "Line 6." in seen
    assert "Line 5." not in seen


def test_a_booking_stands_there_in_the_page_s_language(page: Page) -> None:
    """In the page, and in what it is told later."""
    page.turns.configure(caller_verification="none")
    for headers in ({"Accept": "application/json"}, {}):
        said = {language: _book_of(page, {**headers, "Accept-Language": language}) for language in ("en", "it")}
        assert "a table for" in said["en"]
        assert "a table for" not in said["it"]
        assert "alle" in said["it"]


@pytest.mark.parametrize(
    ("guest", "level", "is_seen"),
    [
        (Guest(name="Ada Lovelace", phone="347 555 0142"), "code", True),
        (Guest(name="Ada Lovelace", phone="347 555 0142"), "none", False),
        (Guest(name="Charles Babbage", phone="347 555 0142"), "code", False),
        (Guest(name="Ada Lovelace", phone="347 555 0199"), "code", False),
    ],
    ids=["theirs", "nobody has to prove it", "another name", "another number"],
)
def test_what_staff_wrote_down_stands_there_for_who_has_proved_it(
    guest: Guest, level: str, is_seen: bool, page: Page
) -> None:
    """Under their name and the number on file, as the agent finds it."""
    page.turns.configure(caller_verification=level, hours={}, holidays=[])
    now = timezone.now()
    with page.turns.tenant.tx():
        project = page.turns.tenant.project
        project.refresh_from_db()
        give_fields(Persona.objects.get(pk=page.persona_id), {"name": "Ada Lovelace"})
        starts_at = now + timedelta(days=3)
        Booking.objects.all().delete()
        book(project, BookingRequest(2), starts_at=starts_at, guest=guest, now=now)
    page.prove("code")
    assert ("/b/" in page.look()) is is_seen


def _book_of(page: Page, headers: dict[str, str]) -> str:
    """The lines of the bookings alone."""
    answer = Client(headers=headers).get(page.link)
    if "application/json" in headers.values():
        return " ".join(one["words"] for one in answer.json()["bookings"])
    return unescape(answer.content.decode().partition('id="booked"')[2].partition("</section>")[0])


@pytest.mark.requirement("F20")
def test_the_page_asks_for_the_proof_and_the_agent_checks_it(page: Page) -> None:
    """By what is on file; what is wrong counts as a try, in the chat as everywhere."""
    page.turns.configure(caller_verification="basic")
    form = {"proof": "+39 347 555 0142"}
    assert 'name="proof"' in page.look()
    for proof, found in (({"proof": "+39 333 000 0000"}, False), (form, True)):
        page.turns.calls_tool("verify_caller", {"phone": proof["proof"]})
        page.turns.says("Thank you.")
        assert Client().post(page.link, proof).status_code == 302
        page.turns.run()
        answer = Client(headers={"Accept": "application/json"}).get(page.link)
        assert (answer.json()["is_known"], bool(answer.json()["bookings"])) == (found, found)
    assert page.shows() == (True, True)


@pytest.mark.requirement("F08")
@pytest.mark.parametrize(
    ("level", "rest", "asked"),
    [("code", {}, 'name="code"'), ("basic", {"enabled_tools": ["search_knowledge"]}, "Ask for a person")],
)
def test_the_page_asks_as_the_agent_can(page: Page, level: str, rest: dict[str, object], asked: str) -> None:
    """A code by the button, which says so in the chat; nothing where the agent has no tool for it."""
    page.turns.configure(caller_verification=level, **rest)
    assert asked in page.look()
    Client().post(page.link, {"code": "sms"})
    assert "Please send me a code by text." in page.look()


def test_a_proof_that_comes_while_the_page_looks_loses_no_chat(page: Page) -> None:
    """The stream of a chat is opened in the moment in which somebody proves who they are in it."""
    page.turns.configure(caller_verification="basic")
    page.say("I would like to see my bookings.")
    came: list[str] = []

    def prove() -> None:
        page.prove("basic")
        connection.close()

    def prove_after_the_first_look(execute: Any, sql: str, *rest: Any) -> Any:
        answer = execute(sql, *rest)
        if "tools_verification" in sql and not came:
            came.append(sql)
            with ThreadPoolExecutor(1) as elsewhere:
                elsewhere.submit(prove).result()
        return answer

    with page.turns.tenant.tx(), connection.execute_wrapper(prove_after_the_first_look):
        visit = open_visit(PortalTarget(page.turns.tenant.organization.pk, page.persona_id))
        assert visit.chat() is not None
    assert came
