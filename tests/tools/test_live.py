"""Tools of a live session: the offer, calls, contexts and deduplication."""

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
from openai.types.realtime import RealtimeFunctionTool

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
from tools.engine.execution.outcome import Outcome
from tools.engine.function_calling.contexts import ContextRefused, read_context
from tools.engine.function_calling.messages import MAX_RESULT_BYTES
from tools.engine.function_calling.offer import collect_agent_tools
from tools.engine.function_calling.redaction import MASK
from tools.engine.policy import POLICIES, KindPolicy
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
        """The call as the endpoint parses it."""
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
    """A tool that only reads our own rows."""
    with offered("look_at_clock", kind="", delivery=RetryPolicy.IDEMPOTENT) as probe:
        builtin_tools()["look_at_clock"] = replace(builtin_tools()["look_at_clock"], moments=(Trigger.LIVE,))
        yield probe


# The session


@pytest.mark.requirement("L02", "L08")
@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_a_session_starts_with_its_tools(live: Live, api: Client, provider: str) -> None:
    """Definitions and instructions in one request, in the provider's format."""
    body = api.get(f"/api/v1/conversations/{live.conversation.pk}/session?provider={provider}").json()
    assert {"end_call", "transfer_call", "send_sms"} <= {tool["name"] for tool in body["tools"]}
    assert "\n## Available Tools\n\n### " in body["instructions"]


@pytest.mark.requirement("L02")
def test_a_session_for_openai_has_the_tools_of_the_realtime_api(live: Live, api: Client) -> None:
    """Flat, unlike those of Chat Completions: every field is one that the API's own type declares."""
    tools = api.get(f"/api/v1/conversations/{live.conversation.pk}/session?provider=openai").json()["tools"]
    for tool in tools:
        parsed = RealtimeFunctionTool.model_validate(tool, strict=True)
        assert parsed.model_extra == {}
        assert (parsed.type, parsed.name, bool(parsed.description)) == ("function", tool["name"], True)
        assert isinstance(parsed.parameters, dict)
        assert parsed.parameters["type"] == "object"


def test_an_unknown_provider_is_refused(live: Live, api: Client) -> None:
    answer = api.get(f"/api/v1/conversations/{live.conversation.pk}/session?provider=x")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "provider must be one of: openai, gemini."


# Calls


@pytest.mark.requirement("L03", "L22")
def test_a_call_returns_the_result_for_the_model(live: Live, bell: Probe) -> None:
    """Call and result are in the conversation's log."""
    answer = live.call("ring_bell", {"times": 2})
    assert answer == {"result": "The bell was rung.", "is_error": False, "block": None}
    assert bell.done == [{"times": 2, "tone": "low"}]
    [called] = live.events(idn="live_tool_call")
    assert (called.payload["tool"], called.payload["arguments"]) == ("ring_bell", {"times": 2, "tone": "low"})
    [result] = live.events(idn="live_tool_result")
    assert result.payload["result"] == "The bell was rung."


