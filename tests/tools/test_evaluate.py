"""POST /tools/evaluate: verdicts on a text, without executing anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from conversations.evaluation import dry_run
from conversations.models import Message, MessageRole, Turn, TurnStatus
from jobs.models import Job, ModelCall
from tests.api.conftest import error_of
from tests.conftest import Tenant
from tests.conversations.conftest import begin
from tests.processes import ScriptedModel
from tests.tools.conftest import Tools
from tests.tools.examples import event, webhook
from tools.engine.custom.secrets import set_secret_headers
from tools.models import CustomTool, Effect, Promise, Verdict

URL = "/api/v1/tools/evaluate"
PROMISE = "I'll send you an SMS with the reservation details."
CALLBACK = event(
    description="Has a colleague call the customer back.",
    conditions={"agentPromised": {"type": "boolean", "description": "The agent commits to a call back now."}},
    useConversationHistory=False,
)


@pytest.fixture
def api(api: Client, model: ScriptedModel, settings: Any) -> Client:
    """A client with the tenant's key; the operator's model is scripted."""
    settings.OPENAI_BASE_URL = model.base_url
    return api


def evaluate(api: Client, **body: Any) -> Any:
    return api.post(URL, json.dumps(body), content_type="application/json")


def verdicts(api: Client, **body: Any) -> dict[str, Any]:
    response = evaluate(api, **body)
    assert response.status_code == 200, response.content
    return {verdict["tool"]: verdict for verdict in response.json()["verdicts"]}


def replied(tenant: Tenant, *, asked: str, answer: str, channel: str = "chat") -> Turn:
    """A turn of a conversation with a reply."""
    talk = begin(tenant, channel=channel)
    turn = talk.say(asked)
    with tenant.tx():
        reply = Message.objects.create(
            conversation=turn.conversation, turn=turn, seq=99, role=MessageRole.AGENT, content=answer
        )
        Turn.objects.filter(pk=turn.pk).update(status=TurnStatus.DONE, reply=reply)
    return turn


@pytest.mark.requirement("N39")
def test_a_promise_fires_its_tool_and_shows_the_quote(api: Client) -> None:
    verdict = verdicts(api, answer=PROMISE, channel="chat")["send_sms_tool"]
    assert (verdict["fired"], verdict["rule"]) == (True, None)
    assert verdict["conditions"] == {"agentPromised": True, "notRelatedToExistingBooking": True}
    span = verdict["span"]
    assert PROMISE[span["start"] : span["end"]] == verdict["quote"]


@pytest.mark.requirement("N37")
def test_an_offer_does_not_fire(api: Client) -> None:
    verdict = verdicts(api, answer="I can send you an SMS with the details. Would you like me to?")["send_sms_tool"]
    assert (verdict["fired"], verdict["rule"]) == (False, "offer")


def test_nothing_is_executed_and_only_model_calls_are_stored(api: Client, tenant: Tenant) -> None:
    assert verdicts(api, answer=PROMISE)["send_sms_tool"]["fired"]
    with tenant.tx():
        assert not any(model.objects.exists() for model in (Effect, Promise, Verdict, Job))
        assert {call.skill for call in ModelCall.objects.all()} == {"detect"}


@pytest.mark.requirement("N14", "N27")
@pytest.mark.parametrize(("channel", "is_read"), [("webcall", True), ("chat", False)])
def test_the_channel_decides_which_tools_are_evaluated(api: Client, channel: str, is_read: bool) -> None:
    found = verdicts(api, answer="I'm transferring you to a colleague now.", channel=channel)
    assert ("transfer_call_tool" in found) is is_read


@pytest.mark.requirement("N08")
def test_a_stored_conversation_is_evaluated_up_to_its_last_reply(
    api: Client, tenant: Tenant, model: ScriptedModel
) -> None:
    """With its history, and on its channel."""
    turn = replied(tenant, asked="My secret word is marzipan.", answer=PROMISE, channel="webcall")
    assert verdicts(api, conversation=str(turn.conversation_id))["send_sms_tool"]["fired"]
    prompts = [str(request["messages"]) for request in model.requests("detect")]
    assert any("marzipan" in prompt for prompt in prompts)
    assert any("transfer_call_tool" in prompt for prompt in prompts)


@pytest.mark.parametrize(
    "conversation",
    [
        [{"role": "user", "content": "Text me, please."}, {"role": "agent", "content": PROMISE}],
        f"customer: Text me,\nplease.\nagent: {PROMISE}",
    ],
    ids=["lines", "text"],
)
def test_a_conversation_can_be_given_inline(api: Client, conversation: Any) -> None:
    assert verdicts(api, conversation=conversation)["send_sms_tool"]["fired"]


def test_a_draft_is_evaluated_as_if_it_were_saved(api: Client) -> None:
    answer = "I'll have a colleague call you back."
    assert "call_back_tool" not in verdicts(api, answer=answer)
    assert "call_back_tool" in verdicts(api, answer=answer, tools={"tools": {"call_back_tool": CALLBACK}})


def test_an_invalid_draft_is_refused(api: Client) -> None:
    error = error_of(evaluate(api, answer="x", tools={"tools": {"bad_tool": event(conditions={})}}), status=422)
    assert error["field"] == "tools.bad_tool.conditions"


@pytest.mark.requirement("N45")
def test_a_preview_shows_the_exact_request_and_sends_nothing(api: Client, tenant: Tenant, tools: Tools) -> None:
    """With the Idempotency-Key and the signature headers, and without secrets."""
    document = webhook(url="https://quotes.invalid/fax", query={"lang": "en"})
    document |= {"description": CALLBACK["description"], "conditions": CALLBACK["conditions"]}
    tools.save("call_back_tool", document)
    with tenant.tx():
        set_secret_headers(CustomTool.objects.get(), {"Authorization": "Bearer canary"})
    conversation = "customer: I am Ada Lovelace.\nagent: I'll have a colleague call you back."
    shown = verdicts(api, conversation=conversation, preview=True)["call_back_tool"]["preview"]
    assert shown["action"] == "send_webhook"
    assert (shown["sent"]["method"], shown["sent"]["url"]) == ("POST", "https://quotes.invalid/fax?lang=en")
    assert shown["sent"]["body"] == shown["arguments"]["body"] == {"customer_name": "Ada Lovelace"}
    assert {"Idempotency-Key", "webhook-id", "webhook-signature", "Authorization"} <= set(shown["sent"]["headers"])
    assert "canary" not in json.dumps(shown)


def test_a_draft_called_by_the_model_shows_its_request(api: Client, tenant: Tenant) -> None:
    """Nothing in the answer fires it, and nothing is sent."""
    draft = {**webhook(url="https://stock.invalid/"), "moments": ["turn"]}
    conversation = "customer: I am Ada Lovelace.\nagent: Let me see."
    body = evaluate(api, conversation=conversation, preview=True, tools={"tools": {"ask_stock_tool": draft}}).json()
    assert "ask_stock_tool" not in {verdict["tool"] for verdict in body["verdicts"]}
    [call] = body["calls"]
    assert (call["tool"], call["preview"]["sent"]["body"]) == ("ask_stock_tool", {"customer_name": "Ada Lovelace"})
    with tenant.tx():
        assert not Effect.objects.exists()


@pytest.mark.requirement("N44")
def test_a_preview_of_an_event_shows_its_arguments(api: Client) -> None:
    conversation = "customer: A table for four on Friday at 7 PM?\nagent: Let me check availability for Friday at 7 PM."
    shown = verdicts(api, conversation=conversation, preview=True)["check_availability_tool"]["preview"]
    assert (shown["sent"]["event"], shown["sent"]["connector"]) == ("check_availability_tool", "system")


def test_another_tenants_conversation_is_not_found(api: Client, stranger: Tenant) -> None:
    turn = replied(stranger, asked="x", answer=PROMISE)
    error_of(evaluate(api, conversation=str(turn.conversation_id)), status=404)


@pytest.mark.parametrize(
    ("body", "field", "status"),
    [
        ({}, "answer", 422),
        ({"answer": "x" * 8_001}, "answer", 400),
        ({"answer": ""}, "answer", 400),
        ({"conversation": 7}, "conversation", 422),
        ({"answer": "x", "conversation": {}}, "conversation", 422),
        ({"conversation": []}, "conversation", 422),
        ({"conversation": [{"role": "pope", "content": "x"}]}, "conversation", 422),
        ({"conversation": "customer: hello"}, "conversation", 422),
        ({"answer": "x", "channel": "fax"}, "channel", 400),
        ({"answer": "x", "tools": 7}, "tools", 400),
        ({"answer": "x", "tennant": 7}, "tennant", 400),
    ],
)
def test_an_invalid_body_is_refused(api: Client, body: Any, field: str, status: int) -> None:
    assert error_of(evaluate(api, **body), status=status)["field"] == field


def test_an_unavailable_model_is_reported_and_its_call_stored(
    api: Client, tenant: Tenant, model: ScriptedModel
) -> None:
    model.script("detect", times=0, fault="401")
    error = error_of(evaluate(api, answer=PROMISE), status=502)
    assert error["code"] == "model_rejected"
    with tenant.tx():
        assert "rejected" in {call.error for call in ModelCall.objects.all()}


def test_no_transaction_is_open_during_the_model_call(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []

    async def ask(*args: Any, **kwargs: Any) -> list[Any]:
        held.append(connection.in_atomic_block)
        return []

    monkeypatch.setattr(dry_run, "try_tools", ask)
    assert verdicts(api, answer=PROMISE) == {}
    assert held == [False]
