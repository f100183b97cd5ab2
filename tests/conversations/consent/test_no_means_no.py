"""No means no: nothing that the customer has refused goes out, whichever moment it comes from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conversations.models import Persona, PersonaField
from conversations.promises.make_good import draft_make_goods
from conversations.turns.services import give_fields, start_conversation
from tests.conversations.conftest import begin
from tests.conversations.effects.conftest import PHONE, Bench, bench, talk, target, webhook
from tests.conversations.effects.target import Answers, Target
from tests.conversations.pipeline.conftest import prompts_of
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.probe import NAME, Probe, offered
from tests.conversations.tool_runs.turns import Turns
from tests.processes import ScriptedModel
from tests.tools.messaging.conftest import connect_twilio, twilio_api
from tests.tools.messaging.twilio_server import TwilioServer
from tests.tools.test_live import Live, live
from todos.models import Todo
from tools.engine.execution.consent import refusal_reason, refusal_told
from tools.models import Effect, EffectState, Promise, PromiseState

__all__ = ["bench", "live", "talk", "target", "turns", "twilio_api"]

REASON, TOLD = refusal_reason("sms"), refusal_told("sms")
TEXT = {"text": "Your table: Friday at 20:00."}
SMS = "send_sms_tool"


def refuse(place: Bench | Turns | Live, value: str = "false") -> None:
    """The customer refuses texts, or agrees to them again."""
    with place.tenant.tx():
        give_fields(Persona.objects.get(pk=place.conversation.persona_id), {"sms_opt_in": value})


def refuse_elsewhere(place: Bench | Turns | Live, phone: str = PHONE) -> None:
    """Somebody with this number refuses texts, in a conversation of their own."""
    with place.tenant.tx():
        other = start_conversation(
            place.tenant.project, channel="telegram", external_id="elsewhere", known={"phone": phone}, metadata={}
        )
        give_fields(other.persona, {"sms_opt_in": "false"})


@pytest.fixture
def reached(bench: Bench, twilio_api: TwilioServer) -> TwilioServer:
    """The customer's number, and the service that texts it."""
    connect_twilio(bench.tenant, twilio_api.url)
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"phone": PHONE})
    return twilio_api


@pytest.fixture
def texting() -> Iterator[Probe]:
    """A tool that texts the customer during the reply or a call."""
    with offered(kind="sms") as probe:
        yield probe


def promise(bench: Bench, model: ScriptedModel) -> Effect:
    """The agent promises a text."""
    model.script("arguments", json=TEXT)
    [effect] = bench.plan(SMS, quote="I'll text you the details.")
    return effect


def assert_nothing_went_out(effect: Effect) -> None:
    assert (effect.state, effect.error, effect.attempts) == (EffectState.FAILED, REASON, 0)
    assert (effect.adapter, effect.request) == ("", None)


# A promise


def test_a_promised_text_does_not_go_out(bench: Bench, model: ScriptedModel, reached: TwilioServer) -> None:
    refuse(bench)
    effect = promise(bench, model)
    bench.run()
    assert_nothing_went_out(bench.effect(effect))
    assert reached.script.calls == []


def test_a_refused_text_is_not_in_the_outbox(bench: Bench, model: ScriptedModel) -> None:
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"phone": PHONE})
    refuse(bench)
    effect = promise(bench, model)
    bench.run()
    assert_nothing_went_out(bench.effect(effect))


def test_no_model_is_asked_for_the_words_of_a_refused_text(bench: Bench, model: ScriptedModel) -> None:
    refuse(bench)
    promise(bench, model)
    bench.run()
    assert model.requests("arguments") == []


def test_a_withdrawal_before_the_retry_stops_it(bench: Bench, model: ScriptedModel, reached: TwilioServer) -> None:
    reached.script.answer = (429, {"code": 20429, "message": "Too Many Requests", "status": 429}, {})
    effect = promise(bench, model)
    bench.run(hurry=False)
    refuse(bench)
    reached.script.answer = None
    bench.run()
    assert (bench.effect(effect).state, bench.effect(effect).error) == (EffectState.FAILED, REASON)
    assert len(reached.script.calls) == 1


def test_a_text_goes_out_once_consent_is_given_again(bench: Bench, model: ScriptedModel, reached: TwilioServer) -> None:
    refuse(bench)
    refuse(bench, "true")
    effect = promise(bench, model)
    bench.run()
    assert bench.effect(effect).state == EffectState.DONE
    assert len(reached.script.calls) == 1


def test_a_withdrawal_in_another_channel_counts(bench: Bench, model: ScriptedModel, reached: TwilioServer) -> None:
    """Of another visitor with the same number."""
    refuse_elsewhere(bench)
    effect = promise(bench, model)
    bench.run()
    assert_nothing_went_out(bench.effect(effect))
    assert reached.script.calls == []


