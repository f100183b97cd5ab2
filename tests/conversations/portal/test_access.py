"""Access to the portal by the project's verification level."""

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

from conversations.models import Attachment, Conversation, Message, Persona
from conversations.portal.chat_start import ChatState, load_chat_state
from conversations.portal.session import open_visit
from conversations.turns.services import give_fields, post_message
from tests.conftest import Tenant
from tests.conversations.conftest import begin
from tests.conversations.handover.test_attachments import PNG
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
    """The portal of a customer who has called and has booked a table."""

    turns: Turns
    link: str
    persona_id: UUID

    def look(self) -> str:
        return Client().get(self.link).content.decode()

    def say(self, content: str) -> None:
        assert Client().post(self.link, {"content": content}).status_code == 302

    def upload(self) -> str:
        """The id of an uploaded file."""
        sent = Client().post(f"{self.link}/attachments?name=a.png", PNG, content_type="application/octet-stream")
        return str(sent.json()["id"])

    def send(self, attachment: str) -> int:
        body = {"content": "", "attachments": [attachment]}
        return Client().post(self.link, body, headers={"Accept": "application/json"}).status_code

    def prove(self, method: str) -> None:
        with self.turns.tenant.tx():
            project, conversation_id = self.turns.tenant.project, self.turns.conversation.pk
            record_verification(project, persona_id=self.persona_id, conversation_id=conversation_id, method=method)

    def shows(self) -> tuple[bool, bool]:
        """Two flags: the booking is visible, and the phone transcript is visible."""
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


def test_without_a_level_the_link_alone_opens_the_portal(page: Page) -> None:
    """No verification is asked for, as in a conversation."""
    assert page.shows() == (True, True)


@pytest.mark.parametrize(("level", "proofs"), [("basic", ("basic", "code")), ("code", ("code",))])
def test_with_a_level_only_a_verified_customer_sees_the_data(page: Page, level: str, proofs: tuple[str, ...]) -> None:
    """By the same verification as the tools, for the same time."""
    page.turns.configure(caller_verification=level)
    assert page.shows() == (False, False)
    assert "Confirm it’s you" in page.look()
    for method in ("basic", "code"):
        page.prove(method)
        assert page.shows() == (method in proofs, method in proofs)
        with page.turns.tenant.tx():
            Verification.objects.update(verified_at=Now() - OVER)
        assert page.shows() == (False, False)


def test_a_verified_customers_chat_is_hidden_when_the_verification_expires(page: Page) -> None:
    """For the page, for its stream, and for the agent, which continues in a new conversation."""
    page.turns.configure(caller_verification="code")
    page.prove("code")
    page.say(CODE_SAID)
    assert CODE_SAID in page.look()
    with page.turns.tenant.tx():
        Verification.objects.update(verified_at=Now() - OVER)
        Conversation.objects.filter(channel="portal").update(created_at=Now() - OVER)
    assert CODE_SAID not in page.look()
    place = PortalTarget(page.turns.tenant.organization.pk, page.persona_id)
    assert load_chat_state(place) == ChatState(chat=None, chat_count=1)
    page.say("What did I say?")
    with page.turns.tenant.tx():
        said = Message.objects.filter(conversation__channel="portal").order_by("pk")
        assert len({message.conversation_id for message in said}) == 2
    assert "What did I say?" in page.look()


def test_a_file_from_before_the_verification_expired_is_refused(page: Page) -> None:
    """Its id may be in the history of a browser that somebody else uses now."""
    page.turns.configure(caller_verification="code")
    page.prove("code")
    earlier, later = page.upload(), page.upload()
    with page.turns.tenant.tx():
        Verification.objects.update(verified_at=Now() - OVER)
        Attachment.objects.filter(pk=earlier).update(created_at=Now() - OVER)
    assert page.send(earlier) == 422
    assert page.send(later) == 202


def test_an_unverified_customer_keeps_their_chat(page: Page) -> None:
    """It contains nothing that needed verification."""
    page.turns.configure(caller_verification="basic")
    page.say("Hello?")
    with page.turns.tenant.tx():
        Conversation.objects.filter(channel="portal").update(created_at=Now() - OVER)
    page.say("Anybody?")
    assert "Hello?" in (seen := page.look())
    assert "Anybody?" in seen


def test_all_transcripts_are_read_in_one_query(page: Page) -> None:
    """One statement for the messages of any number of conversations."""
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


def test_bookings_are_shown_in_the_pages_language(page: Page) -> None:
    """On the page and in its updates."""
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
def test_bookings_entered_by_staff_are_shown_to_a_verified_customer(
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
    """The bookings section only."""
    answer = Client(headers=headers).get(page.link)
    if "application/json" in headers.values():
        return " ".join(one["words"] for one in answer.json()["bookings"])
    return unescape(answer.content.decode().partition('id="booked"')[2].partition("</section>")[0])


@pytest.mark.requirement("F20")
def test_the_page_asks_for_verification_and_the_agent_checks_it(page: Page) -> None:
    """Against the details on file; a wrong answer counts as a try, as in any chat."""
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
def test_the_page_asks_by_the_level_and_tools_of_the_project(
    page: Page, level: str, rest: dict[str, object], asked: str
) -> None:
    """A button that asks for a code in the chat; nothing if the agent has no tool for it."""
    page.turns.configure(caller_verification=level, **rest)
    assert asked in page.look()
    Client().post(page.link, {"code": "sms"})
    assert "Please send me a code by text." in page.look()


def test_a_verification_between_two_reads_loses_no_chat(page: Page) -> None:
    """A chat's stream opens at the moment the customer is verified in it."""
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


def test_two_customers_may_send_the_same_key(tenant: Tenant, client: Client) -> None:
    """The key belongs to the customer whose link it is, and neither reads the other's answer."""
    headers = {"Accept": "application/json", "Idempotency-Key": "once"}
    customers = [begin(tenant, channel="phone", external_id=name).conversation for name in ("ada", "grace")]
    answers = [client.post(f"/c/{token_of(one)}", {"content": "Hello"}, headers=headers) for one in customers]
    assert [answer.status_code for answer in answers] == [202, 202]
    with tenant.tx():
        assert Message.objects.filter(conversation__channel="portal", content="Hello").count() == 2
