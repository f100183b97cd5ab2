"""Tools of a live session: what it begins with, its calls, its contexts, and what happens once."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from conversations.handover.operators import take_over
from conversations.live.event_log import open_log
from conversations.models import Conversation, ConversationStatus, Event, PersonaField
from conversations.turns.services import start_conversation
from conversations.voice import tool_calls
from conversations.voice.deduplication import CallAnswer
from conversations.voice.tool_calls import LiveCall, handle_tool_call
from jobs.models import Job
from projects.agents.services import save_agent
from projects.models import Member, Project
from projects.records.attributes import set_attribute
from tests.api.documented import DocumentedClient
from tests.conftest import Tenant
from tests.conversations.effects.target import Answers, target_server
from tests.conversations.tool_runs.probe import Probe, offered
from tests.conversations.tool_runs.test_custom_tools import CALLED, STOCK, definition
from tests.conversations.tool_runs.turns import Turns
from tests.processes import ScriptedModel
from todos.content.lifecycle import Actor
from todos.models import StandingRule, Todo, TodoStatus
from todos.services import edit_todo, review_again
from tools.engine.custom import service
from tools.engine.definition import RetryPolicy, Trigger
from tools.engine.execution import limits
from tools.engine.execution.outcome import Outcome
from tools.engine.function_calling.contexts import ContextRefused, read_context
from tools.engine.function_calling.messages import LONGEST_RESULT
from tools.engine.function_calling.offer import collect_agent_tools
from tools.engine.function_calling.redaction import BLOTTED
from tools.engine.registry import builtin_tools
from tools.engine.transfers import TRANSFER_NUMBERS
from tools.models import Effect, EffectOrigin, EffectState

TOKEN = "twilio-auth-token-canary"
RULES = [{"when": "they ask for the chef", "action": "transfer"}, {"when": "in writing", "action": "message"}]


@dataclass
class Live:
    """A running phone call."""

    tenant: Tenant
    conversation: Conversation

    @property
    def context(self) -> dict[str, Any]:
        return {
            "channel": "phone",
            "callSid": "CA1",
            "authToken": TOKEN,
            "callerPhone": "+390655501",
            "interactionId": str(self.conversation.pk),
            "callerVerified": True,
            "callerId": "c-1",
        }

    def post(self, name: str, arguments: Any = None, *, call_id: str = "call-1", **changes: Any) -> Any:
        body = {"call_id": call_id, "name": name, "arguments": arguments or {}, "context": self.context, **changes}
        path = f"/api/v1/conversations/{self.conversation.pk}/tool-calls"
        client = DocumentedClient(headers=self.tenant.headers)
        return client.post(path, json.dumps(body), content_type="application/json")

    def call(self, name: str, arguments: Any = None, **changes: Any) -> dict[str, Any]:
        response = self.post(name, arguments, **changes)
        assert response.status_code == 200, response.content
        return dict(response.json())

    def read(self, context: Any = None, *, channel: str = "phone") -> Any:
        return read_context(
            self.context if context is None else context,
            business_id=self.tenant.project.pk,
            conversation_id=self.conversation.pk,
            channel=channel,
        )

    def read_call(self, name: str) -> LiveCall:
        """The call as its door reads it."""
        return LiveCall(
            organization_id=self.tenant.organization.pk,
            project_id=self.tenant.project.pk,
            conversation_id=self.conversation.pk,
            call_id="call-1",
            name=name,
            arguments_json="{}",
            context=self.read(),
        )

    def effects(self) -> list[Effect]:
        with self.tenant.tx():
            return list(Effect.objects.order_by("created_at"))

    def events(self, **given: Any) -> list[Event]:
        with self.tenant.tx():
            return list(Event.objects.filter(conversation=self.conversation, **given).order_by("seq"))

    def status(self) -> str:
        with self.tenant.tx():
            return Conversation.objects.get(pk=self.conversation.pk).status


@pytest.fixture
def live(tenant: Tenant) -> Live:
    with tenant.tx():
        project = Project.objects.select_related("agent_version").get(pk=tenant.project.pk)
        config = project.agent_version.config.model_dump() | {"escalation_rules": RULES}
        save_agent(project, config=type(project.agent_version.config).model_validate(config), author=tenant.owner)
        set_attribute(project, TRANSFER_NUMBERS, "kitchen: +39 06 555 0114")
        known = {"phone": "+39 333 1234567"}
        conversation = start_conversation(project, channel="phone", external_id="guest", known=known, metadata={})
    return Live(tenant, conversation)


@pytest.fixture
def bell() -> Iterator[Probe]:
    with offered(delivery=RetryPolicy.ONCE) as probe:
        builtin_tools()["ring_bell"] = replace(builtin_tools()["ring_bell"], moments=(Trigger.LIVE,))
        yield probe


@pytest.fixture
def clock() -> Iterator[Probe]:
    """A tool that only looks at our own rows."""
    with offered("look_at_clock", kind="", delivery=RetryPolicy.IDEMPOTENT) as probe:
        builtin_tools()["look_at_clock"] = replace(builtin_tools()["look_at_clock"], moments=(Trigger.LIVE,))
        yield probe


# The session


@pytest.mark.requirement("L02", "L08")
@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_a_session_begins_with_its_tools(live: Live, api: Client, provider: str) -> None:
    """Definitions and addendum in one call, in the provider's shape."""
    body = api.get(f"/api/v1/conversations/{live.conversation.pk}/session?provider={provider}").json()
    names = {(tool.get("function") or tool)["name"] for tool in body["tools"]}
    assert {"end_call", "transfer_call", "send_sms"} <= names
    assert body["instructions"].startswith("## Available Tools\n\n### ")


