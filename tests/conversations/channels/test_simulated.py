"""The simulated phone's providers: messages take the way of real ones, and real connections are left alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from conversations.channels.linking import link_channel
from conversations.channels.simulated import (
    CUSTOMERS,
    KINDS,
    Bubble,
    PhoneFile,
    Screen,
    connect_simulated,
    given_file,
    line_of,
    read_file,
    simulated_channel,
    use_phone,
    with_states,
)
from conversations.handover import operators
from conversations.live.event_log import open_log
from conversations.models import Attachment, Chat, Conversation, Delivery, Message, MessageRole, Receipt
from conversations.turns.services import give_fields
from projects.connections.integration_types import KINDS as TYPES
from projects.connections.integrations import SourceEdit, connect_source
from projects.models import Source
from tests.calls_provider import Provider
from tests.conftest import Tenant
from tests.conversations.channels.files import PNG, VOICE, answer_with
from tests.conversations.conftest import begin
from tests.conversations.effects.conftest import Bench
from tests.processes import ForkServer, ScriptedModel, until
from tools.models import Promise

ANNA = CUSTOMERS[0]
# How far the agent's reply comes on each channel: Telegram reports nothing after it took the message.
ENDINGS = {"twilio": "delivered", "whatsapp": "delivered", "telegram": "sent"}
FAILURES = {"twilio": "switched off", "whatsapp": "no WhatsApp", "telegram": "opted out"}


class Simulated:
    """The three channels of a project at the offline providers, and one customer's phone."""

    def __init__(self, tenant: Tenant) -> None:
        self.tenant = tenant
        with tenant.tx():
            channels = connect_simulated(tenant.project, by=tenant.owner)
        for channel in channels:
            asyncio.run(link_channel(channel))

    def do(self, kind: str, action: str, *, secret: str = "", **details: Any) -> Screen:
        with self.tenant.tx():
            channel = simulated_channel(self.tenant.project, kind)
            assert channel is not None
            line = line_of(channel, ANNA)
        screen = asyncio.run(use_phone(replace(line, secret=secret or line.secret), action, **details))
        with self.tenant.tx():
            return with_states(screen, channel)

    def look(self, kind: str) -> list[tuple[bool, str]]:
        """The bubbles: whether they are the customer's, and their state."""
        return [(one.is_mine, one.state) for one in self.do(kind, "look").bubbles]

    def rows(self, model: Any) -> list[Any]:
        with self.tenant.tx():
            return list(model.objects.all())


@pytest.fixture
def phone(
    tenant: Tenant, processes: ForkServer, model: ScriptedModel, calls_provider: Provider, settings: Any
) -> Simulated:
    """The phone, beside a web process and a worker that know the product's address."""
    settings.OFFLINE_MESSENGERS_URL = f"{calls_provider.url}/messengers"
    _, settings.BASE_URL = processes.web(knows_address=True)
    processes.worker(address=settings.BASE_URL)
    return Simulated(tenant)


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_is_answered_and_its_reply_arrives(kind: str, phone: Simulated, model: ScriptedModel) -> None:
    model.script("reply", text="Yes, at eight.")
    assert phone.do(kind, "write", text="Do you have a table?").status == 200
    expected = [(True, "answered"), (False, ENDINGS[kind])]
    until(lambda: phone.look(kind) == expected, what=lambda: f"{expected}, not {phone.look(kind)}")
    assert [one.text for one in phone.do(kind, "look").bubbles] == ["Do you have a table?", "Yes, at eight."]
    assert [one.kind for one in phone.rows(Chat)] == [kind]


