"""Messages through the effect lane: the ledger's content, and delivery at most once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.turns.services import give_fields
from tests.conftest import Tenant
from tests.conversations.conftest import begin
from tests.conversations.effects.conftest import Bench
from tests.processes import ScriptedModel
from tests.tools.messaging.conftest import connect_twilio, source_of
from tests.tools.messaging.twilio_server import TwilioServer
from tools.models import Promise

ARGUMENTS = {"text": "Your table: Friday at 20:00."}


@pytest.fixture
def bench(tenant: Tenant, model: ScriptedModel, settings: Any) -> Bench:
    """A conversation with a customer whose number is known, and a model that writes the same text every time."""
    settings.OPENAI_BASE_URL = model.base_url
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    talk = begin(tenant)
    with tenant.tx():
        give_fields(talk.conversation.persona, {"phone": "+393331234567", "email": "anna@example.org"})
    return Bench(tenant=tenant, talk=talk)


def send(bench: Bench, model: ScriptedModel) -> Any:
    model.script("arguments", json=ARGUMENTS)
    return bench.execute("send_sms_tool", quote="I'll text you the details.")


def test_a_message_in_the_outbox_is_in_the_ledger(bench: Bench, model: ScriptedModel) -> None:
    effect = send(bench, model)
    assert (effect.state, effect.adapter) == ("done", "outbox")
    assert effect.result == {"outbox": True, "message": {"to": "+393331234567", **ARGUMENTS}}


def promise_of(bench: Bench, effect: Any) -> tuple[str, str]:
    with bench.tenant.tx():
        promise = Promise.objects.get(effect=effect)
    return promise.state, promise.evidence


def test_a_text_in_the_outbox_is_sent_once_staff_releases_it(
    bench: Bench, model: ScriptedModel, twilio_api: TwilioServer, api: Client
) -> None:
    """Its promise is kept then, and not before."""
    effect = send(bench, model)
    assert promise_of(bench, effect) == ("open", "outbox")
    connect_twilio(bench.tenant, twilio_api.url)
    assert api.post(f"/api/v1/effects/{effect.pk}/release").json()["state"] == "planned"
    bench.run()
    sent = bench.effect(effect)
    assert (sent.state, sent.adapter, len(twilio_api.script.calls)) == ("done", "twilio", 1)
    assert promise_of(bench, effect) == ("kept", "effect")
    assert api.post(f"/api/v1/effects/{effect.pk}/release").status_code == 409


def test_a_text_accepted_by_twilio_is_done(bench: Bench, model: ScriptedModel, twilio_api: TwilioServer) -> None:
    connect_twilio(bench.tenant, twilio_api.url)
    effect = send(bench, model)
    assert (effect.state, effect.adapter, effect.http_status) == ("done", "twilio", 201)
    assert twilio_api.script.calls[0].form["Body"] == ARGUMENTS["text"]


def test_a_text_with_a_lost_response_is_unknown_and_never_resent(
    bench: Bench, model: ScriptedModel, twilio_api: TwilioServer
) -> None:
    connect_twilio(bench.tenant, twilio_api.url)
    twilio_api.script.cuts = True
    effect = send(bench, model)
    bench.run()
    assert (effect.state, len(twilio_api.script.calls)) == ("unknown", 1)


def test_a_rate_limited_text_is_sent_once_later(bench: Bench, model: ScriptedModel, twilio_api: TwilioServer) -> None:
    """Twilio documents 429 as not processed."""
    connect_twilio(bench.tenant, twilio_api.url)
    twilio_api.script.answer = (429, {"code": 20429, "message": "Too Many Requests", "status": 429}, {})
    model.script("arguments", json=ARGUMENTS)
    [effect] = bench.plan("send_sms_tool", quote="I'll text you the details.")
    bench.run(hurry=False)
    twilio_api.script.answer = None
    bench.run()
    assert (bench.effect(effect).state, len(twilio_api.script.calls)) == ("done", 2)


def test_the_same_text_in_the_next_turn_is_held_back(
    bench: Bench, model: ScriptedModel, twilio_api: TwilioServer
) -> None:
    connect_twilio(bench.tenant, twilio_api.url)
    send(bench, model)
    assert (send(bench, model).state, len(twilio_api.script.calls)) == ("held", 1)


@pytest.mark.requirement("F17")
def test_a_rejected_sign_in_fails_the_effect_and_marks_the_connection(
    bench: Bench, model: ScriptedModel, twilio_api: TwilioServer
) -> None:
    connect_twilio(bench.tenant, twilio_api.url, token="wrong-canary")
    effect = send(bench, model)
    source = source_of(bench.tenant, "twilio")
    assert effect.state == "failed"
    assert effect.result == {"needs_reauth": True}
    assert source is not None
    assert source.needs_reauth