def test_a_provider_that_nobody_knows_is_refused(live: Live, api: Client) -> None:
    answer = api.get(f"/api/v1/conversations/{live.conversation.pk}/session?provider=x")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "provider must be one of: openai, gemini."


# Calls


@pytest.mark.requirement("L03", "L22")
def test_a_call_is_answered_with_what_the_model_reads(live: Live, bell: Probe) -> None:
    """Dispatched by its name; call and result stand in the conversation's log."""
    answer = live.call("ring_bell", {"times": 2})
    assert answer == {"result": "The bell was rung.", "is_error": False, "block": None}
    assert bell.done == [{"times": 2, "tone": "low"}]
    [called] = live.events(idn="live_tool_call")
    assert (called.payload["tool"], called.payload["arguments"]) == ("ring_bell", {"times": 2, "tone": "low"})
    [result] = live.events(idn="live_tool_result")
    assert result.payload["result"] == "The bell was rung."


@pytest.mark.requirement("L03", "L19")
@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("no_such_tool", {}, "There is no tool no_such_tool. Use one of: "),
        ("ring_bell", {"times": 9}, "The arguments don't fit the tool:"),
        ("ring_bell", "{cut", "The arguments are no JSON object"),
        ("book_table_for_me", {}, "There is no tool"),
    ],
)
def test_what_can_not_be_carried_out_is_answered_with_an_error(
    live: Live, bell: Probe, name: str, arguments: Any, sentence: str
) -> None:
    """A string for the model, and no crash; the call goes on."""
    answer = live.call(name, arguments)
    assert answer["is_error"]
    assert sentence in answer["result"]
    assert not bell.done
    assert live.status() == ConversationStatus.OPEN


@pytest.mark.requirement("L19")
def test_a_tool_that_raises_ends_no_call(live: Live, bell: Probe) -> None:
    """An unknown outcome is reported as unknown."""
    bell.raises = RuntimeError("boom")
    answer = live.call("ring_bell")
    assert "isn't known" in answer["result"]
    assert "RuntimeError" not in answer["result"]
    [effect] = live.effects()
    assert effect.state == EffectState.UNKNOWN


def test_a_call_delivered_twice_runs_once(live: Live, bell: Probe) -> None:
    """The session and the provider's id make it one, whatever its arguments say the second time."""
    first = live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", {"times": 3}, call_id="a") == first
    assert len(bell.done) == 1
    [effect] = live.effects()
    assert (effect.origin, effect.state, effect.conversation_id) == (EffectOrigin.LIVE, "done", live.conversation.pk)


def test_a_call_delivered_twice_at_once_runs_once(live: Live, bell: Probe) -> None:
    """The second is told that the first is under way."""
    bell.until = threading.Event()
    call = live.read_call("ring_bell")

    async def both() -> list[CallAnswer]:
        first = asyncio.create_task(handle_tool_call(call))
        while not bell.done:
            await asyncio.sleep(0.01)
        second = await handle_tool_call(call)
        assert bell.until is not None
        bell.until.set()
        return [await first, second]

    first, second = asyncio.run(both())
    assert (first.result, second.result) == ("The bell was rung.", tool_calls.UNDER_WAY)
    assert len(bell.done) == 1


