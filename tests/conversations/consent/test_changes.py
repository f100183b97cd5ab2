"""Changes of consents: a withdrawal always wins, and giving again takes the customer's own words, staff or the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.common.consents import is_withdrawn_at
from conversations.handover.requests import request_person
from conversations.models import ConsentChange, ConsentSource, PersonaField
from conversations.models.persona import Strength
from conversations.turns.services import give_fields, set_observed_field
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin
from tests.conversations.pipeline.test_facts import fact, keep, known
from tools.services.support.escalations import offer_person

NEVER, AGAIN = "Please never text me", "You may text me again"
PHONE, DIGITS = "+39 333 123 4567", "393331234567"
OPT_INS = ("sms_opt_in", "email_opt_in", "call_opt_in", "recording_opt_in")


def give(talk: Talk, source: ConsentSource = ConsentSource.API, **fields: str) -> None:
    with talk.tenant.tx():
        give_fields(talk.reload().persona, fields, source=source)


def says(talk: Talk, words: str, value: str, *, field: str = "sms_opt_in", quote: str = "", **more: str) -> list[str]:
    """The customer writes, and the observer reads a consent. Return the reasons of refused readings."""
    kept = keep(talk, talk.say(words), fact(field, value, quote=quote or words, **more))
    return [reason for _, reason in kept.refused]


def history(talk: Talk) -> list[tuple[str, bool, str, str]]:
    with talk.tenant.tx():
        rows = ConsentChange.objects.filter(persona_id=talk.conversation.persona_id).order_by("created_at", "id")
        return [(row.kind, row.is_given, row.quote, row.source) for row in rows]


def is_refused_at(tenant: Tenant, recipient: str, kind: Any = "sms") -> bool:
    with tenant.tx():
        return is_withdrawn_at(tenant.project.pk, kind, [recipient])


@pytest.mark.parametrize("field", OPT_INS)
def test_a_withdrawal_in_the_customers_words_replaces_what_staff_gave(talk: Talk, field: str) -> None:
    give(talk, **{field: "true"})
    says(talk, "No, never do that", "false", field=field)
    assert known(talk)[field] == "false"


@pytest.mark.parametrize("reading", [{"quote": "don't ever text"}, {"confidence": "inferred"}])
def test_a_withdrawal_without_the_customers_words_leaves_what_staff_gave(talk: Talk, reading: dict[str, str]) -> None:
    give(talk, sms_opt_in="true")
    says(talk, NEVER, "false", **reading)
    assert known(talk)["sms_opt_in"] == "true"


def test_consent_is_given_again_in_the_customers_words(talk: Talk) -> None:
    give(talk, sms_opt_in="false")
    assert says(talk, AGAIN, "true") == []
    assert known(talk)["sms_opt_in"] == "true"


@pytest.mark.parametrize(
    ("words", "reading"),
    [("Hello", {"quote": "text me"}), (AGAIN, {"confidence": "inferred"}), ("I'd like a table", {"quote": "a"})],
)
def test_consent_is_not_given_again_without_the_customers_words(
    talk: Talk, words: str, reading: dict[str, str]
) -> None:
    says(talk, NEVER, "false")
    assert len(says(talk, words, "true", **reading)) == 1
    assert known(talk)["sms_opt_in"] == "false"


def test_words_before_the_withdrawal_do_not_give_consent_again(talk: Talk) -> None:
    says(talk, AGAIN, "true")
    says(talk, NEVER, "false")
    assert len(says(talk, "A table for two", "true", quote=AGAIN)) == 1
    assert known(talk)["sms_opt_in"] == "false"


def test_a_message_withdraws_a_consent_once(talk: Talk) -> None:
    """A later reading of the same message doesn't undo what staff agreed with the customer since."""
    says(talk, NEVER, "false")
    give(talk, ConsentSource.STAFF, sms_opt_in="true")
    assert len(says(talk, "A table for two", "false", quote=NEVER)) == 1
    assert known(talk)["sms_opt_in"] == "true"


def test_each_change_is_in_the_history_with_its_quote_and_source(talk: Talk) -> None:
    give(talk, sms_opt_in="true")
    says(talk, NEVER, "false")
    give(talk, ConsentSource.STAFF, sms_opt_in="true")
    assert history(talk) == [
        ("sms", True, "", "api"),
        ("sms", False, NEVER, "customer"),
        ("sms", True, "", "staff"),
    ]


