"""A turn's results in plain sentences, for a model that calls tools but never answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from conversations.claim_check.claim_lexicon import DONE, HONEST
from conversations.models import TurnCall
from tools.models import EffectState

# A longer result is material for an answer, such as articles or records, and no answer.
MAX_LENGTH = 300
MAX_SENTENCES = 6
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# Results are written for the agent. These sentences tell it what to do, or speak about the customer.
FOR_THE_AGENT = re.compile(
    r"^(?:tell|say|ask|call|use|offer|go on|never|do not|don't|pass)\b|[;,] (?:ask|tell|say|use)\b|`|\bdon't mention\b"
    r"|\bthe (?:customer|caller)\b",
    re.IGNORECASE,
)
# What the business's own records say about a caller is for the agent only.
PRIVATE_KINDS = frozenset({"caller_lookup"})


def spoken_results(calls: Iterable[TurnCall], *, language: str) -> str:
    """The results of the calls, each sentence once. Empty if no call came to anything."""
    sentences = list(dict.fromkeys(sentence for call in calls for sentence in _sentences(call, language=language)))
    failed = HONEST.get(language, HONEST["en"])[2]
    return "" if set(sentences) <= {failed} else " ".join(sentences[:MAX_SENTENCES])


def _sentences(call: TurnCall, *, language: str) -> Iterator[str]:
    pending, unknown, failed, _ = HONEST.get(language, HONEST["en"])
    state = call.effect.state if call.effect else None
    if state in (EffectState.PLANNED, EffectState.SENDING):
        yield pending
    elif state == EffectState.UNKNOWN:
        yield unknown
    elif call.is_error:
        yield failed
    elif not _is_private(call):
        told = list(_told(call.result))
        yield from told or ([DONE.get(language, DONE["en"])] if state == EffectState.DONE else [])


def _is_private(call: TurnCall) -> bool:
    """True if the result isn't the customer's: records about them, or a message that stayed in the outbox."""
    effect = call.effect
    return effect is not None and (effect.kind in PRIVATE_KINDS or effect.is_in_outbox)


def _told(result: str) -> Iterator[str]:
    """The sentences of a short result that are meant for the customer too. JSON is not."""
    text = result.strip()
    if len(text) > MAX_LENGTH or "\n" in text or text.startswith(("{", "[")):
        return
    for sentence in SENTENCE_END.split(text):
        if sentence and not FOR_THE_AGENT.search(sentence):
            yield sentence if sentence[-1] in ".!?" else f"{sentence}."
