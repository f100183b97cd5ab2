"""The customer's page behind its signed link: what it shows, what it takes, and to whom it opens."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from conversations.live.stream import StreamCursor
from conversations.models import Conversation, Message
from conversations.portal import pages
from conversations.portal.session import PortalTarget
from conversations.turns.services import post_message, start_conversation
from tests.conftest import Tenant
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.twilio_server import TwilioServer
from tools.models import Effect, Escalation, EscalationState
from tools.services.signed_links import portal_token, portal_url, read_portal_token, token_in

FOREVER = 40_000
LINK = re.compile(r"/c/([\w=-]{68})")


@pytest.fixture
def call(tenant: Tenant) -> Conversation:
    """A phone call in which something was said."""
    with tenant.tx():
        made = start_conversation(
            tenant.project, channel="phone", external_id="ada", known={"phone": "+393475550142"}, metadata={}
        )
        post_message(made.pk, "Do you have a table on Friday?")
    return made


def token_of(conversation: Conversation, *, until: int = FOREVER) -> str:
    return portal_token(PortalTarget(conversation.organization_id, conversation.persona_id), until=until)


def test_the_page_shows_what_was_said(call: Conversation, client: Client) -> None:
    """The transcript of the customer's own conversations."""
    assert "Do you have a table on Friday?" in client.get(f"/c/{token_of(call)}").content.decode()


@pytest.mark.requirement("F15")
def test_what_the_customer_writes_is_a_conversation_of_the_portal(
    call: Conversation, client: Client, tenant: Tenant
) -> None:
    """On the channel portal, with the same customer."""
    client.post(f"/c/{token_of(call)}", {"content": "I'd like to bring my dog."})
    with tenant.tx():
        message = Message.objects.select_related("conversation").get(content="I'd like to bring my dog.")
    assert (message.conversation.channel, message.conversation.persona_id) == ("portal", call.persona_id)


def test_a_second_message_goes_on_with_it(call: Conversation, client: Client, tenant: Tenant) -> None:
    for words in ("One", "Two"):
        client.post(f"/c/{token_of(call)}", {"content": words})
    with tenant.tx():
        assert Conversation.objects.filter(channel="portal").count() == 1


def test_a_form_that_is_posted_twice_says_it_once(call: Conversation, client: Client, tenant: Tenant) -> None:
    """A double click without the script, or a page that is sent anew; other words are another message."""
    found = re.search('name="key" value="([0-9a-f]{32})"', client.get(f"/c/{token_of(call)}").content.decode())
    assert found is not None
    for words in ("One", "One", "Two"):
        assert client.post(f"/c/{token_of(call)}", {"content": words, "key": found[1]}).status_code == 302
    with tenant.tx():
        said = Message.objects.filter(conversation__channel="portal", role="user").order_by("seq")
        assert list(said.values_list("content", flat=True)) == ["One", "Two"]


@pytest.mark.parametrize("key", ["é", " ", "x" * 999])
def test_a_form_s_key_that_is_none_is_a_sentence(call: Conversation, client: Client, key: str) -> None:
    assert client.post(f"/c/{token_of(call)}", {"content": "One", "key": key}).status_code in (302, 422)


@pytest.mark.parametrize(
    "change", [lambda token: "A" * 68, lambda token: token[:-1], lambda token: f"{token[:60]}AAAAAAAA"]
)
def test_a_link_that_we_never_signed_opens_nothing(call: Conversation, client: Client, change: Any) -> None:
    """It is not found, and the customer is told what to do instead of a member."""
    answer = client.get(f"/c/{change(token_of(call))}")
    assert (answer.status_code, answer.headers["X-Robots-Tag"]) == (404, "noindex, nofollow")
    assert "or ask for a new link" in answer.content.decode()


def test_a_link_stands_for_fourteen_days(call: Conversation, client: Client) -> None:
    assert client.get(f"/c/{token_of(call, until=20_000)}").status_code == 404


def test_a_link_of_one_customer_shows_nothing_of_another(call: Conversation, tenant: Tenant, client: Client) -> None:
    with tenant.tx():
        other = start_conversation(tenant.project, channel="chat", external_id="bob", known={}, metadata={})
    client.post(f"/c/{token_of(call)}", {"content": "My dog comes too."})
    client.post(f"/c/{token_of(other)}", {"content": "A window, please."})
    for mine, theirs in ((call, "A window, please."), (other, "Do you have a table"), (other, "My dog comes too.")):
        assert theirs not in client.get(f"/c/{token_of(mine)}").content.decode()