def test_a_message_to_a_person_is_answered_once_they_answer(phone: Simulated) -> None:
    phone.do("twilio", "write", text="Do you have a table?")
    until(lambda: len(phone.look("twilio")) == 2, what="the first reply")
    with phone.tenant.tx():
        row = Conversation.objects.get()
        operators.take_over(row.pk, by=phone.tenant.owner)
    phone.do("twilio", "write", text="Are you there?")
    until(lambda: (True, "held") in phone.look("twilio"), what="a message that waits for the team")
    with phone.tenant.tx():
        operators.answer(row.pk, "I am.", by=phone.tenant.owner)
    assert [state for is_mine, state in phone.look("twilio") if is_mine] == ["answered", "answered"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_goes_to_a_customer_out_of_reach_fails_with_the_reason(kind: str, phone: Simulated) -> None:
    phone.do(kind, "write", text="Do you have a table?")
    until(lambda: phone.look(kind) == [(True, "answered"), (False, ENDINGS[kind])], what="the first reply")
    phone.do(kind, "reach", reachable=False)
    with phone.tenant.tx(), open_log(Conversation.objects.get().pk) as log:
        log.add_message(MessageRole.AGENT, "We are closed on Monday.", turn=None, idn="agent_message")

    def failed() -> list[Receipt]:
        with phone.tenant.tx():
            return list(Receipt.objects.filter(state="failed"))

    until(failed, what="a failure")
    assert FAILURES[kind] in failed()[0].reason


def test_a_text_that_was_promised_on_another_channel_is_delivered(phone: Simulated) -> None:
    phone.do("whatsapp", "write", text="Could you text me the opening hours?")
    until(lambda: phone.look("twilio") == [(False, "delivered")], what=lambda: f"the text, not {phone.look('twilio')}")


@pytest.mark.parametrize("kind", ["whatsapp", "telegram"])
def test_a_pressed_button_is_the_customers_message(kind: str, phone: Simulated) -> None:
    phone.do(kind, "write", text="Hello")
    blocks = [{"type": "escalation_button", "escalation": str(uuid4())}]
    with phone.tenant.tx(), open_log(Conversation.objects.get().pk) as log:
        log.add_message(MessageRole.AGENT, "A colleague can help.", turn=None, idn="agent_message", blocks=blocks)

    def asked() -> list[Bubble]:
        return [one for one in phone.do(kind, "look").bubbles if one.buttons]

    [bubble] = until(asked, what="the button")
    screen = phone.do(kind, "press", message=bubble.id, choice=bubble.buttons[0]["id"])
    assert (screen.status, screen.bubbles[-1].text) == (200, "Talk to a person")
    assert "Talk to a person" in [one.content for one in phone.rows(Message) if one.role == "user"]


def test_whatsapp_reports_that_the_customer_has_read(phone: Simulated) -> None:
    phone.do("whatsapp", "write", text="Do you have a table?")
    until(lambda: (False, "delivered") in phone.look("whatsapp"), what="the reply")
    phone.do("whatsapp", "look", open=True)
    until(lambda: (False, "read") in phone.look("whatsapp"), what="the receipt")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "content", "content_type"), [("menu.png", PNG, "image/png"), ("note.ogg", VOICE, "audio/ogg")]
)
def test_a_customers_file_is_kept(kind: str, name: str, content: bytes, content_type: str, phone: Simulated) -> None:
    file = given_file(name, content_type, content)
    assert phone.do(kind, "write", text="", file=file).status == 200
    until(lambda: len(phone.rows(Attachment)) == 1, what="the file")
    [kept], [shown] = phone.rows(Attachment), [one.file for one in phone.do(kind, "look").bubbles if one.is_mine]
    assert (bytes(kept.content), kept.content_type) == (content, content_type)
    assert (shown and shown.name, asyncio.run(read_file(shown.id)) if shown else None) == (name, content)


@pytest.mark.parametrize("kind", ["whatsapp", "telegram"])
def test_a_file_of_an_answer_is_shown(kind: str, phone: Simulated) -> None:
    phone.do(kind, "write", text="Hello")
    answer_with(phone.tenant, PNG, content="")

    def shown() -> list[PhoneFile]:
        return [one.file for one in phone.do(kind, "look").bubbles if one.file]

    [file] = until(shown, what="the picture")
    assert (file.shown_as, asyncio.run(read_file(file.id))) == ("image", PNG)


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_with_a_wrong_signature_stores_nothing(kind: str, phone: Simulated) -> None:
    assert phone.do(kind, "write", text="Hello", secret="wrong").status == 401
    assert (phone.rows(Message), phone.rows(Delivery), phone.do(kind, "look").bubbles) == ([], [], [])