def test_a_refusal_counts_at_the_new_number_of_a_retry(
    bench: Bench, model: ScriptedModel, reached: TwilioServer
) -> None:
    """The text was planned for the old one."""
    reached.script.answer = (429, {"code": 20429, "message": "Too Many Requests", "status": 429}, {})
    effect = promise(bench, model)
    bench.run(hurry=False)
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"phone": "+39 347 000 0000", "sms_opt_in": "false"})
    reached.script.answer = None
    bench.run()
    assert bench.effect(effect).error == REASON
    assert len(reached.script.calls) == 1


def test_a_refusal_of_e_mails_stops_no_text(bench: Bench, model: ScriptedModel, reached: TwilioServer) -> None:
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"email_opt_in": "false"})
    effect = promise(bench, model)
    bench.run()
    assert bench.effect(effect).state == EffectState.DONE


def test_the_agent_is_told_of_a_refused_text(bench: Bench, model: ScriptedModel) -> None:
    refuse(bench)
    promise(bench, model)
    bench.run()
    assert bench.urgent() == [TOLD]


def test_a_refused_promise_breaks_and_its_todo_names_the_consent(bench: Bench, model: ScriptedModel) -> None:
    refuse(bench)
    promise(bench, model)
    bench.run()
    with bench.tenant.tx():
        broken = Promise.objects.get()
    assert (broken.state, broken.reason) == (PromiseState.BROKEN, REASON)
    draft_make_goods()
    model.script("make_good", json={"correction": "I can't text you.", "next_step": "E-mail the details."})
    bench.run("make_good")
    with bench.tenant.tx():
        todo = Todo.objects.get(source="make_good")
    assert REASON in todo.description


# A call during the reply


def test_a_text_called_in_a_turn_does_not_go_out(turns: Turns, texting: Probe) -> None:
    refuse(turns)
    turns.calls_tool(NAME)
    turns.says("All right, no text.")
    turn = turns.say("Can you text me?")
    assert_nothing_went_out(turns.effects(turn)[0])
    assert texting.done == []
    assert TOLD in turns.result(turn)


def test_a_text_called_in_a_turn_goes_out_once_consent_is_given_again(turns: Turns, texting: Probe) -> None:
    refuse(turns)
    refuse(turns, "true")
    turns.calls_tool(NAME)
    turns.says("Sent.")
    turns.say("Can you text me?")
    assert len(texting.done) == 1


def test_a_withdrawal_in_another_channel_stops_a_call_in_a_turn(turns: Turns, texting: Probe) -> None:
    talking = turns.on("chat", external_id="other", phone=PHONE)
    refuse_elsewhere(talking)
    talking.calls_tool(NAME)
    talking.says("All right, no text.")
    talking.say("Can you text me?")
    assert texting.done == []


# A live call


def test_a_text_called_in_a_live_call_does_not_go_out(live: Live) -> None:
    refuse(live)
    answer = live.call("send_sms", TEXT)
    assert answer["is_error"]
    assert TOLD in answer["result"]
    [effect] = live.effects()
    assert_nothing_went_out(effect)


def test_a_withdrawal_in_another_channel_stops_a_live_call(live: Live) -> None:
    refuse_elsewhere(live, "+39 333 1234567")
    assert live.call("send_sms", TEXT)["is_error"]


def test_a_text_called_in_a_live_call_goes_out_once_consent_is_given_again(live: Live) -> None:
    refuse(live)
    refuse(live, "true")
    assert not live.call("send_sms", TEXT)["is_error"]


# A tool's result, and the agent's prompt


def test_a_tools_result_does_not_give_consent_again(bench: Bench, target: Target) -> None:
    refuse(bench)
    options = {"attribute": "sms_opt_in", "path": "agreed"}
    after = [{"type": "set_persona_attribute", "options": options}]
    bench.tool("notify_crew", webhook(f"{target.url}/crew", after_actions=after))
    target.answers(Answers(body='{"agreed": "true"}'))
    [row] = bench.execute("notify_crew").after_actions.all()
    assert row.state == "failed"
    with bench.tenant.tx():
        assert PersonaField.objects.get(key="sms_opt_in").value == "false"


def test_the_agent_reads_that_the_customer_wants_no_texts(bench: Bench) -> None:
    refuse(bench)
    prompt = prompts_of(bench.talk, bench.talk.say("Hello"))[-1]
    assert "text messages: the customer doesn't want any; never offer or promise one" in prompt
    assert "sms_opt_in" not in prompt


def test_a_refusal_counts_in_the_customers_other_conversations(bench: Bench) -> None:
    refuse(bench)
    call = begin(bench.tenant, channel="phone")
    assert "text messages: the customer doesn't want any" in prompts_of(call, call.say("It's me"))[-1]