def test_what_the_history_says_already_is_not_repeated(talk: Talk) -> None:
    give(talk, sms_opt_in="false", phone=PHONE)
    give(talk, sms_opt_in="false", phone=PHONE)
    assert len(history(talk)) == 1


def test_an_inferred_agreement_is_not_recorded(talk: Talk) -> None:
    """It would lift the refusal of somebody else with the same number."""
    give(talk, phone=PHONE)
    says(talk, "Hello", "true", confidence="inferred")
    assert history(talk) == []


def test_a_refusal_binds_the_number(talk: Talk) -> None:
    give(talk, phone=PHONE)
    says(talk, NEVER, "false")
    assert is_refused_at(talk.tenant, DIGITS)
    assert not is_refused_at(talk.tenant, DIGITS, "email")


def test_a_refusal_binds_the_address_in_lower_case(talk: Talk) -> None:
    give(talk, email="Ada@Example.com")
    says(talk, "No e-mails please", "false", field="email_opt_in")
    assert is_refused_at(talk.tenant, "ada@example.com", "email")


@pytest.mark.parametrize("source", ["observer", "API", "tool", "lead"])
def test_a_refusal_binds_the_number_that_becomes_known_later(talk: Talk, source: str) -> None:
    says(talk, NEVER, "false")
    if source == "observer":
        says(talk, "It's +39 333 123 4567", PHONE, field="phone")
    elif source == "API":
        give(talk, phone=PHONE)
    elif source == "tool":
        with talk.tenant.tx():
            set_observed_field(talk.reload().persona, "phone", PHONE)
    else:
        with talk.tenant.tx():
            where = {"project_id": talk.tenant.project.pk, "conversation_id": talk.conversation.pk}
            escalation = offer_person(**where, turn_id=None, effect_id=None, reason="asked")
            request_person(talk.conversation, escalation.pk, {"phone": PHONE})
    assert is_refused_at(talk.tenant, DIGITS)
    assert history(talk)[-1] == ("sms", False, NEVER, "customer")


def test_the_newest_change_at_a_number_holds(tenant: Tenant) -> None:
    """The same person wrote in a chat, and agrees on the phone."""
    chat, call = begin(tenant), begin(tenant, channel="phone", external_id="caller")
    for talk in (chat, call):
        give(talk, phone=PHONE)
    says(chat, NEVER, "false")
    says(call, AGAIN, "true")
    assert not is_refused_at(tenant, DIGITS)


def test_a_refusal_binds_nobody_of_another_project(tenant: Tenant, stranger: Tenant) -> None:
    talk = begin(tenant)
    give(talk, phone=PHONE, sms_opt_in="false")
    assert not is_refused_at(stranger, DIGITS)


def test_the_api_returns_the_history_newest_first(talk: Talk, api: Client) -> None:
    says(talk, NEVER, "false")
    address = f"/api/v1/personas/{talk.conversation.persona_id}"
    changed = api.patch(address, {"attributes": {"sms_opt_in": "True"}}, content_type="application/json").json()
    found = [(one["kind"], one["given"], one["quote"], one["source"]) for one in changed["consents"]]
    assert found == [("sms", True, None, "api"), ("sms", False, NEVER, "customer")]
    assert changed["attributes"]["sms_opt_in"] == "true"


def test_the_api_refuses_a_consent_that_is_neither_true_nor_false(talk: Talk, api: Client) -> None:
    """Anything else would count as a consent."""
    address = f"/api/v1/personas/{talk.conversation.persona_id}"
    refused = api.patch(address, {"attributes": {"sms_opt_in": "no"}}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "attributes.sms_opt_in")


def test_the_field_keeps_the_words_of_the_withdrawal(talk: Talk) -> None:
    give(talk, sms_opt_in="true")
    says(talk, NEVER, "false")
    with talk.tenant.tx():
        field = PersonaField.objects.get(key="sms_opt_in")
    assert (field.strength, field.quote, field.message_id is not None) == (Strength.STATED, NEVER, True)
