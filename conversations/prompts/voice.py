"""The voice skill: the instructions of a realtime model that speaks as the agent."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.common.prompt_shapes import Fact, Intent, Line, Procedure, Scenario
from llm.prompts import render

SKILL = "voice"


@dataclass(frozen=True)
class VoiceContext:
    """Variables of templates/prompts/voice. `language` is a sentence, `hours` are lines, `earlier` is the transcript."""

    agent_name: str
    business_name: str
    language: str
    style: str
    channel_rules: str
    greeting: str
    business_context: str
    hours: str
    scenarios: list[Scenario]
    steps_name_tools: bool
    procedures: list[Procedure]
    hours_variant: str
    intents: list[Intent]
    tools: str

    now: str
    hours_status: str
    customer: list[Fact]
    earlier: list[Line]


def instructions(context: VoiceContext) -> str:
    """The agent's whole instructions at the start of a session."""
    prompt = render(SKILL, context)
    return f"{prompt.system.strip()}\n\n{prompt.user.strip()}"
