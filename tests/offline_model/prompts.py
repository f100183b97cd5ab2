"""Prompts as the product renders them, and the demo business in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

from conversations.common.channels import traits_of
from conversations.common.prompt_shapes import ExtraField, Fact, Intent, Line, Procedure, Scenario, Step
from llm.prompts import render
from offline_model.composer import compose
from offline_model.wire import ChatCall
from projects.agents.hours_text import HOURS_PLACEHOLDER, hours_in_words
from tools.engine.definition import Trigger
from tools.engine.registry import builtin_tools
from tools.engine.skills.detect import ConditionLine, DetectContext, ToolLine, TranscriptLine

DEMO: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "projects" / "demo" / "restaurant.json").read_text()
)
DEMO["business_context"] = DEMO["business_context"].replace(HOURS_PLACEHOLDER, hours_in_words(DEMO["hours"]))
NOW = "Wednesday 25 November 2026, 19:41"
OPEN = "open: open from 18:30 to 23:00 today"
CLINIC = """Lakeside Dental Clinic, 12 Harbour Road, Bristol.
We are open Monday to Friday 8am - 6pm, Saturday 9am - 1pm.
A check-up costs £55. Cleaning: £70. Whitening: £240 (two visits).
New patients fill in a form before the first visit.
Our doctors: Dr. Anna Weber, Dr. Paul Stein.
Parking is free behind the building."""


def scenarios() -> list[Scenario]:
    return [
        Scenario(
            number=number,
            title=scenario["title"],
            steps=[
                Step(f"{number}.{at}", step["text"], collects=step["collects"], tools=step["tools"])
                for at, step in enumerate(scenario["steps"], 1)
            ],
        )
        for number, scenario in enumerate(DEMO["scenarios"], 1)
    ]


def rendered(skill: str, history: Sequence[tuple[str, str]] = (), **values: Any) -> ChatCall:
    """A request of the skill with the rendered prompt."""
    context = make_dataclass("Context", list(values))(**values)
    prompt = render(skill, context)
    messages = [("system", prompt.system), *history, ("user", prompt.user)]
    is_reply = skill == "reply"
    return ChatCall(
        "offline-large",
        messages,
        schema_name="" if is_reply else skill,
        schema=None if is_reply else {"type": "object"},
    )


def reply_call(
    said: str,
    *,
    history: Sequence[Line] = (),
    facts: dict[str, str] | None = None,
    actions: Sequence[Any] = (),
    urgent: Sequence[str] = (),
    from_business: Sequence[str] = (),
    directives: Any = None,
    summary: str = "",
    recovery: str = "",
    is_follow_up: bool = False,
    channel: str = "chat",
    context: str = DEMO["business_context"],
    business: str = DEMO["business_name"],
    with_scenarios: bool = True,
) -> ChatCall:
    chat = [("user" if line.role == "customer" else "assistant", line.content) for line in history]
    return rendered(
        "reply",
        chat,
        agent_name=DEMO["agent_name"],
        business_name=business,
        channel=channel,
        channel_rules=traits_of(channel).rules,
        style=DEMO["style"],
        business_context=context,
        scenarios=scenarios() if with_scenarios else [],
        steps_name_tools=with_scenarios,
        procedures=[Procedure(**one) for one in DEMO["procedures"]] if with_scenarios else [],
        hours_variant="working",
        intents=[Intent(one["name"], one["working_hours"]) for one in DEMO["intents"]],
        summary=summary,
        now=NOW,
        hours_status=OPEN,
        directives=directives,
        awaiting="",
        agreed=[],
        customer=[Fact(key, value) for key, value in (facts or {}).items()],
        actions=list(actions),
        tools="",
        said_by_colleague=[],
        unseen=[],
        knowledge=[],
        sections=[],
        correction="",
        recovery=recovery,
        from_business=list(from_business),
        urgent=list(urgent),
        taken_up=[],
        is_follow_up=is_follow_up,
        latest=[Line("customer", said)] if said else [],
    )


def reply_to(said: str, **values: Any) -> str:
    return compose(reply_call(said, **values)).text


def observe(
    customer: str,
    *,
    asked: str = "",
    known: dict[str, str] | None = None,
    score: bool = False,
    messages: Sequence[Line] = (),
) -> dict[str, Any]:
    """The observation on one customer message, which may answer a question of the agent's."""
    before = [Line("agent", asked)] if asked else []
    latest = [Line("customer", customer), Line("agent", "Thank you.")]
    call = rendered(
        "observer",
        business_name=DEMO["business_name"],
        extra_fields=[ExtraField(one["key"], one["description"]) for one in DEMO["observer_fields"]],
        score_quality=score,
        known=[Fact(key, value) for key, value in (known or {}).items()],
        summary="",
        messages=[*messages, *before, *latest],
        latest=latest,
    )
    answer: dict[str, Any] = json.loads(compose(call).text)
    return answer


def facts_in(customer: str, **values: Any) -> dict[str, str]:
    return {fact["field"]: fact["value"] for fact in observe(customer, **values)["facts"]}


def think(
    messages: Sequence[Line],
    *,
    known: dict[str, str] | None = None,
    actions: Sequence[Any] = (),
    summary: str = "",
) -> dict[str, Any]:
    call = rendered(
        "thoughts",
        agent_name=DEMO["agent_name"],
        business_name=DEMO["business_name"],
        business_context=DEMO["business_context"],
        scenarios=scenarios(),
        procedures=[Procedure(**one) for one in DEMO["procedures"]],
        hours_variant="working",
        intents=[Intent(one["name"], one["working_hours"]) for one in DEMO["intents"]],
        now=NOW,
        hours_status=OPEN,
        channel="chat",
        known=[Fact(key, value) for key, value in (known or {}).items()],
        agreed=[],
        actions=list(actions),
        urgent=[],
        taken_up=[],
        recovery="",
        sections=[],
        previous=None,
        summary=summary,
        messages=list(messages),
    )
    answer: dict[str, Any] = json.loads(compose(call).text)
    return answer


def summarise(messages: Sequence[Line], *, earlier: str = "") -> dict[str, Any]:
    call = rendered("summary", business_name=DEMO["business_name"], earlier=earlier, messages=list(messages))
    answer: dict[str, Any] = json.loads(compose(call).text)
    return answer


def tool_lines() -> list[ToolLine]:
    """The built-in tools as the detection prompt lists them."""
    return [
        ToolLine(
            name=name,
            description=tool.definition.description,
            conditions=[ConditionLine(key, one.description) for key, one in tool.definition.conditions.items()],
        )
        for name, tool in builtin_tools().items()
        if Trigger.COMMITMENT in tool.moments
    ]


def detect(
    answer: str, *, tools: Sequence[ToolLine] | None = None, messages: Sequence[Line] = ()
) -> dict[str, dict[str, Any]]:
    """The verdicts by tool, over the rendered prompt."""
    context = DetectContext(
        tools=list(tools if tools is not None else tool_lines()),
        messages=[TranscriptLine(line.role, line.content) for line in messages],
        answer=answer,
    )
    prompt = render("detect", context)
    call = ChatCall(
        "offline-fast",
        [("system", prompt.system), ("user", prompt.user)],
        schema_name="detect",
        schema={"type": "object"},
    )
    return {verdict["tool"]: verdict for verdict in json.loads(compose(call).text)["verdicts"]}
