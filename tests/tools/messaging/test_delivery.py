"""The sending tools: recipient, channel, and the result that the agent reads."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection

from conversations.turns.services import give_fields
from projects.common.phones import NumberRefused, countries_of, home_countries, textable_number
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin
from tests.tools.messaging.conftest import ANNA, KEY, connect_twilio, context_for, source_of
from tests.tools.messaging.mail_server import MailServer
from tests.tools.messaging.twilio_server import TwilioServer
from tools.engine.execution.handler import Contact, Handler, ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.registry import builtin_tools
from tools.models import Booking, Resource
from tools.services.messaging import channels
from tools.services.signed_links import manage_url

pytestmark = pytest.mark.requirement("N51")


COUNTRIES = "project_attributes_setting_sms_allowed_countries"
EMAIL = {"subject": "Your table", "body": "Friday at 20:00."}
NOBODY = Contact(persona_id=uuid.uuid4())


def handler_of(name: str) -> Handler:
    handler = builtin_tools()[name].handler
    assert handler is not None
    return handler


def run(name: str, arguments: dict[str, Any], context: ToolContext) -> Outcome:
    return asyncio.run(handler_of(name).execute(arguments, context))


def text(tenant: Tenant, phone: str = ANNA.phone, words: str = "See you on Friday") -> Outcome:
    context = context_for(tenant, replace(ANNA, phone=phone))
    return run("send_sms_tool", {"text": words}, context)


def test_without_a_connection_a_text_is_stored_verbatim_in_the_outbox(tenant: Tenant) -> None:
    """The outbox holds the text that SmsWorker would have sent."""
    outcome = text(tenant)
    message = {"to": "+393331234567", "text": "See you on Friday"}
    assert (outcome.ending, outcome.adapter) == (Ending.DONE, "outbox")
    assert outcome.result == {"outbox": True, "message": message}


def test_the_agent_reads_that_nothing_was_sent(tenant: Tenant) -> None:
    told = (text(tenant)).told
    assert told.startswith("Test mode")
    assert "Do not say that it was sent" in told


def test_without_a_connection_an_email_is_stored_in_the_outbox(tenant: Tenant) -> None:
    outcome = run("send_email_tool", EMAIL, context_for(tenant))
    assert outcome.result["message"] == {"to": "anna@example.org", "name": "Anna Bianchi", **EMAIL}


def test_a_connected_service_sends_the_message(tenant: Tenant, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(tenant, twilio_api.url)
    assert (text(tenant)).adapter == "twilio"
    assert twilio_api.script.calls[0].form["Body"] == "See you on Friday"


def test_an_email_carries_the_effects_key(tenant: Tenant, local: None, mail: MailServer) -> None:
    """Every attempt has the same key, so that a duplicate can be recognized."""
    edit = SourceEdit(
        {"host": "127.0.0.1", "port": mail.port, "security": "none", "from_address": "hello@nello.example"}, ""
    )
    with tenant.tx():
        connect_source(tenant.project, KINDS["smtp"], edit, by=tenant.owner)
    run("send_email_tool", EMAIL, context_for(tenant))
    assert mail.post.messages[0].message["Message-ID"] == f"<{KEY}@nello.example>"


@pytest.mark.requirement("F17")
def test_a_rejected_sign_in_marks_the_connection_and_is_not_retried(
    tenant: Tenant, local: None, twilio_api: TwilioServer
) -> None:
    connect_twilio(tenant, twilio_api.url, token="wrong-canary")
    first, second = text(tenant), text(tenant)
    assert (first.ending, second.ending, len(twilio_api.script.calls)) == (Ending.FAILED, Ending.FAILED, 1)
    source = source_of(tenant, "twilio")
    assert source is not None
    assert source.needs_reauth


@pytest.mark.requirement("F17")
def test_an_undecryptable_secret_requires_a_reconnect(
    tenant: Tenant, local: None, twilio_api: TwilioServer, settings: Any
) -> None:
    """It is certain that nothing was sent, and staff sees what to do."""
    connect_twilio(tenant, twilio_api.url)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    outcome = text(tenant)
    assert (outcome.ending, twilio_api.script.calls) == (Ending.FAILED, [])
    assert "staff must connect the messaging service again" in outcome.error
    source = source_of(tenant, "twilio")
    assert source is not None
    assert source.needs_reauth


def test_no_transaction_is_open_while_waiting_for_a_service(
    tenant: Tenant, local: None, twilio_api: TwilioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    send = channels.Twilio.send

    async def spy(self: channels.Twilio, message: Any, *, key: str) -> Outcome:
        held.append(connection.in_atomic_block)
        return await send(self, message, key=key)

    monkeypatch.setattr(channels.Twilio, "send", spy)
    connect_twilio(tenant, twilio_api.url)
    text(tenant)
    assert held == [False]


@pytest.mark.parametrize("contact", [None, NOBODY])
def test_without_a_number_the_agent_is_told_to_ask_for_it(tenant: Tenant, contact: Contact | None) -> None:
    outcome = run("send_sms_tool", {"text": "Hi"}, context_for(tenant, contact))
    assert outcome.ending is Ending.FAILED
    assert "phone number isn't known. Ask for it" in outcome.told


@pytest.mark.parametrize("contact", [None, NOBODY])
def test_without_an_address_the_agent_is_told_to_ask_for_it(tenant: Tenant, contact: Contact | None) -> None:
    outcome = run("send_email_tool", EMAIL, context_for(tenant, contact))
    assert outcome.ending is Ending.FAILED
    assert "e-mail address isn't known. Ask for it" in outcome.told


def test_no_sending_tool_lets_a_model_choose_the_recipient() -> None:
    """There is no such argument."""
    fields = {name: set(handler_of(name).arguments.model_fields) for name in ("send_sms_tool", "send_email_tool")}
    assert fields == {"send_sms_tool": {"text"}, "send_email_tool": {"subject", "body"}}


def test_a_recipient_in_the_arguments_is_ignored(tenant: Tenant) -> None:
    arguments = {"text": "Hi", "to": "+900900900", "phone": "+900900900"}
    outcome = run("send_sms_tool", arguments, context_for(tenant))
    assert outcome.result["message"]["to"] == "+393331234567"


def test_a_number_without_a_country_code_uses_the_projects_region(tenant: Tenant) -> None:
    assert text(tenant, "333 1234567").result["message"]["to"] == "+393331234567"


@pytest.mark.parametrize(
    ("phone", "sentence"),
    [
        ("12", "is no phone number"),
        ("call me", "is no phone number"),
        ("899 12 34 56", "cost more than others"),
        ("848 123 456", "cost more than others"),
    ],
)
def test_a_number_that_cannot_be_texted_is_refused(phone: str, sentence: str) -> None:
    with pytest.raises(NumberRefused, match=sentence):
        textable_number(phone, region="IT")


@pytest.mark.parametrize(
    ("setting", "is_allowed"),
    [
        ("IT, DE", True),
        (["it"], True),
        (["DE", "AT"], False),
        ("", True),
        (None, True),
        ("de", False),
        ("Italy", False),
    ],
)
def test_texts_go_only_to_allowed_countries(setting: object, is_allowed: bool) -> None:
    """An unknown country code allows nothing."""
    countries = countries_of(setting)
    assert (not countries or "IT" in countries) is is_allowed


def test_a_number_of_another_country_is_refused_with_a_hint(tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, COUNTRIES, "DE")
    outcome = text(tenant)
    assert outcome.ending is Ending.FAILED
    assert "Texts to IT aren't allowed here" in outcome.told


@pytest.mark.parametrize(
    "phone", ["+39 899 123 4567 89", "+44 909 8790", "+44 70 1234 5678", "+881 612 345 678", "+979 123 456 78"]
)
def test_numbers_that_cost_more_are_refused_everywhere(phone: str) -> None:
    """Premium numbers of an unusual length, personal numbers and satellite phones, too."""
    with pytest.raises(NumberRefused, match="cost more than others"):
        textable_number(phone, region="IT")


@pytest.mark.parametrize(
    ("region", "timezone", "home"),
    [
        ("IT", "UTC", {"IT"}),
        ("US", "America/Chicago", {"US"}),
        ("US", "UTC", set()),
        ("US", "Europe/Rome", set()),
    ],
)
def test_the_default_region_is_home_in_an_american_time_zone_only(region: str, timezone: str, home: set[str]) -> None:
    """Elsewhere nobody may have set it."""
    assert home_countries(region=region, timezone=timezone) == home


def test_without_a_setting_a_number_that_a_customer_gave_must_be_in_the_businesss_country(tenant: Tenant) -> None:
    outcome = text(tenant, "+4915112345678")
    assert "Texts to DE aren't allowed here" in outcome.told


def test_a_number_on_file_may_be_in_any_country(tenant: Tenant) -> None:
    talk = begin(tenant)
    with tenant.tx():
        give_fields(talk.conversation.persona, {"phone": "+4915112345678"})
    context = context_for(tenant, Contact(persona_id=talk.conversation.persona_id, phone="+4915112345678"))
    assert run("send_sms_tool", {"text": "Hi"}, context).ending is Ending.DONE


def test_the_setting_may_allow_every_country(tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, COUNTRIES, "all")
    assert text(tenant, "+4915112345678").ending is Ending.DONE


def repeat(name: str, arguments: dict[str, Any], tenant: Tenant, contact: Contact = ANNA) -> str | None:
    return handler_of(name).repeat_of(arguments, context_for(tenant, contact))


def test_the_same_words_to_the_same_number_are_a_repeat(tenant: Tenant) -> None:
    one = repeat("send_sms_tool", {"text": "Your table: Friday, 20:00!"}, tenant)
    other = repeat("send_sms_tool", {"text": "your  TABLE Friday 20:00"}, tenant, replace(ANNA, phone="+393331234567"))
    assert one == other is not None


def test_separators_in_a_number_do_not_matter(tenant: Tenant) -> None:
    one, other = (
        repeat("send_sms_tool", {"text": "Friday"}, tenant, replace(ANNA, phone=phone))
        for phone in ("333 123 4567", "333-1234567")
    )
    assert one == other


@pytest.mark.parametrize(
    ("words", "phone"), [("Saturday at 20:00", ANNA.phone), ("Friday at 20:00", "+39 333 765 4321")]
)
def test_other_words_or_another_number_are_no_repeat(tenant: Tenant, words: str, phone: str) -> None:
    one = repeat("send_sms_tool", {"text": "Friday at 20:00"}, tenant)
    assert one != repeat("send_sms_tool", {"text": words}, tenant, replace(ANNA, phone=phone))


def test_the_same_email_to_the_same_address_is_a_repeat(tenant: Tenant) -> None:
    one = repeat("send_email_tool", EMAIL, tenant)
    other = repeat("send_email_tool", EMAIL, tenant, replace(ANNA, email="Anna@Example.org "))
    assert one == other is not None


@pytest.fixture
def anna(tenant: Tenant) -> Talk:
    """A conversation with Anna."""
    return begin(tenant, external_id="anna")


def contact_of(talk: Talk) -> Contact:
    return replace(ANNA, persona_id=talk.conversation.persona_id)


def book_for(talk: Talk, *, days: int = 3, code: str = "AB12CD", **more: Any) -> Booking:
    """Make a booking for the conversation's customer."""
    starts_at = datetime.now(UTC) + timedelta(days=days)
    with talk.tenant.tx():
        table, _ = Resource.objects.get_or_create(project=talk.tenant.project, name="Table 99")
        return Booking.objects.create(
            project_id=talk.tenant.project.pk,
            resource=table,
            code=code,
            persona_id=talk.conversation.persona_id,
            starts_at=starts_at,
            ends_at=starts_at + timedelta(hours=2),
            **more,
        )


