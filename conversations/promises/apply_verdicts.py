"""Applies the verdicts on a reply: effects with their jobs, promises, waits and corrections (steps 7 to 9).

Everything runs in the tool caller's commit, under the conversation's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.context.agreed import booking_words, is_named
from conversations.context.turn_context import TurnContext
from conversations.followups.follow_ups import GOODBYE
from conversations.followups.waits import open_wait
from conversations.live.event_log import ConversationLog
from conversations.models import Turn, Wait
from conversations.models.event import EventType
from conversations.promises.unsupported_promises import create_todos
from conversations.turns.flags import broken_claim
from jobs.enqueue import enqueue
from tools.engine.catalogue import wait_seconds
from tools.engine.events.subscribers import is_delivered, without_subscriber
from tools.engine.execution.plan import plan_commitments
from tools.engine.ledger import job_for, store_verdicts
from tools.engine.presenters import effect_payload
from tools.engine.promised_time import TimedQuote
from tools.engine.promises import UNHEARD, PromiseSource, open_promises, open_unsupported_promises
from tools.engine.verdicts import FURTHER, ONE_PER_ANSWER, Judgement, unbacked_claims
from tools.models import Effect

UNBACKED = "claim_unbacked"
BOOKING_KINDS = frozenset({"booking", "meeting"})
LONGEST_CORRECTION = 300


@dataclass(frozen=True)
class Executed:
    """The effects that were planned, and the waits that were opened."""

    effects: list[Effect] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)

    @property
    def document(self) -> list[dict[str, Any]]:
        """The effects in the format of step 7 of the trace."""
        waited = {wait.effect_id for wait in self.waits}
        return [
            {"tool": effect.tool, "effect": str(effect.pk), "kind": effect.kind, "waited_for": effect.pk in waited}
            for effect in self.effects
        ]


def opens_wait(judgements: Iterable[Judgement]) -> bool:
    """True if one of the fired tools opens a wait."""
    return any(judgement.fired and wait_seconds(judgement.tool) for judgement in judgements)


def source_of(log: ConversationLog, context: TurnContext) -> PromiseSource:
    """The reply that the promises were found in."""
    assert context.turn.reply is not None
    return PromiseSource(
        project_id=log.conversation.project_id,
        conversation_id=log.conversation.pk,
        turn_id=context.turn.pk,
        message_id=context.turn.reply.pk,
        at=log.now,
    )


def execute(log: ConversationLog, context: TurnContext, judgements: Sequence[Judgement]) -> Executed:
    """Store the verdicts. Each fired one gets an effect with its job, and a wait if the tool has one.

    A tool that keeps promises gets one. An event that nobody is subscribed to gets no effect: its promise is left to
    people, with a todo, and so is a further promise of a tool.
    """
    conversation, turn = log.conversation, context.turn
    store_verdicts(judgements, conversation_id=conversation.pk, turn_id=turn.pk)
    unheard = _unheard_events(log, judgements)
    if unheard:
        left = [one for one in judgements if one.fired and one.tool.name in unheard and one.tool.keeps_promise]
        quotes = [TimedQuote(one.quote) for one in left]
        create_todos(log, open_unsupported_promises(quotes, source=source_of(log, context), reason=UNHEARD))
    further = [TimedQuote(one.quote) for one in judgements if one.rule == FURTHER]
    create_todos(log, open_unsupported_promises(further, source=source_of(log, context), reason=ONE_PER_ANSWER))
    fired = [one for one in judgements if one.fired and one.tool.name not in unheard]
    if not fired:
        return Executed()
    effects = plan_commitments(fired, context.place)
    log.writes.change(Turn, turn.pk, tools_called=True)
    promised = [effect for effect, judgement in zip(effects, fired, strict=True) if judgement.tool.keeps_promise]
    open_promises(promised, source=source_of(log, context))
    for effect in effects:
        log.add_event("effect_planned", payload=effect_payload(effect), type=EventType.EFFECT)
    waits = _open_waits(log, turn, zip(effects, fired, strict=True))
    enqueue([job_for(effect) for effect in effects])
    return Executed(effects=effects, waits=waits)


def flag_unbacked_claims(log: ConversationLog, context: TurnContext, judgements: Iterable[Judgement]) -> None:
    """Flag claims of completed actions that no effect backs, and have the next reply correct all of them.

    A booking of the customer from another conversation backs the claim that names it.
    """
    turn, booked = context.turn, booking_words(context.agreements, context.config)
    claims = [
        claim
        for claim in unbacked_claims(judgements, conversation_id=log.conversation.pk)
        if claim.tool.kind not in BOOKING_KINDS or not is_named(claim.quote, booked)
    ]
    if not claims:
        return
    quotes = list(dict.fromkeys(claim.quote for claim in claims))
    log.conversation.correction = '" and "'.join(quotes)[:LONGEST_CORRECTION]
    log.conversation.flag = broken_claim(quotes)
    for claim in claims:
        log.add_event(UNBACKED, payload={"turn": str(turn.pk), "tool": claim.tool.name, "quote": claim.quote})


def update_follow_up(log: ConversationLog, turn: Turn, *, fired: Iterable[str]) -> dict[str, Any]:
    """Step 8. The reply has set the timer for its channel; it is cleared if the agent said goodbye."""
    conversation = log.conversation
    if GOODBYE in fired and conversation.last_turn == turn.seq:
        conversation.follow_up_at = None
    at = conversation.follow_up_at
    return {
        "channel": conversation.channel,
        "follow_up_at": at.isoformat() if at else None,
        "seconds": round((at - log.now).total_seconds(), 1) if at else None,
    }


def _unheard_events(log: ConversationLog, judgements: Iterable[Judgement]) -> set[str]:
    """The events of fired tools that nobody is subscribed to."""
    fired = (one.tool for one in judgements if one.fired)
    events = [tool.name for tool in fired if is_delivered(tool.name, tool.definition)]
    return without_subscriber(log.conversation.project_id, events)


def _open_waits(log: ConversationLog, turn: Turn, planned: Iterable[tuple[Effect, Judgement]]) -> list[Wait]:
    return [
        open_wait(log, reason=effect.tool, seconds=seconds, turn=turn, effect_id=effect.pk)
        for effect, judgement in planned
        if (seconds := wait_seconds(judgement.tool))
    ]
