"""Texts by Twilio: in, out and their status callbacks, each signed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.test import Client

from conversations.channels.lane import DeliveryRun
from conversations.channels.twilio import MESSAGES
from conversations.live.event_log import lock_conversation, open_log
from conversations.models import Chat, ConsentChange, Conversation, Delivery, Message, PersonaField, Receipt
from offline_model.relay.signing import signature as signature_of
from tests.concurrent import meanwhile
from tests.conversations.channels.twilio_number import ANNA, Number
from tests.conversations.threads import in_thread, until_waiting
from tests.processes import ScriptedModel
from tests.tools.messaging.twilio_server import FROM, MESSAGE_SID, TOKEN
from tools.engine.execution.outcome import Outcome
from tools.models import Effect, EffectState

pytestmark = pytest.mark.standing_worker


def test_a_text_is_a_message_of_the_customer_with_that_number(number: Number) -> None:
    answer = number.post(MESSAGES, number.text("Do you have a table?"))
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/xml")
    [conversation] = number.rows(Conversation)
    assert conversation.channel == "sms"
    [phone] = number.rows(PersonaField, key="phone")
    assert phone.value == ANNA


def test_a_repeated_text_is_stored_once(number: Number) -> None:
    assert [number.post(MESSAGES, number.text()).status_code for _ in range(3)] == [200] * 3
    assert len(number.rows(Message)) == 1


@pytest.mark.parametrize(
    ("changes", "token"),
    [({}, "wrong"), ({"AccountSid": "AC" + "9" * 32}, TOKEN), ({"To": "+14155550199"}, TOKEN)],
    ids=["forged", "another account", "another number"],
)
def test_a_text_that_is_not_ours_stores_nothing(number: Number, changes: dict[str, str], token: str) -> None:
    answer = number.post(MESSAGES, number.text(**changes), token=token)
    assert (answer.status_code, number.rows(Delivery)) == (401, [])


def test_null_characters_of_a_text_are_left_out(number: Number) -> None:
    fields = number.text("a\x00b", sid="SM\x001", ProfileName="\x00")
    assert number.post(MESSAGES, fields).status_code == 200
    assert [one.content for one in number.rows(Message)] == ["ab"]


def test_a_changed_text_under_a_true_signature_stores_nothing(number: Number) -> None:
    fields = number.text("Yes")
    signature = signature_of(f"{django_settings.BASE_URL}{MESSAGES}", fields, token=TOKEN)
    body = urlencode({**fields, "Body": "No"})
    client = Client(headers={"X-Twilio-Signature": signature})
    answer = client.post(MESSAGES, body, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, number.rows(Delivery)) == (401, [])


def test_the_reply_is_delivered_and_its_receipts_move_forward(
    number: Number, worker: object, model: ScriptedModel
) -> None:
    model.script("reply", text="Yes, at eight.")
    number.post(MESSAGES, number.text())
    number.until_state("sent")
    [call] = number.server.script.calls
    assert (call.form["To"], call.form["Body"]) == (ANNA, "Yes, at eight.")
    # The address of the tests is local.
    assert "StatusCallback" not in call.form
    for state in ("delivered", "sent", "queued"):
        assert number.status(state).status_code == 200
    assert number.until_state("delivered").delivered_at is not None


def test_a_landline_is_named_as_the_reason(number: Number, worker: object, model: ScriptedModel) -> None:
    number.post(MESSAGES, number.text())
    number.until_state("sent")
    number.status("undelivered", ErrorCode="30006")
    assert "landline" in number.until_state("failed").reason
    assert [one.state for one in number.rows(Effect)] == ["failed"]


def test_a_status_that_comes_before_the_answer_counts(number: Number, worker: object, model: ScriptedModel) -> None:
    assert number.status("delivered").status_code == 200
    number.post(MESSAGES, number.text())
    number.until_state("delivered")


def test_a_status_that_comes_while_the_answer_is_stored_counts(number: Number) -> None:
    number.post(MESSAGES, number.text("STOP"))
    sent = Outcome.done("", result={"message_ref": MESSAGE_SID})
    with meanwhile("conversations_delivery", lambda: number.status("delivered")), number.tenant.tx():
        receipt = Receipt.objects.select_related("effect").get()
        with open_log(receipt.conversation_id) as log:
            DeliveryRun(log, receipt.effect).end(sent, state=EffectState.DONE)
    number.until_state("delivered")


def test_stop_withdraws_the_consent_to_texts(number: Number) -> None:
    number.post(MESSAGES, number.text("STOP"))
    [change] = number.rows(ConsentChange)
    assert (change.kind, change.is_given) == ("sms", False)
    [chat] = number.rows(Chat)
    assert chat.opted_out_at is not None


def test_whatsapp_over_twilio_is_its_own_channel(number: Number, worker: object, model: ScriptedModel) -> None:
    number.post(MESSAGES, number.text(From=f"whatsapp:{ANNA}", To=f"whatsapp:{FROM}"))
    assert [one.channel for one in number.rows(Conversation)] == ["whatsapp"]
    number.until_state("sent")
    [call] = number.server.script.calls
    assert (call.form["To"], call.form["From"]) == (f"whatsapp:{ANNA}", f"whatsapp:{FROM}")


def test_the_channel_shows_its_webhook_and_never_its_secret(number: Number) -> None:
    answer = number.api.get("/api/v1/channels/twilio")
    assert answer.json()["messages_webhook"].endswith(MESSAGES)
    assert (answer.json()["state"], TOKEN in answer.content.decode()) == ("connected", False)


def test_a_stop_and_a_writer_of_the_customers_fields_do_not_deadlock(number: Number) -> None:
    """Such as the observer, which holds the conversation. Twilio wouldn't deliver the STOP again."""
    for sid, words in (("SM1", "Hello"), ("SM2", "STOP"), ("SM3", "START")):
        number.post(MESSAGES, number.text(words, sid=sid))
    [conversation] = number.rows(Conversation)
    with ThreadPoolExecutor(1) as pool:
        with number.tenant.tx():
            lock_conversation(conversation.pk)
            stopped = in_thread(pool, lambda: number.post(MESSAGES, number.text("STOP", sid="SM4")))
            until_waiting(1)
            assert list(PersonaField.objects.select_for_update().filter(persona=conversation.persona_id))
        assert stopped.result(timeout=60).status_code == 200
    [chat] = number.rows(Chat)
    assert chat.opted_out_at is not None