def test_a_number_is_one_customer_on_both_channels(phone: Simulated) -> None:
    for kind in ("twilio", "whatsapp"):
        phone.do(kind, "write", text="Hello")
    assert len({one.persona_id for one in phone.rows(Conversation)}) == 1


@pytest.fixture
def offline(settings: Any) -> None:
    settings.OFFLINE_MESSENGERS_URL = "http://127.0.0.1:9/messengers"


def test_a_real_connection_is_left_alone(tenant: Tenant, offline: None) -> None:
    real = {"account_sid": "AC" + "0" * 32, "number": "+14155550100"}
    with tenant.tx():
        connect_source(tenant.project, TYPES["twilio"], SourceEdit(real, "canary"), by=None)
        connected = connect_simulated(tenant.project, by=None)
        assert [channel.kind for channel in connected] == ["whatsapp", "telegram"]
        assert simulated_channel(tenant.project, "twilio") is None
        assert Source.objects.get(kind="twilio").settings["base_url"] == "https://api.twilio.com"


def test_a_connection_of_an_earlier_demo_is_none_without_the_providers(
    tenant: Tenant, offline: None, settings: Any
) -> None:
    with tenant.tx():
        connect_simulated(tenant.project, by=None)
        settings.OFFLINE_MESSENGERS_URL = ""
        assert [simulated_channel(tenant.project, kind) for kind in KINDS] == [None] * 3


@pytest.fixture
def page(tenant: Tenant) -> Any:
    client = Client()
    client.force_login(tenant.owner)
    address = f"/p/{tenant.project.slug}/simulated-phone"
    return lambda part="", **form: (client.post if form else client.get)(f"{address}{part}", form)


def test_the_page_exists_only_beside_the_providers(page: Any, settings: Any) -> None:
    assert page().status_code == 404
    settings.OFFLINE_MESSENGERS_URL = "http://127.0.0.1:9/messengers"
    assert page().status_code == 200


def test_nothing_is_written_at_a_real_connection(tenant: Tenant, page: Any, offline: None) -> None:
    real = {"account_sid": "AC" + "0" * 32, "number": "+14155550100"}
    with tenant.tx():
        connect_source(tenant.project, TYPES["twilio"], SourceEdit(real, "canary"), by=None)
    assert page("/act", kind="twilio", text="Hello").status_code == 409


@pytest.mark.parametrize("form", [{"kind": "fax", "text": "Hello"}, {"kind": "sms\x00", "text": "Hello"}])
def test_an_unknown_channel_is_refused(page: Any, offline: None, form: dict[str, str]) -> None:
    assert page("/act", **form).status_code == 409


@pytest.mark.parametrize("customer", ["0", "99", "x", "-1"])
def test_an_unknown_customer_is_not_found(page: Any, offline: None, customer: str) -> None:
    assert page(f"?customer={customer}").status_code == 404


def test_providers_that_do_not_answer_are_named(tenant: Tenant, page: Any, offline: None) -> None:
    with tenant.tx():
        connect_simulated(tenant.project, by=None)
    text = page().content.decode()
    assert text.count("doesn’t answer") == 3


@pytest.mark.parametrize(
    ("reachable", "end"), [(True, ("kept", "delivered", "")), (False, ("broken", "", FAILURES["twilio"]))]
)
def test_a_text_of_a_tool_settles_its_promise(
    phone: Simulated, model: ScriptedModel, reachable: bool, end: tuple[str, str, str]
) -> None:
    phone.do("twilio", "reach", reachable=reachable)
    talk = begin(phone.tenant)
    with phone.tenant.tx():
        give_fields(talk.conversation.persona, {"phone": ANNA.number})
    model.script("arguments", json={"text": "Via Roma 1."})
    Bench(phone.tenant, talk).plan("send_sms_tool", quote="I'll text you the address.")
    state, evidence, reason = end

    def is_settled() -> bool:
        [promise] = phone.rows(Promise)
        return (promise.state, promise.evidence) == (state, evidence) and reason in promise.reason

    until(is_settled, what="the settled promise")
