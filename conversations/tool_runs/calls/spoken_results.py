"""A turn's results in plain sentences, for a model that calls tools but never answers.

What a tool tells the model may instruct it, or hold a stranger's words, and is never read to a customer. A tool that has
something for customers says it apart, in `Outcome.said`.
"""

from __future__ import annotations

from collections.abc import Iterable

from conversations.claim_check.claim_lexicon import DONE, HONEST
from conversations.models import TurnCall
from tools.models import EffectState

MAX_SENTENCES = 6


def spoken_results(calls: Iterable[TurnCall], *, language: str) -> str:
    """The results of the calls, each once. Empty if no call came to anything."""
    said = list(dict.fromkeys(filter(None, (_spoken(call, language=language) for call in calls))))
    failed = HONEST.get(language, HONEST["en"])[2]
    return "" if set(said) <= {failed} else " ".join(said[:MAX_SENTENCES])


def _spoken(call: TurnCall, *, language: str) -> str:
    pending, unknown, failed, _ = HONEST.get(language, HONEST["en"])
    state = call.effect.state if call.effect else None
    if state in (EffectState.PLANNED, EffectState.SENDING):
        return pending
    if state == EffectState.UNKNOWN:
        return unknown
    if call.is_error:
        return failed
    if call.effect is not None and (call.effect.is_in_outbox or not _is_known_to_customer(call)):
        return ""
    return call.said or (DONE.get(language, DONE["en"]) if state == EffectState.DONE else "")


def _is_known_to_customer(call: TurnCall) -> bool:
    """False for records about the customer, which are for the agent only."""
    return call.effect is None or call.effect.kind not in PRIVATE_KINDS


PRIVATE_KINDS = frozenset({"caller_lookup"})