def test_a_link_is_good_to_the_end_of_its_fourteenth_day(call: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retired signing key works for as long as it is kept."""
    place = PortalTarget(call.organization_id, call.persona_id)
    token = token_in(portal_url(place))
    today = time.time()
    for days, is_open in ((0, True), (14, True), (15, False)):
        monkeypatch.setattr("tools.services.signed_links.time.time", lambda days=days: today + days * 86_400)
        assert (read_portal_token(token) == place) == is_open, days


def test_a_link_of_an_older_key_still_opens(call: Conversation, client: Client, settings: Any) -> None:
    address = f"/c/{token_of(call)}"
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "y" * 50, [settings.SECRET_KEY]
    assert client.get(address).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert client.get(address).status_code == 404


@pytest.mark.requirement("W12")
def test_a_block_of_another_kind_leaves_the_rest_to_be_seen(call: Conversation, client: Client, tenant: Tenant) -> None:
    """What a newer server shows doesn't break this page."""
    client.post(f"/c/{token_of(call)}", {"content": "Are dogs allowed?"})
    card = {
        "type": "article_card",
        "title": "Dogs",
        "excerpt": "Welcome.",
        "url": "https://nello.example/k",
        "slug": "d",
    }
    with tenant.tx():
        Message.objects.filter(content="Are dogs allowed?").update(blocks=[{"type": "hologram"}, {}, card])
    answer = client.get(f"/c/{token_of(call)}")
    assert "Welcome." in answer.content.decode()


def test_events_that_the_page_knows_of_another_chat_are_not_gone_on_with(call: Conversation, client: Client) -> None:
    """A position that was never reached is ignored too; then everything is sent."""
    token = token_of(call)
    client.post(f"/c/{token}", {"content": "One"})
    first = pages._place(token, "1", "")
    assert isinstance(first, StreamCursor)
    chat = str(first.conversation_id)
    known = {("1", chat): False, ("1", str(call.pk)): True, ("999", chat): True, ("x", chat): True}
    for (after, named), is_reset in known.items():
        found = pages._place(token, after, named)
        assert isinstance(found, StreamCursor)
        assert (found.is_reset, found.after) == (is_reset, 0 if is_reset else 1), (after, named)


def test_more_than_a_person_would_write_is_too_much(
    call: Conversation, client: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted for the customer, from however many addresses; looking goes on."""
    monkeypatch.setattr(
        pages, "seconds_to_wait", lambda bucket, *, per_minute: 2.5 if str(call.persona_id) in bucket else 0
    )
    answer = client.post(f"/c/{token_of(call)}", {"content": "Hello!"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")
    assert client.get(f"/c/{token_of(call)}").status_code == 200
    with tenant.tx():
        assert not Message.objects.filter(content="Hello!").exists()


def test_what_is_too_long_is_said_and_stands_there_still(call: Conversation, client: Client) -> None:
    """Without a script too; a line break counts once, as it was written."""
    address = f"/c/{token_of(call)}"
    answer = client.post(address, {"content": "line\r\n" * 800 + "b"})
    assert answer.status_code == 422
    assert "Too long: 4,001 of 4,000 characters. Remove 1 to send." in answer.content.decode()
    assert "line\nline\nb</textarea>" in answer.content.decode()
    assert client.post(address, {"content": "line\r\n" * 800}).status_code == 302


@pytest.mark.parametrize("content", ["", "   ", "x" * 4_001, "a\x00b"])
def test_a_message_that_can_not_be_stored_is_refused_with_a_sentence(
    call: Conversation, client: Client, tenant: Tenant, content: str
) -> None:
    answer = client.post(f"/c/{token_of(call)}", {"content": content}, headers={"Accept": "application/json"})
    error = answer.json()["error"]
    assert (answer.status_code, error["field"], bool(error["message"])) == (400, "content", True)
    with tenant.tx():
        assert not Conversation.objects.filter(channel="portal").exists()


@pytest.mark.requirement("W03")
def test_the_button_for_a_person_asks_for_one(turns: Any, client: Client) -> None:
    """Whoever has the customer's number reaches them."""
    portal = turns.on("portal", external_id="ada", phone="+393475550142")
    portal.calls_tool("escalate_to_human", {"reason": "A complaint"})
    portal.says("There you are.")
    escalation = portal.block(portal.say("I want to talk to a person"))["escalation"]
    page = f"/c/{token_of(portal.conversation)}"
    assert escalation in client.get(page).content.decode()
    client.post(page, {"escalation": escalation})
    with portal.tenant.tx():
        assert Escalation.objects.get(pk=escalation).state == EscalationState.WAITING


def test_a_script_in_the_transcript_is_text(call: Conversation, tenant: Tenant, client: Client) -> None:
    with tenant.tx():
        post_message(call.pk, "<script>alert(1)</script>")
    assert "<script>alert(1)" not in client.get(f"/c/{token_of(call)}").content.decode()


def caller(turns: Any) -> Any:
    """A caller who asks for the link."""
    phone = turns.on("phone", external_id="ada", phone="+393475550142")
    phone.calls_tool("send_portal_link")
    phone.says("I've sent it.")
    return phone


@pytest.fixture
def twilio(turns: Any) -> Iterator[TwilioServer]:
    with TwilioServer() as server:
        connect_twilio(turns.tenant, server.url)
        yield server


@pytest.mark.requirement("F11")
def test_a_caller_is_sent_the_link_of_their_own_page(turns: Any, twilio: TwilioServer) -> None:
    """The model reads that it was sent, but never the link."""
    phone = caller(turns)
    turn = phone.say("Send me the link, please")
    [sent] = [found for call in twilio.script.calls if (found := LINK.search(call.form["Body"]))]
    place = read_portal_token(sent[1])
    assert place is not None
    assert place.persona_id == phone.conversation.persona_id
    assert "/c/" not in phone.result(turn)


def test_the_link_stands_nowhere_that_staff_reads(turns: Any, twilio: TwilioServer, client: Client) -> None:
    """It was sent to the customer alone; neither what was sent nor what the service answered keeps it."""
    phone = caller(turns)
    turn = phone.say("Send me the link, please")
    token = LINK.search(twilio.script.calls[0].form["Body"])[1]  # type: ignore[index]
    with phone.tenant.tx():
        effect = Effect.objects.get(turn_id=turn.pk)
    assert effect.state == "done"
    assert effect.request["form"]["Body"].endswith("/c/••••••")
    client.force_login(phone.tenant.owner)
    home = f"/p/{phone.tenant.project.slug}"
    pages = [client.get(f"{home}/{path}").content.decode() for path in ("effects", f"effects/{effect.pk}")]
    shown = [str(vars(effect)), str(phone.sent(turn)), str([event.payload for event in phone.events()]), *pages]
    calls = Client(headers=phone.tenant.headers)
    shown += [calls.get(f"/api/v1/{path}").content.decode() for path in ("effects", f"effects/{effect.pk}")]
    assert not [text[:80] for text in shown if token[:60] in text]


def test_a_text_of_which_nobody_knows_keeps_no_link_either(turns: Any, twilio: TwilioServer) -> None:
    """It isn't sent a second time, and what is left of it opens nothing."""
    twilio.script.cuts = True
    phone = caller(turns)
    turn = phone.say("Send me the link, please")
    with phone.tenant.tx():
        effect = Effect.objects.get(turn_id=turn.pk)
    assert (effect.state, len(twilio.script.calls)) == ("unknown", 1)
    assert not LINK.search(str(vars(effect)))


@pytest.mark.requirement("F11")
def test_without_a_service_the_outbox_keeps_the_link_in_the_demo_only(turns: Any, settings: Any) -> None:
    """Where the offline model answers nobody is ever texted, and the outbox is the customer's phone."""
    for is_offline in (True, False):
        settings.OFFLINE_MODEL = is_offline
        phone = turns.on("phone", external_id=f"ada {is_offline}", phone=f"+39347555014{int(is_offline)}")
        phone.calls_tool("send_portal_link")
        phone.says("I've sent it.")
        [effect] = phone.effects(phone.say("Send me the link, please"))
        assert bool(LINK.search(str(effect.request) + str(effect.result))) == is_offline


@pytest.mark.requirement("F11")
def test_the_link_is_offered_on_the_phone_only(turns: Any) -> None:
    turns.says("Hello!")
    turns.say("Hi")
    assert "send_portal_link" not in turns.asked()[0]["tools"]


def test_a_link_is_short_enough_for_a_text_message(call: Conversation) -> None:
    assert len(portal_url(PortalTarget(call.organization_id, call.persona_id))) < 120


def test_what_is_sent_twice_with_one_key_is_said_once(call: Conversation, client: Client, tenant: Tenant) -> None:
    """By the page's script, whose first try had no answer."""
    headers = {"Accept": "application/json", "Idempotency-Key": "once"}
    answers = [client.post(f"/c/{token_of(call)}", {"content": "Hello"}, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    other = client.post(f"/c/{token_of(call)}", {"content": "Hello?"}, headers=headers)
    assert other.status_code == 422
    with tenant.tx():
        assert Message.objects.filter(conversation__channel="portal").count() == 1
