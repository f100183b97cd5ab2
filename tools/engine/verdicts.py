"""Verdicts from a model's readings: a tool fires if all its conditions are true and no rule holds it back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.translation import gettext_noop

from tools.engine.catalogue import CompiledTool
from tools.engine.definition import ActionType
from tools.engine.quotes import are_apart, is_quote_of, place_of, repeats
from tools.engine.skills.detect import Detection, Exchange, Rule, ToolReading
from tools.models import Effect, EffectState

REASONS: Mapping[Rule, str] = {
    Rule.IN_PROGRESS: gettext_noop("It has already started."),
    Rule.COMPLETED: gettext_noop("The agent says that it is done already."),
    Rule.FUTURE_STEP: gettext_noop("It is a later step of a sequence."),
    Rule.OFFER: gettext_noop("It is an offer, a question or a condition."),
    Rule.SUBJECT: gettext_noop("Someone else does it."),
    Rule.NEGATION: gettext_noop("The agent says that it won't."),
    Rule.QUOTATION: gettext_noop("The words are quoted."),
    Rule.CONDITION: gettext_noop("A condition is not met."),
}

# The rule of a void verdict: the model's evidence is missing or invented. No model chooses it.
NO_WORDS = "no_words"
WITHOUT_WORDS = gettext_noop("No words for it in this reply.")
# The rule of a verdict on words that a tool told and the agent repeats. No model chooses it.
RELAYED = "relayed"
PASSED_ON = gettext_noop("A tool told these words, and the agent passes them on.")
# The rules of void verdicts, each with the one that the API names for it: the agent did not commit to it in this answer, or
# somebody else's words.
VOID_RULES: Mapping[str, Rule] = {NO_WORDS: Rule.CONDITION, RELAYED: Rule.QUOTATION}
# The rule of another promise of a tool that fires for the first one in the answer. It is no verdict of its own: a tool has
# one per answer, and the promise shows the rest.
FURTHER = "further"
ONE_PER_ANSWER = gettext_noop("Its tool runs once per reply, for another promise. Someone has to do this.")
SAID_EARLIER = gettext_noop("It was said in an earlier message, and judged then.")
FIRES = gettext_noop("The agent commits to it now, and all conditions are met.")


@dataclass(frozen=True)
class Judgement:
    """One tool's verdict before it is stored."""

    tool: CompiledTool
    fired: bool
    rule: str
    reason: str
    quote: str
    conditions: Mapping[str, bool]


def judge(detections: Iterable[Detection], *, tools: Sequence[CompiledTool], exchange: Exchange) -> list[Judgement]:
    """The verdicts on one answer, in the order of their quotes, before conflicts. Unknown tools are skipped.

    A tool has one verdict; each further promise of it in other words of the answer follows with the rule `further`, and is
    not shown as one. A verdict rests on the agent's words in this answer, for tools with and without history. With a quote
    from an earlier message it is held back; with any other quote, or none, it is void, as with one that a tool told the
    agent.
    """
    by_name = {tool.name: tool for tool in tools}
    readings = (reading for detection in detections for reading in detection.verdicts if reading.tool in by_name)
    all_read = [_with_words(_judge_one(reading, by_name[reading.tool]), exchange=exchange) for reading in readings]
    chosen = _one_per_tool(all_read)
    judgements = [*chosen, *_further_promises(all_read, chosen=chosen, answer=exchange.answer)]
    return sorted(judgements, key=lambda judgement: _position(judgement.quote, exchange.answer))


def shown_verdicts(judgements: Iterable[Judgement]) -> list[Judgement]:
    """The judgements that are shown as verdicts: without further promises of a tool."""
    return [judgement for judgement in judgements if judgement.rule != FURTHER]


def _judge_one(reading: ToolReading, tool: CompiledTool) -> Judgement:
    conditions = {name: _is_met(name, reading) for name in tool.definition.conditions}
    rule = reading.rule or (None if all(conditions.values()) else Rule.CONDITION)
    return Judgement(
        tool=tool,
        fired=rule is None,
        rule=rule or "",
        reason=REASONS[rule] if rule else FIRES,
        quote=reading.quote,
        conditions=conditions,
    )


def _with_words(judgement: Judgement, *, exchange: Exchange) -> Judgement:
    """The verdict if its quote is in the answer; otherwise held back, because it was judged earlier or is void."""
    if any(repeats(judgement.quote, told) for told in exchange.relayed):
        return replace(judgement, fired=False, rule=RELAYED, reason=PASSED_ON)
    if is_quote_of(judgement.quote, exchange.answer):
        return judgement
    if any(is_quote_of(judgement.quote, said) for said in exchange.said_before):
        return replace(judgement, fired=False, rule=Rule.IN_PROGRESS, reason=SAID_EARLIER)
    return replace(judgement, fired=False, rule=NO_WORDS, reason=WITHOUT_WORDS)


def _is_met(name: str, reading: ToolReading) -> bool:
    """True if the condition was read, and never as unmet."""
    readings = [condition.met for condition in reading.conditions if condition.name == name]
    return bool(readings) and all(readings)


def _one_per_tool(judgements: Iterable[Judgement]) -> list[Judgement]:
    """One verdict per tool: one that fires, else one that has words, else the first."""
    best: dict[str, Judgement] = {}
    for judgement in judgements:
        current = best.get(judgement.tool.name)
        if current is None or _rank(judgement) > _rank(current):
            best[judgement.tool.name] = judgement
    return list(best.values())


def _further_promises(
    judgements: Iterable[Judgement], *, chosen: Iterable[Judgement], answer: str
) -> Iterator[Judgement]:
    """The promises of tools that fire already, in other words of the answer. Nothing runs for them."""
    taken = {one.tool.name: [one.quote] for one in chosen if one.fired and one.tool.keeps_promise}
    for judgement in judgements:
        quotes = taken.get(judgement.tool.name, [])
        if judgement.fired and quotes and all(are_apart(judgement.quote, quote, answer) for quote in quotes):
            quotes.append(judgement.quote)
            yield replace(judgement, fired=False, rule=FURTHER, reason=ONE_PER_ANSWER)


def _rank(judgement: Judgement) -> tuple[bool, bool]:
    return judgement.fired, judgement.rule not in VOID_RULES


def _position(quote: str, answer: str) -> int:
    place = place_of(quote, answer)
    return len(answer) if place is None else place


# Effect states that back a claim. An unknown outcome doesn't: it is never reported as a success.
BACKING_STATES = (EffectState.PLANNED, EffectState.SENDING, EffectState.DONE, EffectState.HELD)

# Kinds named after their transport. Two webhooks share a kind but not a purpose, so these claims are matched by tool.
TRANSPORT_KINDS = frozenset(action.removeprefix("send_") for action in ActionType)


def unbacked_claims(judgements: Iterable[Judgement], *, conversation_id: UUID) -> list[Judgement]:
    """The "completed" verdicts without an effect of that kind in the conversation, done or under way.

    A custom tool's claim needs an effect of that very tool. A message in the outbox backs no claim.
    """
    claims = [judgement for judgement in judgements if judgement.rule == Rule.COMPLETED]
    if not claims:
        return []
    done = Effect.objects.filter(
        conversation_id=conversation_id, kind__in={claim.tool.kind for claim in claims}, state__in=BACKING_STATES
    )
    backed = {_claim_key(effect.kind, effect.tool) for effect in done if not effect.is_in_outbox}
    return [claim for claim in claims if _claim_key(claim.tool.kind, claim.tool.name) not in backed]


def _claim_key(kind: str, tool: str) -> tuple[str, str]:
    return kind, tool if kind in TRANSPORT_KINDS else ""
