"""Promises of messages in the outbox that the customer no longer wants: withdrawn, whoever says so."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.test import Client

from conversations.models import ConsentSource
from conversations.turns.services import give_fields
from tests.conversations.conftest import Talk, begin
from tests.conversations.consent.test_changes import DIGITS, NEVER, PHONE, give, says
from tests.conversations.customers.test_merge import merge
from tools.models import Effect, EffectState, Evidence, Promise, PromiseOwner


def promise_text(talk: Talk, *, kind: str = "sms", recipient: str = "", state: str = EffectState.DONE) -> UUID:
    """The promise of a message that was written to the outbox."""
    project, turn = talk.tenant.project.pk, talk.say("When do you open?")
    with talk.tenant.tx():
        effect = Effect.objects.create(
            project_id=project,
            conversation_id=talk.conversation.pk,
            effect_key=uuid4().hex,
            tool=f"send_{kind}_tool",
            kind=kind,
            delivery="once",
            definition={},
            state=state,
            adapter="outbox",
            recipient=recipient,
        )
        promise = Promise.objects.create(
            project_id=project,
            conversation_id=talk.conversation.pk,
            turn_id=turn.pk,
            message_id=turn.message_id,
            quote="I'll text you",
            tool=effect.tool,
            effect=effect,
            due_at=effect.created_at,
            evidence=Evidence.OUTBOX,
            owner=PromiseOwner.STAFF,
        )
    return promise.pk


def outcome(talk: Talk, promise: UUID) -> tuple[str, str]:
    with talk.tenant.tx():
        row = Promise.objects.get(pk=promise)
        return row.state, row.reason


def customer(talk: Talk) -> None:
    says(talk, NEVER, "false")


def staff(talk: Talk) -> None:
    give(talk, ConsentSource.STAFF, sms_opt_in="false")


@pytest.mark.parametrize("refuse", [customer, staff])
def test_a_refusal_withdraws_the_promise_of_an_unsent_text(talk: Talk, refuse: Callable[[Talk], None]) -> None:
    promise = promise_text(talk)
    refuse(talk)
    assert outcome(talk, promise) == ("withdrawn", "The customer doesn't want text messages.")


def test_a_refusal_by_the_api_withdraws_the_promises_of_all_the_customers_conversations(
    talk: Talk, api: Client
) -> None:
    promises = [promise_text(talk), promise_text(begin(talk.tenant))]
    address = f"/api/v1/personas/{talk.conversation.persona_id}"
    api.patch(address, {"attributes": {"sms_opt_in": "false"}}, content_type="application/json")
    assert [outcome(talk, promise)[0] for promise in promises] == ["withdrawn", "withdrawn"]


def test_a_refusal_withdraws_what_another_customer_was_promised_at_the_same_number(talk: Talk) -> None:
    promise = promise_text(begin(talk.tenant, external_id="colleague"), recipient=DIGITS)
    give(talk, phone=PHONE, sms_opt_in="false")
    assert outcome(talk, promise)[0] == "withdrawn"


def test_a_number_that_a_refusal_binds_later_ends_its_promises(talk: Talk) -> None:
    give(talk, sms_opt_in="false")
    promise = promise_text(begin(talk.tenant, external_id="colleague"), recipient=DIGITS)
    give(talk, phone=PHONE)
    assert outcome(talk, promise)[0] == "withdrawn"


@pytest.mark.parametrize("refuser", ["kept", "merged"])
@pytest.mark.parametrize("promised_to", ["kept", "merged"])
def test_a_refusal_of_one_withdraws_the_promises_of_both_once_two_customers_are_merged(
    talk: Talk, refuser: str, promised_to: str
) -> None:
    talks = {"kept": talk, "merged": begin(talk.tenant, external_id="twin")}
    give(talks[refuser], ConsentSource.STAFF, sms_opt_in="false")
    promise = promise_text(talks[promised_to])
    merge(talk.tenant, talk.reload().persona, talks["merged"].reload().persona)
    assert outcome(talk, promise)[0] == "withdrawn"


def test_a_merge_of_customers_who_refused_nothing_withdraws_nothing(talk: Talk) -> None:
    twin = begin(talk.tenant, external_id="twin")
    promise = promise_text(twin)
    merge(talk.tenant, talk.reload().persona, twin.reload().persona)
    assert outcome(talk, promise)[0] == "open"


@pytest.mark.parametrize(
    ("kind", "state", "given"),
    [("email", EffectState.DONE, "false"), ("sms", EffectState.SENDING, "false"), ("sms", EffectState.DONE, "true")],
    ids=["another channel", "being sent", "a consent"],
)
def test_other_promises_stay_open(talk: Talk, kind: str, state: str, given: str) -> None:
    promise = promise_text(talk, kind=kind, state=state)
    with talk.tenant.tx():
        give_fields(talk.reload().persona, {"sms_opt_in": given})
    assert outcome(talk, promise)[0] == "open"