def test_the_calls_of_two_sessions_are_two(live: Live, bell: Probe, clock: Probe) -> None:
    """A provider may count its calls from one in each session."""
    with live.tenant.tx():
        conversation = start_conversation(
            live.tenant.project, channel="phone", external_id="other", known={}, metadata={}
        )
    other = Live(live.tenant, conversation)
    for name, probe in (("ring_bell", bell), ("look_at_clock", clock)):
        live.call(name, call_id=f"{name}-1")
        other.call(name, {"times": 2}, call_id=f"{name}-1")
        assert [done["times"] for done in probe.done] == [1, 2]


def test_the_same_thing_called_twice_is_held(live: Live, bell: Probe) -> None:
    """A model that repeats itself under another id."""
    live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", call_id="b")["result"].startswith("It was done already")
    assert len(bell.done) == 1


def test_what_the_caller_asks_for_again_is_done_again(
    live: Live, bell: Probe, model: ScriptedModel, settings: Any
) -> None:
    """Their words decide, not the model that calls the tool."""
    settings.OPENAI_BASE_URL = model.base_url
    live.call("ring_bell", call_id="a")
    model.script("arguments", match="Ring it once more", json={"quote": "once more", "asked_again": True})
    assert live.call("ring_bell", call_id="b", heard="Ring it once more, please.")["result"] == "The bell was rung."
    model.script("arguments", match="Thank you", json={"quote": "", "asked_again": False})
    held = live.call("ring_bell", call_id="c", heard="Thank you!")
    assert held["result"].startswith("It was done already")
    assert [effect.state for effect in live.effects()] == [EffectState.DONE, EffectState.DONE, EffectState.HELD]
    assert len(bell.done) == 2


def test_without_a_word_of_the_caller_no_model_is_asked_whether_they_want_it_again(
    live: Live, bell: Probe, model: ScriptedModel, settings: Any
) -> None:
    """There is nothing that it could read that off."""
    settings.OPENAI_BASE_URL = model.base_url
    live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", call_id="b")["result"].startswith("It was done already")
    assert model.requests("arguments") == []


def test_a_repeat_is_held_where_no_model_can_say_whether_it_is_wanted(
    live: Live, bell: Probe, model: ScriptedModel, settings: Any
) -> None:
    """What was done once is not done twice on a guess."""
    settings.OPENAI_BASE_URL = model.base_url
    model.script("arguments", times=0, fault="401")
    live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", call_id="b", heard="Once more!")["result"].startswith("It was done already")


def test_a_call_without_an_effect_delivered_twice_runs_once(live: Live, clock: Probe) -> None:
    """The second is answered with what the first was, block and all."""
    clock.outcome = Outcome.done("It is four.", block={"type": "clock"})
    first = live.call("look_at_clock", call_id="a")
    assert live.call("look_at_clock", call_id="a") == first
    assert (first["block"], len(clock.done)) == ({"type": "clock"}, 1)


def test_a_block_is_shown_again_to_who_asks_again(live: Live, bell: Probe) -> None:
    """Also beside an effect."""
    bell.outcome = Outcome.done("Rung.", block={"type": "bell"})
    assert live.call("ring_bell", call_id="a") == live.call("ring_bell", call_id="a")


@pytest.mark.requirement("F18")
def test_the_end_of_a_call_delivered_twice_is_told_twice(live: Live) -> None:
    """Whoever lost the first answer still stops the model."""
    first = live.call("end_call", call_id="bye")
    assert live.call("end_call", call_id="bye") == first
    assert first["ended"] is True


