"""The portal behind its signed link: content, messages, and access."""

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
    """A phone call with a transcript."""
    with tenant.tx():
        made = start_conversation(
            tenant.project, channel="phone", external_id="ada", known={"phone": "+393475550142"}, metadata={}
        )
        post_message(made.pk, "Do you have a table on Friday?")
    return made


def token_of(conversation: Conversation, *, until: int = FOREVER) -> str:
    return portal_token(PortalTarget(conversation.organization_id, conversation.persona_id), until=until)


def test_the_portal_shows_the_transcripts(call: Conversation, client: Client) -> None:
    """The transcripts of the customer's own conversations."""
    assert "Do you have a table on Friday?" in client.get(f"/c/{token_of(call)}").content.decode()


@pytest.mark.requirement("F15")
def test_a_portal_message_begins_a_portal_conversation(call: Conversation, client: Client, tenant: Tenant) -> None:
    """On the channel portal, with the same customer."""
    client.post(f"/c/{token_of(call)}", {"content": "I'd like to bring my dog."})
    with tenant.tx():
        message = Message.objects.select_related("conversation").get(content="I'd like to bring my dog.")
    assert (message.conversation.channel, message.conversation.persona_id) == ("portal", call.persona_id)


def test_a_second_message_continues_the_conversation(call: Conversation, client: Client, tenant: Tenant) -> None:
    for words in ("One", "Two"):
        client.post(f"/c/{token_of(call)}", {"content": words})
    with tenant.tx():
        assert Conversation.objects.filter(channel="portal").count() == 1


def test_a_form_submitted_twice_is_stored_once(call: Conversation, client: Client, tenant: Tenant) -> None:
    """A double click without the script, or a resubmitted page; other input is another message."""
    found = re.search('name="key" value="([0-9a-f]{32})"', client.get(f"/c/{token_of(call)}").content.decode())
    assert found is not None
    for words in ("One", "One", "Two"):
        assert client.post(f"/c/{token_of(call)}", {"content": words, "key": found[1]}).status_code == 302
    with tenant.tx():
        said = Message.objects.filter(conversation__channel="portal", role="user").order_by("seq")
        assert list(said.values_list("content", flat=True)) == ["One", "Two"]


@pytest.mark.parametrize("key", ["é", " ", "x" * 999])
def test_an_invalid_form_key_is_refused(call: Conversation, client: Client, key: str) -> None:
    assert client.post(f"/c/{token_of(call)}", {"content": "One", "key": key}).status_code in (302, 422)


@pytest.mark.parametrize(
    "change", [lambda token: "A" * 68, lambda token: token[:-1], lambda token: f"{token[:60]}AAAAAAAA"]
)
def test_a_link_we_never_signed_opens_nothing(call: Conversation, client: Client, change: Any) -> None:
    """The response is 404, and tells the customer what to do."""
    answer = client.get(f"/c/{change(token_of(call))}")
    assert (answer.status_code, answer.headers["X-Robots-Tag"]) == (404, "noindex, nofollow")
    assert "or ask for a new link" in answer.content.decode()


def test_a_link_expires_after_fourteen_days(call: Conversation, client: Client) -> None:
    assert client.get(f"/c/{token_of(call, until=20_000)}").status_code == 404


def test_a_link_shows_no_other_customers_data(call: Conversation, tenant: Tenant, client: Client) -> None:
    with tenant.tx():
        other = start_conversation(tenant.project, channel="chat", external_id="bob", known={}, metadata={})
    client.post(f"/c/{token_of(call)}", {"content": "My dog comes too."})
    client.post(f"/c/{token_of(other)}", {"content": "A window, please."})
    for mine, theirs in ((call, "A window, please."), (other, "Do you have a table"), (other, "My dog comes too.")):
        assert theirs not in client.get(f"/c/{token_of(mine)}").content.decode()


