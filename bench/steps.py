"""Measures two parts of a turn beyond their model calls: the tool caller, and a tool called by the reply.

One message is answered at a time, by the rules of the offline model. Half of the replies have to call
`search_knowledge` once. The tool caller's detections run in parallel, so the longer one is subtracted.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bench.product import Product

QUESTIONS = (
    "Are you open on Sunday?",
    "What is on the menu?",
    "Is there parking nearby?",
    "Do you have vegan dishes?",
    "How do I get there?",
    "Do you take cards?",
)
CONVERSATIONS = 10
TOOL = {"name": "search_knowledge", "arguments": {"query": "opening hours"}}
ANSWER = "We are open from noon."
OVER = ("done", "failed", "skipped")
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True)
class Steps:
    """Medians, in milliseconds beyond the model's."""

    tool_caller_ms: float
    reply_ms: float
    reply_with_tool_ms: float

    @property
    def tool_ms(self) -> float:
        """The time that the tool adds to its reply."""
        return self.reply_with_tool_ms - self.reply_ms


def measure_steps(product: Product) -> Steps:
    """Hold some short conversations. Raises RuntimeError if a turn doesn't finish or doesn't call its tool."""
    product.tell_model("/reset", {})
    turns = [turn for number in range(CONVERSATIONS) for turn in _conversation(product, number=number)]
    replies: dict[bool, list[float]] = {True: [], False: []}
    for turn in turns:
        replies[bool(turn["steps"])].append(_reply_ms(turn))
    if len(replies[True]) != len(replies[False]):
        raise RuntimeError(f"{len(replies[True])} of {len(turns)} replies called their tool; is it offered?")
    return Steps(
        tool_caller_ms=statistics.median(map(_tool_caller_ms, turns)),
        reply_ms=statistics.median(replies[False]),
        reply_with_tool_ms=statistics.median(replies[True]),
    )


def _conversation(product: Product, *, number: int) -> list[dict[str, Any]]:
    """The finished turns of a new conversation; every second one calls a tool."""
    persona = {"external_id": f"steps-{number}"}
    path = f"/conversations/{product.call('/conversations', {'channel': 'chat', 'persona': persona})['id']}"
    turns = []
    for asked, question in enumerate(QUESTIONS):
        calls = [{"skill": "reply", "tool_calls": [TOOL]}] if asked % 2 else []
        product.tell_model("/script", [*calls, {"skill": "reply", "text": ANSWER}])
        turn = product.call(f"{path}/messages?wait=30", {"content": question})["turn"]["id"]
        turns.append(_finished(product, f"{path}/turns/{turn}"))
    return turns


def _finished(product: Product, path: str) -> dict[str, Any]:
    """The turn after its jobs have finished."""
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends_at:
        turn = product.call(path)
        if all(job["state"] in OVER for job in turn["jobs"]):
            return turn
        time.sleep(0.1)
    raise RuntimeError(f"{path} was not over within {PATIENCE_SECONDS:.0f} s.")


def _reply_ms(turn: dict[str, Any]) -> float:
    """The time from the start of the reply's job to its commit, without its model calls."""
    return _span_ms(turn["started_at"], turn["replied_at"]) - sum(_calls_ms(turn, "reply"))


def _tool_caller_ms(turn: dict[str, Any]) -> float:
    """The time from the start of the tool caller's job to its end, without the longer detection."""
    [job] = [job for job in turn["jobs"] if job["lane"] == "tool_caller"]
    return _span_ms(job["started_at"], job["finished_at"]) - max(_calls_ms(turn, "detect"), default=0)


def _span_ms(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() * 1000


def _calls_ms(turn: dict[str, Any], skill: str) -> list[float]:
    return [call["total_ms"] for call in turn["model_calls"] if call["skill"] == skill]