def link(talk: Talk) -> Outcome:
    context = replace(context_for(talk.tenant, contact_of(talk)), conversation_id=talk.conversation.pk)
    return run("send_manage_booking_url_tool", {}, context)


@pytest.mark.requirement("N32")
def test_the_link_to_a_booking_is_texted(anna: Talk) -> None:
    booking = book_for(anna)
    assert link(anna).result["message"] == {
        "to": "+393331234567",
        "text": f"Da Nello: AB12CD\n{manage_url(booking)}",
    }


def test_a_booking_from_this_conversation_takes_precedence(anna: Talk) -> None:
    book_for(anna, days=1, code="SOONER")
    book_for(anna, days=9, code="MADEHERE", conversation_id=anna.conversation.pk)
    assert "MADEHERE" in link(anna).result["message"]["text"]


def test_a_booking_by_staff_under_the_customers_number_has_a_link(anna: Talk) -> None:
    """In any notation."""
    book_for(anna)
    with anna.tenant.tx():
        Booking.objects.update(persona_id=None, phone="+393331234567")
    assert "AB12CD" in link(anna).result["message"]["text"]


def test_somebody_elses_booking_is_not_linked(anna: Talk) -> None:
    book_for(begin(anna.tenant, external_id="bruno"))
    outcome = link(anna)
    assert (outcome.ending, "no booking of this customer's" in outcome.told) == (Ending.FAILED, True)


@pytest.mark.parametrize("gone", [{"state": "cancelled"}, {"days": -2}])
def test_a_past_booking_has_no_link(anna: Talk, gone: dict[str, Any]) -> None:
    book_for(anna, **gone)
    assert link(anna).ending is Ending.FAILED


def test_every_link_to_the_same_customer_is_a_repeat(anna: Talk) -> None:
    keys = {repeat("send_manage_booking_url_tool", {}, anna.tenant, contact_of(anna)) for _ in range(2)}
    assert len(keys) == 1
    assert None not in keys
