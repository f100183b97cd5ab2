"""Skill dispatch: identifies the skill of a request and composes its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from offline_model.schema_instance import instance_of
from offline_model.skills.arguments import fill_arguments
from offline_model.skills.detect import detect
from offline_model.skills.draft import draft
from offline_model.skills.execute import OPENING, execute
from offline_model.skills.extract import extract
from offline_model.skills.fill import fill_instance
from offline_model.skills.make_good import make_good
from offline_model.skills.observer import observe
from offline_model.skills.reply import reply
from offline_model.skills.rerank import rank
from offline_model.skills.summary import summarize
from offline_model.skills.thoughts import think
from offline_model.wire import Answer, ChatCall

STRUCTURED: dict[str, Callable[[ChatCall], dict[str, Any]]] = {
    "arguments": fill_arguments,
    "observer": observe,
    "thoughts": think,
    "detect": detect,
    "summary": summarize,
    "rerank": rank,
    "extract": extract,
    "make_good": make_good,
    "draft": draft,
}
OUTPUT_TITLES = {
    "Observation": "observer",
    "RatedObservation": "observer",
    "KeyDirectives": "thoughts",
    "Detection": "detect",
    "Verdicts": "detect",
    "ConversationSummary": "summary",
    "Ranking": "rerank",
    "Findings": "extract",
    "MakeGood": "make_good",
    "AnswerDraft": "draft",
    "Translated": "translate",
}


def skill_of(call: ChatCall) -> str:
    """Name of the skill, by the output schema or the prompt; `reply` by default."""
    if call.schema_name:
        return OUTPUT_TITLES.get(call.schema_name, call.schema_name)
    if call.system.startswith(OPENING):
        return "execute"
    tail = call.system[-20000:] + call.last_user[-20000:]
    for title, skill in OUTPUT_TITLES.items():
        if f'"{title}"' in tail:
            return skill
    return "object" if call.schema is not None else "reply"


def compose(call: ChatCall) -> Answer:
    """Compose the answer of the request's skill."""
    skill = skill_of(call)
    if skill in STRUCTURED:
        return Answer(json.dumps(STRUCTURED[skill](call), ensure_ascii=False))
    if skill == "execute":
        return execute(call)
    if call.schema is not None:
        return Answer(json.dumps(fill_instance(call), ensure_ascii=False))
    return reply(call)


def fallback(call: ChatCall) -> Answer:
    """Minimal valid answer for a prompt that can't be parsed."""
    if call.schema is not None:
        return Answer(json.dumps(instance_of(call.schema)))
    return Answer("I'm sorry, I don't know that. I can pass your question on to my colleagues.")