def test_a_link_is_valid_to_the_end_of_its_fourteenth_day(call: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retired signing keys stay valid as long as they are configured."""
    place = PortalTarget(call.organization_id, call.persona_id)
    token = token_in(portal_url(place))
    today = time.time()
    for days, is_open in ((0, True), (14, True), (15, False)):
        monkeypatch.setattr("tools.services.signed_links.time.time", lambda days=days: today + days * 86_400)
        assert (read_portal_token(token) == place) == is_open, days


def test_a_link_signed_with_a_retired_key_still_opens(call: Conversation, client: Client, settings: Any) -> None:
    address = f"/c/{token_of(call)}"
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "y" * 50, [settings.SECRET_KEY]
    assert client.get(address).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert client.get(address).status_code == 404


@pytest.mark.requirement("W12")
def test_an_unknown_block_is_skipped(call: Conversation, client: Client, tenant: Tenant) -> None:
    """A block type of a newer server does not break the page."""
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
    assert "hologram" not in answer.content.decode()


def test_events_of_another_chat_are_sent_from_the_beginning(call: Conversation, client: Client) -> None:
    """A position that was never reached is ignored too; then everything is sent."""
    token = token_of(call)
    client.post(f"/c/{token}", {"content": "One"})
    first = pages._stream_start(token, "1", "")
    assert isinstance(first, StreamCursor)
    chat = str(first.conversation_id)
    known = {("1", chat): False, ("1", str(call.pk)): True, ("999", chat): True, ("x", chat): True}
    for (after, named), is_reset in known.items():
        found = pages._stream_start(token, after, named)
        assert isinstance(found, StreamCursor)
        assert (found.is_reset, found.after) == (is_reset, 0 if is_reset else 1), (after, named)


def test_messages_are_rate_limited(
    call: Conversation, client: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted per customer, from any number of addresses; reading goes on."""
    monkeypatch.setattr(
        pages, "seconds_to_wait", lambda bucket, *, per_minute: 2.5 if str(call.persona_id) in bucket else 0
    )
    answer = client.post(f"/c/{token_of(call)}", {"content": "Hello!"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")
    assert client.get(f"/c/{token_of(call)}").status_code == 200
    with tenant.tx():
        assert not Message.objects.filter(content="Hello!").exists()


def test_a_message_over_the_limit_is_reported_and_stays_in_its_field(call: Conversation, client: Client) -> None:
    """Also without a script; a line break counts as one character."""
    address = f"/c/{token_of(call)}"
    answer = client.post(address, {"content": "line\r\n" * 800 + "b"})
    assert answer.status_code == 422
    assert "Too long: 4,001 of 4,000 characters. Remove 1 to send." in answer.content.decode()
    assert "line\nline\nb</textarea>" in answer.content.decode()
    assert client.post(address, {"content": "line\r\n" * 800}).status_code == 302


@pytest.mark.parametrize("content", ["", "   ", "x" * 4_001, "a\x00b"])
def test_an_unstorable_message_is_refused(call: Conversation, client: Client, tenant: Tenant, content: str) -> None:
    answer = client.post(f"/c/{token_of(call)}", {"content": content}, headers={"Accept": "application/json"})
    error = answer.json()["error"]
    assert (answer.status_code, error["field"], bool(error["message"])) == (400, "content", True)
    with tenant.tx():
        assert not Conversation.objects.filter(channel="portal").exists()


@pytest.mark.requirement("W03")
def test_the_button_requests_a_person(turns: Any, client: Client) -> None:
    """Anyone who has the customer's number reaches them."""
    portal = turns.on("portal", external_id="ada", phone="+393475550142")
    portal.calls_tool("escalate_to_human", {"reason": "A complaint"})
    portal.says("There you are.")
    escalation = portal.block(portal.say("I want to talk to a person"))["escalation"]
    page = f"/c/{token_of(portal.conversation)}"
    assert escalation in client.get(page).content.decode()
    client.post(page, {"escalation": escalation})
    with portal.tenant.tx():
        assert Escalation.objects.get(pk=escalation).state == EscalationState.WAITING


def test_markup_in_the_transcript_is_escaped(call: Conversation, tenant: Tenant, client: Client) -> None:
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
def test_a_caller_is_texted_their_own_portal_link(turns: Any, twilio: TwilioServer) -> None:
    """The model reads that it was sent, but never the link."""
    phone = caller(turns)
    turn = phone.say("Send me the link, please")
    [sent] = [found for call in twilio.script.calls if (found := LINK.search(call.form["Body"]))]
    place = read_portal_token(sent[1])
    assert place is not None
    assert place.persona_id == phone.conversation.persona_id
    assert "/c/" not in phone.result(turn)


def test_the_link_is_stored_nowhere_staff_can_read(turns: Any, twilio: TwilioServer, client: Client) -> None:
    """It was sent to the customer only; neither the stored message nor the service's response contains it."""
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


def test_a_text_with_an_unknown_outcome_stores_no_link_either(turns: Any, twilio: TwilioServer) -> None:
    """It is not sent again, and the stored rest of it opens nothing."""
    twilio.script.cuts = True
    phone = caller(turns)
    turn = phone.say("Send me the link, please")
    with phone.tenant.tx():
        effect = Effect.objects.get(turn_id=turn.pk)
    assert (effect.state, len(twilio.script.calls)) == ("unknown", 1)
    assert not LINK.search(str(vars(effect)))


@pytest.mark.requirement("F11")
def test_without_a_text_service_only_the_demos_outbox_keeps_the_link(turns: Any, settings: Any) -> None:
    """With the offline model nobody is texted, and the outbox is the customer's phone."""
    for is_offline in (True, False):
        settings.OFFLINE_MODEL = is_offline
        phone = turns.on("phone", external_id=f"ada {is_offline}", phone=f"+39347555014{int(is_offline)}")
        phone.calls_tool("send_portal_link")
        phone.says("I've sent it.")
        [effect] = phone.effects(phone.say("Send me the link, please"))
        assert bool(LINK.search(str(effect.request) + str(effect.result))) == is_offline


@pytest.mark.requirement("F11")
def test_the_link_is_only_offered_on_the_phone(turns: Any) -> None:
    turns.says("Hello!")
    turns.say("Hi")
    assert "send_portal_link" not in turns.asked()[0]["tools"]


def test_a_link_fits_into_a_text_message(call: Conversation) -> None:
    assert len(portal_url(PortalTarget(call.organization_id, call.persona_id))) < 120


def test_a_message_sent_twice_with_one_key_is_stored_once(call: Conversation, client: Client, tenant: Tenant) -> None:
    """By the page's script, when the first response was lost."""
    headers = {"Accept": "application/json", "Idempotency-Key": "once"}
    answers = [client.post(f"/c/{token_of(call)}", {"content": "Hello"}, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    other = client.post(f"/c/{token_of(call)}", {"content": "Hello?"}, headers=headers)
    assert other.status_code == 422
    with tenant.tx():
        assert Message.objects.filter(conversation__channel="portal").count() == 1