def test_what_a_dead_process_only_looked_at_is_looked_at_again(
    live: Live, clock: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It changed nothing; while its process may be alive it is under way."""
    with live.tenant.tx(), open_log(live.conversation.pk) as log:
        log.add_event("live_tool_call", payload={"call": "a", "tool": "look_at_clock", "arguments": {}})
    assert live.call("look_at_clock", call_id="a")["result"] == tool_calls.UNDER_WAY
    monkeypatch.setattr(tool_calls, "RESCUED_AFTER", timedelta(0))
    assert not live.call("look_at_clock", call_id="a")["is_error"]
    assert len(clock.done) == 1


def test_what_a_dead_process_left_is_finished_by_the_effects_lane(
    live: Live, bell: Probe, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job goes along with every effect, due when nobody can be at it any more. Nobody knows whether it happened."""

    async def died(*_: Any) -> Outcome:
        raise SystemExit

    monkeypatch.setattr(tool_calls, "attempt_call", died)
    with pytest.raises(SystemExit):
        asyncio.run(handle_tool_call(live.read_call("ring_bell")))
    with live.tenant.tx():
        assert Effect.objects.get().state == EffectState.SENDING
        job = Job.objects.get(lane="effect")
        assert job.run_after - job.created_at >= tool_calls.RESCUED_AFTER * 0.9
        Job.objects.update(run_after=job.created_at)
    Turns(live.tenant, model, live.conversation).run("effect")
    [effect] = live.effects()
    assert (effect.state, bell.done) == (EffectState.UNKNOWN, [])
    assert "isn't known" in live.call("ring_bell")["result"]


def test_nothing_is_called_while_a_colleague_has_the_conversation(live: Live, bell: Probe) -> None:
    """The model is told to say nothing more."""
    with live.tenant.tx():
        chat = start_conversation(live.tenant.project, channel="portal", external_id="guest", known={}, metadata={})
        take_over(chat.pk, by=live.tenant.owner)
    context = {"channel": "portal", "businessId": str(live.tenant.project.pk)}
    answer = Live(live.tenant, chat).call("ring_bell", context=context)
    assert (answer["is_error"], "Say nothing more" in answer["result"], bell.done) == (True, True, [])


@pytest.mark.requirement("L19")
def test_more_than_a_day_has_is_not_done(live: Live, bell: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is told why."""
    monkeypatch.setattr(limits, "MOST_OF_ANOTHER_KIND", 1)
    live.call("ring_bell", {"times": 1}, call_id="a")
    answer = live.call("ring_bell", {"times": 2}, call_id="b")
    assert (answer["is_error"], "that is the limit" in answer["result"], len(bell.done)) == (True, True, 1)


def test_what_is_hidden_stands_in_no_log(live: Live, bell: Probe) -> None:
    """For example, a one-time code that the caller reads out."""
    tool = builtin_tools()["ring_bell"]
    assert tool.handler is not None
    builtin_tools()["ring_bell"] = replace(tool, handler=replace(tool.handler, hidden=frozenset({"tone"})))
    live.call("ring_bell", {"tone": "high"})
    [called] = live.events(idn="live_tool_call")
    assert (called.payload["arguments"], bell.done[0]["tone"]) == ({"times": 1, "tone": BLOTTED}, "high")


@pytest.mark.requirement("F18")
@pytest.mark.parametrize(
    ("name", "arguments", "told", "status"),
    [
        ("transfer_call", {"phone_number": "+39065550114"}, {"transferred": True}, ConversationStatus.TRANSFERRED),
        ("end_call", {}, {"ended": True}, ConversationStatus.ENDED),
    ],
)
def test_after_a_signal_nothing_more_is_called(
    live: Live, bell: Probe, name: str, arguments: Any, told: dict[str, bool], status: str
) -> None:
    """The channel is told to stop the model, and no further call is carried out."""
    answer = live.call(name, arguments)
    assert {key: answer[key] for key in told} == told
    assert live.status() == status
    later = live.call("ring_bell", call_id="later")
    assert later["is_error"]
    assert "The call is over" in later["result"]
    assert not bell.done


@pytest.mark.requirement("L07")
def test_a_number_outside_the_list_is_refused(live: Live) -> None:
    """By the server, whatever the model was shown."""
    answer = live.call("transfer_call", {"phone_number": "+19005550100"})
    assert answer["is_error"]
    assert "phone_number" in answer["result"]
    assert (live.effects(), live.status()) == ([], ConversationStatus.OPEN)


@pytest.mark.requirement("L07")
def test_a_number_that_was_taken_off_the_list_is_refused(live: Live) -> None:
    """Also where the model was shown it before."""
    tool_context = tool_calls.ToolContext(
        organization_id=live.tenant.organization.pk,
        project_id=live.tenant.project.pk,
        effect_id=uuid4(),
        key="k",
        conversation_id=live.conversation.pk,
        turn_id=None,
        channel="phone",
        timezone="UTC",
        at=live.conversation.created_at,
        contact=None,
    )
    handler = builtin_tools()["transfer_call"].handler
    assert handler is not None
    outcome = asyncio.run(_carried_out(handler.execute({"phone_number": "+390600000"}, tool_context)))
    assert outcome.signal is None
    assert "none of the numbers" in outcome.told


async def _carried_out(attempt: Any) -> Outcome:
    return await attempt  # type: ignore[no-any-return]


@pytest.mark.requirement("F13")
def test_a_text_goes_to_the_callers_own_number(live: Live) -> None:
    """No argument names a recipient or a tenant."""
    answer = live.call("send_sms", {"text": "Your table is booked.", "to": "+1900", "organization": str(uuid4())})
    assert not answer["is_error"]
    [effect] = live.effects()
    assert (effect.kind, effect.recipient, effect.arguments) == (
        "sms", "393331234567", {"text": "Your table is booked."}
    )  # fmt: skip


@pytest.mark.requirement("L08")
def test_a_tool_of_the_project_s_own_is_called_where_it_names_the_moment(live: Live, settings: Any) -> None:
    """It stands in the session, and its endpoint's answer is what the model reads."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as target:
        with live.tenant.tx():
            service.save(live.tenant.project, name=STOCK, document=definition(target.url, moments=["live"]))
            offer = collect_agent_tools(live.tenant.project, channel="phone")
        target.answers(Answers(body='{"left": 2}'))
        answer = live.call(STOCK, CALLED)
        again = live.call(STOCK, CALLED)
    assert STOCK in offer.tools
    assert answer == again == {"result": '{"left": 2}', "is_error": False, "block": None}
    assert [heard.document for heard in target.log] == [CALLED]
    assert live.effects()[0].origin == EffectOrigin.LIVE


@pytest.mark.requirement("N21")
def test_what_follows_an_answer_is_done_after_it(live: Live, model: ScriptedModel, settings: Any) -> None:
    """By the effects' lane, so that the caller doesn't wait for it."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    kept = {"type": "set_persona_attribute", "options": {"attribute": "left", "path": "left"}}
    with target_server() as target:
        with live.tenant.tx():
            document = definition(target.url, moments=["live"], after_actions=[kept])
            service.save(live.tenant.project, name=STOCK, document=document)
        target.answers(Answers(body='{"left": "two"}'))
        live.call(STOCK, CALLED)
    Turns(live.tenant, model, live.conversation).run("effect")
    with live.tenant.tx():
        assert PersonaField.objects.get(persona=live.conversation.persona_id, key="left").value == "two"


@pytest.mark.requirement("L22")
def test_of_a_long_result_the_model_reads_the_beginning(live: Live, bell: Probe, clock: Probe) -> None:
    """With and without an effect, and the same where it is asked for once more."""
    for name, probe in (("ring_bell", bell), ("look_at_clock", clock)):
        probe.outcome = Outcome.done("ding " * LONGEST_RESULT)
        answers = [live.call(name, call_id=name), live.call(name, call_id=name)]
        assert [len(answer["result"]) for answer in answers] == [LONGEST_RESULT] * 2


@pytest.mark.parametrize(
    ("has_rule", "said", "held"),
    [
        (False, "A colleague has to approve this first", "The same waits for a colleague"),
        (True, "This is allowed by the business and being done now", "The same is allowed and being done now"),
    ],
)
def test_a_call_that_needs_a_yes_says_whose(live: Live, has_rule: bool, said: str, held: str) -> None:
    """Nobody is told that a colleague was asked where a standing rule has said yes; twice, where it came twice, and
    of what is held because of it.
    """
    with live.tenant.tx():
        document = definition("https://stock.example.com", moments=["live", "task"], requires_approval=True)
        service.save(live.tenant.project, name=STOCK, document=document)
        if has_rule:
            owner = Member.objects.get(user=live.tenant.owner)
            allowed = {"body": {"anything": True}}
            StandingRule.objects.create(project=live.tenant.project, tool=STOCK, allowed=allowed, created_by=owner.pk)
    answers = [live.call(STOCK, CALLED), live.call(STOCK, CALLED)]
    assert [(answer["result"].startswith(said), answer["is_error"]) for answer in answers] == [(True, False)] * 2
    assert [effect.state for effect in live.effects()] == [EffectState.PLANNED]
    assert live.call(STOCK, CALLED, call_id="other")["result"].startswith(held)


def test_a_call_delivered_again_after_what_failed_of_it_was_edited_asks_for_no_second_yes(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edited, it has another key, and is still what this call began, however much later that comes again."""
    monkeypatch.setattr(tool_calls, "RESCUED_AFTER", timedelta(0))
    with live.tenant.tx():
        document = definition("https://stock.example.com", moments=["live", "task"], requires_approval=True)
        service.save(live.tenant.project, name=STOCK, document=document)
    first = live.call(STOCK, CALLED)
    with live.tenant.tx():
        Effect.objects.update(state=EffectState.FAILED, attempts=1)
        Todo.objects.update(status=TodoStatus.FAILED)
        todo = review_again(Todo.objects.get().pk, actor=Actor("Nello"))
        edit_todo(todo.pk, {"arguments": {"body": {**CALLED, "count": 3}}}, actor=Actor("Nello"), version=None)
    assert live.call(STOCK, CALLED) == first
    with live.tenant.tx():
        assert (Effect.objects.count(), Todo.objects.count()) == (1, 1)


@pytest.mark.requirement("F13")
def test_another_tenants_call_is_not_found(live: Live, stranger: Tenant) -> None:
    theirs = Live(replace(live.tenant, key=stranger.key), live.conversation)
    assert theirs.post("end_call").status_code == 404
    assert live.status() == ConversationStatus.OPEN


# Contexts


@pytest.mark.requirement("F14")
def test_the_phone_tells_of_its_call(live: Live, bell: Probe) -> None:
    """Everything but what opens the line."""
    live.call("ring_bell")
    [tool_context] = bell.contexts
    assert tool_context.call == {
        "call_sid": "CA1",
        "caller_phone": "+390655501",
        "interaction_id": str(live.conversation.pk),
        "caller_verified": True,
        "caller_id": "c-1",
    }
    assert TOKEN not in repr(tool_context)


@pytest.mark.requirement("F14")
def test_the_token_of_the_line_is_kept_nowhere(live: Live, bell: Probe, caplog: pytest.LogCaptureFixture) -> None:
    """No row, no log, no answer and no error has it."""
    caplog.set_level(logging.DEBUG)
    bell.raises = RuntimeError("boom")
    answers = [live.post("ring_bell"), live.post("no_such_tool"), live.post("end_call", context={"authToken": TOKEN})]
    rows = [*live.effects(), *live.events()]
    assert TOKEN not in "".join([caplog.text, *(answer.content.decode() for answer in answers)])
    assert TOKEN not in "".join(json.dumps(vars(row), default=str) for row in rows)
    assert TOKEN not in repr(live.read())


@pytest.mark.requirement("F14")
@pytest.mark.parametrize(
    "missing", ["callSid", "authToken", "callerPhone", "interactionId", "callerVerified", "callerId"]
)
def test_a_phone_call_tells_all_of_it(live: Live, missing: str) -> None:
    context = {name: value for name, value in live.context.items() if name != missing}
    with pytest.raises(ContextRefused, match=rf"context\.{missing}: Field required"):
        live.read(context)


@pytest.mark.requirement("F15")
@pytest.mark.parametrize(
    ("channel", "context", "sentence"),
    [
        ("portal", {"channel": "portal", "businessId": "OURS"}, ""),
        ("webcall", {"businessId": "OURS"}, ""),
        ("portal", {"businessId": "OURS"}, "context.channel: Field required."),
        ("webcall", {"businessId": "OURS", "callSid": "CA1"}, "context.callSid: Extra inputs are not permitted."),
        ("webcall", {"businessId": "OTHER"}, "context.businessId is not the business that this key belongs to."),
        ("phone", {"channel": "phone", "businessId": "OURS"}, "context.callSid: Field required."),
        ("phone", {"channel": "phone", "interactionId": "OTHER"}, "context.interactionId is another conversation"),
        ("chat", {"businessId": "OURS"}, "A conversation on chat has no live calls; those on phone, portal, webcall"),
        ("phone", "CA1", "context must be an object."),
    ],
)
def test_each_channel_has_its_shape(live: Live, channel: str, context: Any, sentence: str) -> None:
    """Portal, browser voice and phone, each by the conversation's own channel."""
    ids = {"OURS": str(live.tenant.project.pk), "OTHER": str(uuid4())}
    if isinstance(context, dict):
        context = {name: ids.get(value, value) for name, value in context.items()}
        context = {**live.context, **context} if "interactionId" in context else context
    if not sentence:
        assert live.read(context, channel=channel).call == {}
        return
    with pytest.raises(ContextRefused) as refused:
        live.read(context, channel=channel)
    assert sentence in str(refused.value)
