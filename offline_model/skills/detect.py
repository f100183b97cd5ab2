"""Detection skill: the tools that the agent commits to in an answer."""

from __future__ import annotations

import re
from typing import Any

from offline_model import prompt_reader
from offline_model.conditions import ConditionContext, is_commitment, is_met
from offline_model.dates import promised_time, read_now
from offline_model.grammar.rules import read_answer
from offline_model.prompt_reader import Line, ToolText
from offline_model.tool_mentions import Mention, MentionFinder
from offline_model.wire import ChatCall

ASKS_UNSERVED = "`unserved` lists"
FIRMNESS = {None: 0, "quotation": 1, "subject": 3}
MIDDLING = 2
# Work done by people later; the agent's next words are no promise.
BY_PEOPLE = re.compile(
    r"\b(?:colleagues?|team|kitchen|chef|manager|owner|staff|boss|someone|somebody)\b"
    r"|\b(?:call|ring|phone) you\b|\bget back to you\b|\bfind (?:it |that )?out\b|\blook into\b",
    re.IGNORECASE,
)
# A message for a later time, which no tool sends.
SENDS = re.compile(r"send_(?:sms|email)")
LATER = re.compile(
    r"(?<!\bfor )\b(?:tomorrow|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)(?: (?:morning|afternoon|evening))?(?: at [\w:]+)?\W*$",
    re.IGNORECASE,
)
BY_TOOL = re.compile(r"\b(?:transfer|connect|put you through|hand you over)\b", re.IGNORECASE)


def detect(call: ChatCall) -> dict[str, Any]:
    """The verdicts, in the shape of the skill's output."""
    user = call.last_user
    answer = prompt_reader.section(user, "LatestConvoAgentAnswer")
    messages = prompt_reader.transcript(prompt_reader.section(user, "Conversation"))
    verdicts = judge_answer(answer, tools=prompt_reader.tools(call.system), messages=messages)
    served = [verdict["quote"] for verdict in verdicts]
    later = [
        verdict["quote"] for verdict in verdicts if verdict["rule"] == "future_step" and _is_later(verdict, answer)
    ]
    unserved = [*unsupported_promises(answer, served=served), *({"quote": quote, "what": quote} for quote in later)]
    now = read_now(prompt_reader.section(user, "Now"))
    for one in unserved:
        one["at"] = promised_time(_sentence_from(one["quote"], answer), now=now)
    return {"verdicts": verdicts, "unserved": unserved if ASKS_UNSERVED in call.system else []}


def _is_later(verdict: dict[str, Any], answer: str) -> bool:
    """True for a message that the agent promises for a later time."""
    return (
        SENDS.match(verdict["tool"]) is not None and LATER.search(_sentence_from(verdict["quote"], answer)) is not None
    )


def _sentence_from(quote: str, answer: str) -> str:
    """The quote and what follows it in its sentence."""
    return quote + answer.partition(quote)[2].partition(".")[0]


def judge_answer(answer: str, *, tools: tuple[ToolText, ...], messages: list[Line]) -> list[dict[str, Any]]:
    """One verdict for each tool the answer mentions."""
    finder = MentionFinder(answer, tools, messages)
    verdicts = []
    for tool in tools:
        mentions = finder.mentions_of(tool)
        if mentions:
            verdicts.append(_verdict(tool, mentions, finder))
    return verdicts


def _verdict(tool: ToolText, mentions: list[Mention], finder: MentionFinder) -> dict[str, Any]:
    """Verdict by the firmest mention."""
    chosen = min(mentions, key=lambda mention: FIRMNESS.get(mention.rule, MIDDLING))
    context = ConditionContext(
        answer=finder.answer,
        messages=tuple(finder.messages),
        quote=chosen.quote,
        is_committed=chosen.rule is None,
        is_last_goodbye=finder.ends_with_goodbye,
        is_of_booking=chosen.is_of_booking,
    )
    readings = [{"name": c.name, "met": is_met(c, context)} for c in tool.conditions]
    rule = chosen.rule
    if rule is None and not all(reading["met"] for reading in readings):
        rule = "condition"
    if rule not in (None, "condition") and all(reading["met"] for reading in readings):
        readings = [
            {**r, "met": r["met"] and not is_commitment(c)} for r, c in zip(readings, tool.conditions, strict=True)
        ]
    return {"quote": chosen.quote, "tool": tool.name, "conditions": readings, "rule": rule}


def unsupported_promises(answer: str, *, served: list[str]) -> list[dict[str, Any]]:
    """Commitments of people's work that no tool covers."""
    read = [
        (reading.rule, answer[reading.sentence.words[0].start : reading.sentence.words[-1].end])
        for reading in read_answer(answer)
    ]
    texts = dict.fromkeys(text for rule, text in read if rule is None or (rule == "future_step" and LATER.search(text)))
    return [
        {"quote": text, "what": text}
        for text in texts
        if BY_PEOPLE.search(text) and not BY_TOOL.search(text) and not any(quote in text for quote in served)
    ]
