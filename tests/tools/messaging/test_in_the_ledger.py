"""Messages through the effect lane's own code: what the ledger holds, and that once means once."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.turns.services import give_fields
from tests.conftest import Tenant
from tests.conversations.conftest import begin
from tests.conversations.effects.conftest import Bench
from tests.processes import ScriptedModel
from tests.tools.messaging.conftest import connect_twilio, source_of
from tests.tools.messaging.twilio_server import TwilioServer

ARGUMENTS = {"text": "Your table: Friday at 20:00."}


@pytest.fixture
def bench(tenant: Tenant, model: ScriptedModel, settings: Any) -> Bench:
    """A conversation with a customer whose number is known, and a model that writes the same text each time."""
    settings.OPENAI_BASE_URL = model.base_url
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    talk = begin(tenant)
    with tenant.tx():
        give_fields(talk.conversation.persona, {"phone": "+393331234567", "email": "anna@example.org"})
    return Bench(tenant=tenant, talk=talk)


def send(bench: Bench, model: ScriptedModel) -> Any:
    model.script("arguments", json=ARGUMENTS)
    return bench.execute("send_sms_tool", quote="I'll text you the details.")


def test_what_the_outbox_took_is_in_the_ledger(bench: Bench, model: ScriptedModel) -> None:
    effect = send(bench, model)
    assert (effect.state, effect.adapter) == ("done", "outbox")
    assert effect.result == {"outbox": True, "message": {"to": "+393331234567", **ARGUMENTS}}


def test_a_text_that_twilio_took_is_done(bench: Bench, model: ScriptedModel, twilio_api: TwilioServer) -> None:
    connect_twilio(bench.tenant, twilio_api.url)
    effect = send(bench, model)
    assert (effect.state, effect.adapter, effect.http_status) == ("done", "twilio", 201)
    assert twilio_api.script.calls[0].form["Body"] == ARGUMENTS["text"]


def test_a_text_whose_line_was_cut_is_unknown_and_never_sent_again(
    bench: Bench, model: ScriptedModel, twilio_api: TwilioServer
) -> None:
    connect_twilio(bench.tenant, twilio_api.url)
    twilio_api.script.cuts = True
    effect = send(bench, model)
    bench.run()
    assert (effect.state, len(twilio_api.script.calls)) == ("unknown", 1)


def test_a_text_that_twilio_put_off_is_sent_later_and_once(
    bench: Bench, model: ScriptedModel, twilio_api: TwilioServer
) -> None:
    """429 is not processed, by Twilio's own word."""
    connect_twilio(bench.tenant, twilio_api.url)
    twilio_api.script.answer = (429, {"code": 20429, "message": "Too Many Requests", "status": 429}, {})
    model.script("arguments", json=ARGUMENTS)
    [effect] = bench.plan("send_sms_tool", quote="I'll text you the details.")
    bench.run(hurry=False)
    twilio_api.script.answer = None
    bench.run()
    assert (bench.effect(effect).state, len(twilio_api.script.calls)) == ("done", 2)


def test_the_same_text_in_the_next_turn_is_held(bench: Bench, model: ScriptedModel, twilio_api: TwilioServer) -> None:
    connect_twilio(bench.tenant, twilio_api.url)
    send(bench, model)
    assert (send(bench, model).state, len(twilio_api.script.calls)) == ("held", 1)


@pytest.mark.requirement("F17")
def test_a_refused_sign_in_fails_the_effect_and_marks_the_source(
    bench: Bench, model: ScriptedModel, twilio_api: TwilioServer
) -> None:
    connect_twilio(bench.tenant, twilio_api.url, token="wrong-canary")
    effect = send(bench, model)
    source = source_of(bench.tenant, "twilio")
    assert effect.state == "failed"
    assert effect.result == {"needs_reauth": True}
    assert source is not None
    assert source.needs_reauth
