"""Rerank skill: orders competing tools by their fit to the answer."""

from __future__ import annotations

import re
from typing import Any

from offline_model import prompt_reader
from offline_model.prompt_reader import ToolText
from offline_model.skills.detect import judge_answer
from offline_model.wire import ChatCall

WORD = re.compile(r"[a-z]{4,}")
# Bonus for a tool whose conditions hold, above any word overlap.
FIRM = 50


def rank(call: ChatCall) -> dict[str, Any]:
    """The ranking, in the shape of the skill's output."""
    user = call.last_user
    answer = prompt_reader.section(user, "LatestConvoAgentAnswer")
    messages = prompt_reader.transcript(prompt_reader.section(user, "Conversation"))
    tools = prompt_reader.tools(call.system)
    verdicts = {verdict["tool"]: verdict for verdict in judge_answer(answer, tools=tools, messages=messages)}
    scores = [(_score(tool, answer, verdicts.get(tool.name)), tool.name) for tool in tools]
    # The earlier of two that fit equally well is the one promised first.
    ordered = sorted(scores, key=lambda scored: -scored[0])
    return {
        "ranking": [
            {"reason": _reason(verdicts.get(name)), "tool": name, "relevance": max(0, score - position)}
            for position, (score, name) in enumerate(ordered)
        ]
    }


def _score(tool: ToolText, answer: str, verdict: dict[str, Any] | None) -> int:
    described = set(WORD.findall(f"{tool.name.replace('_', ' ')} {tool.description}".lower()))
    said = set(WORD.findall((verdict["quote"] if verdict else answer).lower()))
    firm = FIRM if verdict is not None and verdict["rule"] is None else 0
    return min(99, firm + 5 * len(described & said))


def _reason(verdict: dict[str, Any] | None) -> str:
    return f"The agent said: {verdict['quote']}" if verdict else "The answer does not speak of it."