def test_only_a_look_ups_record_does_not_wait_for_the_disk(
    live: Live, bell: Probe, clock: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record of an action is on the disk before its result is told."""
    hurried: list[str] = []
    monkeypatch.setattr(tool_calls, "commit_soon", lambda: hurried.append("record"))
    live.call("ring_bell", {"times": 2})
    assert hurried == []
    live.call("look_at_clock", call_id="b")
    assert hurried == ["record", "record"]


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
def test_an_invalid_call_returns_an_error(live: Live, bell: Probe, name: str, arguments: Any, sentence: str) -> None:
    """The error is text for the model, and the conversation stays open."""
    answer = live.call(name, arguments)
    assert answer["is_error"]
    assert sentence in answer["result"]
    assert not bell.done
    assert live.status() == ConversationStatus.OPEN


@pytest.mark.requirement("L19")
def test_a_tool_that_raises_does_not_end_the_call(live: Live, bell: Probe) -> None:
    """Its outcome is unknown."""
    bell.raises = RuntimeError("boom")
    answer = live.call("ring_bell")
    assert "isn't known" in answer["result"]
    assert "RuntimeError" not in answer["result"]
    [effect] = live.effects()
    assert effect.state == EffectState.UNKNOWN


@pytest.mark.requirement("L19")
@pytest.mark.parametrize(
    ("name", "logged"),
    [("ring_bell", "The bell is cracked."), ("no_such_tool", "There is no tool no_such_tool.")],
    ids=["failed", "refused"],
)
def test_an_error_of_a_call_is_logged_as_an_error(
    live: Live, bell: Probe, caplog: pytest.LogCaptureFixture, name: str, logged: str
) -> None:
    bell.outcome = Outcome.failed("The bell is cracked.")
    assert logged in live.call(name)["result"]
    assert [logged in record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [True]


def test_a_call_delivered_twice_runs_once(live: Live, bell: Probe) -> None:
    """The session and the provider's call id identify it, whatever the arguments of the second delivery."""
    first = live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", {"times": 3}, call_id="a") == first
    assert len(bell.done) == 1
    [effect] = live.effects()
    assert (effect.origin, effect.state, effect.conversation_id) == (EffectOrigin.LIVE, "done", live.conversation.pk)


def test_a_call_delivered_twice_concurrently_runs_once(live: Live, bell: Probe) -> None:
    """The second delivery is told that the first is under way."""
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


def test_equal_call_ids_of_two_sessions_are_two_calls(live: Live, bell: Probe, clock: Probe) -> None:
    """A provider may number its calls per session."""
    with live.tenant.tx():
        conversation = start_conversation(
            live.tenant.project, channel="phone", external_id="other", known={}, metadata={}
        )
    other = Live(live.tenant, conversation)
    for name, probe in (("ring_bell", bell), ("look_at_clock", clock)):
        live.call(name, call_id=f"{name}-1")
        other.call(name, {"times": 2}, call_id=f"{name}-1")
        assert [done["times"] for done in probe.done] == [1, 2]


def test_a_duplicate_under_another_call_id_is_held(live: Live, bell: Probe) -> None:
    live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", call_id="b")["result"].startswith("It was done already")
    assert len(bell.done) == 1


def test_a_duplicate_the_caller_asked_for_is_executed(
    live: Live, bell: Probe, model: ScriptedModel, settings: Any
) -> None:
    """The caller's words decide, not the model that calls the tool."""
    settings.OPENAI_BASE_URL = model.base_url
    live.call("ring_bell", call_id="a")
    model.script("arguments", match="Ring it once more", json={"quote": "once more", "asked_again": True})
    assert live.call("ring_bell", call_id="b", heard="Ring it once more, please.")["result"] == "The bell was rung."
    model.script("arguments", match="Thank you", json={"quote": "", "asked_again": False})
    held = live.call("ring_bell", call_id="c", heard="Thank you!")
    assert held["result"].startswith("It was done already")
    assert [effect.state for effect in live.effects()] == [EffectState.DONE, EffectState.DONE, EffectState.HELD]
    assert len(bell.done) == 2


def test_without_the_callers_words_no_model_is_asked_about_a_duplicate(
    live: Live, bell: Probe, model: ScriptedModel, settings: Any
) -> None:
    settings.OPENAI_BASE_URL = model.base_url
    live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", call_id="b")["result"].startswith("It was done already")
    assert model.requests("arguments") == []


def test_a_duplicate_is_held_if_the_model_fails(live: Live, bell: Probe, model: ScriptedModel, settings: Any) -> None:
    settings.OPENAI_BASE_URL = model.base_url
    model.script("arguments", times=0, fault="401")
    live.call("ring_bell", call_id="a")
    assert live.call("ring_bell", call_id="b", heard="Once more!")["result"].startswith("It was done already")


def test_a_call_without_an_effect_delivered_twice_runs_once(live: Live, clock: Probe) -> None:
    """The second delivery gets the first result, including its block."""
    clock.outcome = Outcome.done("It is four.", block={"type": "clock"})
    first = live.call("look_at_clock", call_id="a")
    assert live.call("look_at_clock", call_id="a") == first
    assert (first["block"], len(clock.done)) == ({"type": "clock"}, 1)


def test_a_repeated_delivery_returns_the_block_again(live: Live, bell: Probe) -> None:
    bell.outcome = Outcome.done("Rung.", block={"type": "bell"})
    assert live.call("ring_bell", call_id="a") == live.call("ring_bell", call_id="a")


@pytest.mark.requirement("F18")
def test_a_repeated_end_of_call_is_signaled_again(live: Live) -> None:
    """A client that lost the first response still stops the model."""
    first = live.call("end_call", call_id="bye")
    assert live.call("end_call", call_id="bye") == first
    assert first["ended"] is True


def test_a_lookup_left_by_a_dead_process_runs_again(live: Live, clock: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """While its process may be alive, it counts as under way."""
    with live.tenant.tx(), open_log(live.conversation.pk) as log:
        log.add_event("live_tool_call", payload={"call": "a", "tool": "look_at_clock", "arguments": {}})
    assert live.call("look_at_clock", call_id="a")["result"] == tool_calls.UNDER_WAY
    monkeypatch.setattr(tool_calls, "RESCUED_AFTER", timedelta(0))
    assert not live.call("look_at_clock", call_id="a")["is_error"]
    assert len(clock.done) == 1


def test_an_effect_left_by_a_dead_process_is_settled_by_its_job(
    live: Live, bell: Probe, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every effect has a job, due once its process can't be alive any more. The outcome is unknown."""

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


def test_no_tool_runs_while_an_operator_has_the_conversation(live: Live, bell: Probe) -> None:
    """The model is told to say nothing more."""
    with live.tenant.tx():
        chat = start_conversation(live.tenant.project, channel="portal", external_id="guest", known={}, metadata={})
        take_over(chat.pk, by=live.tenant.owner)
    context = {"channel": "portal", "businessId": str(live.tenant.project.pk)}
    answer = Live(live.tenant, chat).call("ring_bell", context=context)
    assert (answer["is_error"], "Say nothing more" in answer["result"], bell.done) == (True, True, [])


@pytest.mark.requirement("L19")
def test_the_daily_limit_applies(live: Live, bell: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is told the reason."""
    monkeypatch.setitem(POLICIES, "bell", KindPolicy(max_per_conversation=1))
    live.call("ring_bell", {"times": 1}, call_id="a")
    answer = live.call("ring_bell", {"times": 2}, call_id="b")
    assert (answer["is_error"], "that is the limit" in answer["result"], len(bell.done)) == (True, True, 1)


def test_hidden_arguments_are_not_logged(live: Live, bell: Probe) -> None:
    """For example, a one-time code that the caller reads out."""
    tool = builtin_tools()["ring_bell"]
    assert tool.handler is not None
    builtin_tools()["ring_bell"] = replace(tool, handler=replace(tool.handler, hidden=frozenset({"tone"})))
    live.call("ring_bell", {"tone": "high"})
    [called] = live.events(idn="live_tool_call")
    assert (called.payload["arguments"], bell.done[0]["tone"]) == ({"times": 1, "tone": MASK}, "high")


@pytest.mark.requirement("F18")
@pytest.mark.parametrize(
    ("name", "arguments", "told", "status"),
    [
        ("transfer_call", {"phone_number": "+39065550114"}, {"transferred": True}, ConversationStatus.TRANSFERRED),
        ("end_call", {}, {"ended": True}, ConversationStatus.ENDED),
    ],
)
def test_no_call_runs_after_the_end_signal(
    live: Live, bell: Probe, name: str, arguments: Any, told: dict[str, bool], status: str
) -> None:
    """The channel is told to stop the model."""
    answer = live.call(name, arguments)
    assert {key: answer[key] for key in told} == told
    assert live.status() == status
    later = live.call("ring_bell", call_id="later")
    assert later["is_error"]
    assert "The call is over" in later["result"]
    assert not bell.done


@pytest.mark.requirement("L07")
def test_a_number_that_is_not_listed_is_refused(live: Live) -> None:
    """The server refuses it whatever schema the model was shown."""
    answer = live.call("transfer_call", {"phone_number": "+19005550100"})
    assert answer["is_error"]
    assert "phone_number" in answer["result"]
    assert (live.effects(), live.status()) == ([], ConversationStatus.OPEN)


@pytest.mark.requirement("L07")
def test_a_number_removed_from_the_list_is_refused(live: Live) -> None:
    """The model may have been shown it before."""
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
    """No argument names a recipient or tenant."""
    answer = live.call("send_sms", {"text": "Your table is booked.", "to": "+1900", "organization": str(uuid4())})
    assert not answer["is_error"]
    [effect] = live.effects()
    assert (effect.kind, effect.recipient, effect.arguments) == (
        "sms", "393331234567", {"text": "Your table is booked."}
    )  # fmt: skip


@pytest.mark.requirement("L08")
def test_a_custom_tool_with_the_live_trigger_can_be_called(live: Live, settings: Any) -> None:
    """The session offers it, and the model reads the endpoint's answer."""
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
def test_after_actions_run_after_the_answer(live: Live, model: ScriptedModel, settings: Any) -> None:
    """By the effect's job, so that the caller doesn't wait."""
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
def test_a_long_result_is_cut_for_the_model(live: Live, bell: Probe, clock: Probe) -> None:
    """With and without an effect, and the same on a repeated delivery."""
    for name, probe in (("ring_bell", bell), ("look_at_clock", clock)):
        probe.outcome = Outcome.done("ding " * MAX_RESULT_BYTES)
        answers = [live.call(name, call_id=name), live.call(name, call_id=name)]
        assert [len(answer["result"]) for answer in answers] == [MAX_RESULT_BYTES] * 2


@pytest.mark.parametrize(
    ("has_rule", "said", "held"),
    [
        (False, "A colleague has to approve this first", "The same waits for a colleague"),
        (True, "This is allowed by the business and being done now", "The same is allowed and being done now"),
    ],
)
def test_a_call_that_requires_approval_names_the_approver(live: Live, has_rule: bool, said: str, held: str) -> None:
    """A standing rule that approves is not reported as a colleague's decision. Held duplicates say the same."""
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


def test_a_redelivered_call_whose_todo_was_edited_needs_no_second_approval(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The edited effect has another key but still belongs to the call, however late the redelivery."""
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
def test_tools_know_the_phones_call_without_its_token(live: Live, bell: Probe) -> None:
    live.call("ring_bell")
    [tool_context] = bell.contexts
    assert tool_context.call == {
        "call_sid": "CA1",
        "caller_phone": "+390655501",
        "interaction_id": str(live.conversation.pk),
        "caller_id": "c-1",
    }
    assert TOKEN not in repr(tool_context)


@pytest.mark.requirement("F14")
def test_the_phone_token_is_stored_nowhere(live: Live, bell: Probe, caplog: pytest.LogCaptureFixture) -> None:
    """No row, log, response or error contains it."""
    caplog.set_level(logging.DEBUG)
    bell.raises = RuntimeError("boom")
    answers = [live.post("ring_bell"), live.post("no_such_tool"), live.post("end_call", context={"authToken": TOKEN})]
    rows = [*live.effects(), *live.events()]
    assert TOKEN not in "".join([caplog.text, *(answer.content.decode() for answer in answers)])
    assert TOKEN not in "".join(json.dumps(vars(row), default=str) for row in rows)
    assert TOKEN not in repr(live.read())


@pytest.mark.requirement("F14")
@pytest.mark.parametrize("missing", ["channel", "callerPhone", "interactionId"])
def test_the_required_fields_of_a_phone_context_are_checked(live: Live, missing: str) -> None:
    context = {name: value for name, value in live.context.items() if name != missing}
    with pytest.raises(ContextRefused, match=rf"context\.{missing}: Field required"):
        live.read(context)


@pytest.mark.requirement("F14")
def test_a_phone_context_needs_nothing_that_is_not_read(live: Live) -> None:
    context = {name: live.context[name] for name in ("channel", "callerPhone", "interactionId")}
    call = {"call_sid": "", "caller_phone": "+390655501", "interaction_id": str(live.conversation.pk), "caller_id": ""}
    assert live.read(context).call == call


@pytest.mark.requirement("F14")
def test_a_claimed_verification_reaches_no_tool(live: Live) -> None:
    """A caller id can be spoofed, and so can the bridge's claim."""
    assert "caller_verified" not in live.read({**live.context, "callerVerified": True}).call


@pytest.mark.requirement("F15")
@pytest.mark.parametrize(
    ("channel", "context", "sentence"),
    [
        ("portal", {"channel": "portal", "businessId": "OURS"}, ""),
        ("webcall", {"businessId": "OURS"}, ""),
        ("portal", {"businessId": "OURS"}, "context.channel: Field required."),
        ("webcall", {"businessId": "OURS", "callSid": "CA1"}, "context.callSid: Extra inputs are not permitted."),
        ("webcall", {"businessId": "OTHER"}, "context.businessId doesn't match the API key's business."),
        ("phone", {"channel": "phone", "businessId": "OURS"}, "context.callerPhone: Field required."),
        ("phone", {"channel": "phone", "interactionId": "OTHER"}, "context.interactionId doesn't match"),
        (
            "chat",
            {"businessId": "OURS"},
            "Conversations on chat don't support live calls; those on phone, portal, webcall",
        ),
        ("phone", "CA1", "context must be an object."),
    ],
)
def test_each_channel_has_its_context(live: Live, channel: str, context: Any, sentence: str) -> None:
    """Portal, browser voice and phone, each by the conversation's channel."""
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
