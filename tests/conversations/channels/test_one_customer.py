"""One customer on several channels: the same number is the same person, where the provider vouches for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.test import Client

from conversations.channels.reply_chats import reply_chats
from conversations.channels.twilio import MESSAGES
from conversations.models import Channel, Chat, Conversation, ConversationStatus, Persona
from conversations.turns.services import set_observed_field, start_conversation
from tests.concurrent import meanwhile
from tests.conftest import Tenant, member_of
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.graph_server import Line, text
from tests.conversations.channels.twilio_number import ANNA, Number
from tests.tools.messaging.twilio_server import FROM

ON_WHATSAPP = {"From": f"whatsapp:{ANNA}", "To": f"whatsapp:{FROM}"}


def known(tenant: Tenant, external_id: str, fields: Mapping[str, str]) -> Conversation:
    """A conversation by chat with a customer of whom the business has these fields on file."""
    with tenant.tx():
        return start_conversation(
            tenant.project, channel=Channel.CHAT, external_id=external_id, known=fields, metadata={}
        )


def customers(number: Number) -> set[Any]:
    return {one.persona_id for one in number.rows(Conversation)}


def test_a_number_on_two_channels_of_one_provider_is_one_customer(number: Number) -> None:
    number.post(MESSAGES, number.text(sid="SM1"))
    number.post(MESSAGES, number.text(sid="SM2", **ON_WHATSAPP))
    assert sorted(one.channel for one in number.rows(Conversation)) == ["sms", "whatsapp"]
    assert len(customers(number)) == 1


def test_a_number_on_channels_of_two_providers_is_one_customer(number: Number, line: Line) -> None:
    line.write(text())
    number.post(MESSAGES, number.text())
    assert (len(number.rows(Chat)), len(customers(number))) == (2, 1)


def test_first_messages_at_once_make_one_customer(number: Number, line: Line) -> None:
    with meanwhile("strength >= $4", lambda: line.write(text())):
        number.post(MESSAGES, number.text())
    assert (len(number.rows(Conversation)), len(customers(number))) == (2, 1)


def test_a_number_on_file_finds_its_customer(number: Number) -> None:
    on_file = known(number.tenant, "anna", {"phone": ANNA})
    number.post(MESSAGES, number.text())
    assert customers(number) == {on_file.persona_id}


def test_a_number_that_a_stranger_claims_is_not_theirs(number: Number) -> None:
    stranger = known(number.tenant, "stranger", {})
    with number.tenant.tx():
        set_observed_field(Persona.objects.get(pk=stranger.persona_id), "phone", ANNA)
    number.post(MESSAGES, number.text())
    assert len(customers(number)) == 2


def test_a_number_on_file_of_two_customers_is_nobodys(number: Number) -> None:
    for name in ("anna", "twin"):
        known(number.tenant, name, {"phone": ANNA})
    number.post(MESSAGES, number.text())
    number.post(MESSAGES, number.text(sid="SM2", **ON_WHATSAPP))
    assert len(customers(number)) == 3


def test_a_name_in_telegram_proves_nothing(bot: Bot, number: Number) -> None:
    number.post(MESSAGES, number.text(ProfileName="Anna Bianchi"))
    bot.write("Hello", contact={"first_name": "Anna", "phone_number": ANNA})
    assert len(customers(number)) == 2


def test_a_chat_after_a_transfer_is_still_its_customers(number: Number) -> None:
    number.post(MESSAGES, number.text())
    with number.tenant.tx():
        Conversation.objects.update(status=ConversationStatus.TRANSFERRED)
    number.post(MESSAGES, number.text(sid="SM2"))
    assert (len(number.rows(Conversation)), len(customers(number))) == (2, 1)


def choices(number: Number, conversation: Conversation) -> list[tuple[str, bool]]:
    with number.tenant.tx():
        return [(one.channel, one.is_last) for one in reply_chats(conversation)]


def test_an_answer_goes_to_the_chat_that_the_customer_used_last(number: Number) -> None:
    number.post(MESSAGES, number.text())
    [first] = number.rows(Conversation)
    assert choices(number, first) == []
    number.post(MESSAGES, number.text(sid="SM2", **ON_WHATSAPP))
    assert choices(number, first) == [("WhatsApp", True), ("SMS", False)]
    number.post(MESSAGES, number.text(sid="SM3"))
    assert choices(number, first) == [("SMS", True), ("WhatsApp", False)]


def test_no_answer_goes_to_a_chat_that_opted_out(number: Number) -> None:
    number.post(MESSAGES, number.text())
    [first] = number.rows(Conversation)
    number.post(MESSAGES, number.text("STOP", sid="SM2", **ON_WHATSAPP))
    assert choices(number, first) == []


def test_the_composer_offers_the_chats(number: Number, client: Client) -> None:
    client.force_login(member_of(number.tenant, "operator"))
    number.post(MESSAGES, number.text())
    [first] = number.rows(Conversation)
    number.post(MESSAGES, number.text(sid="SM2", **ON_WHATSAPP))
    page = client.get(f"/p/{number.tenant.project.slug}/inbox/{first.pk}").content.decode()
    assert 'id="reply-chat"' in page
    assert page.count("used last") == 1
