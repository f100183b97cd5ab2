"""The ledger of promises: the agent's commitments, their outcomes, and the evidence for each.

A promise is kept only by evidence, and is open only with a deadline and an owner. A message that stayed in the outbox keeps
nothing: its promise is open until its deadline and then broken, as not sent. Where the channel reports deliveries, a message
keeps its promise once it was delivered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Concat, Greatest, Left, Now
from django.utils.translation import gettext_noop

from jobs.sweep import sweep_tenants
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tenancy.write_batch import insert_rows
from tools.engine.definition import ActionType
from tools.engine.ledger import needs_approval
from tools.engine.promised_time import TimedQuote
from tools.engine.registry import builtin_tools
from tools.models import (
    KEEPING,
    NOT_SENT,
    Effect,
    EffectState,
    Evidence,
    Promise,
    PromiseOwner,
    PromiseState,
    ReceiptState,
)

# Effects are retried for a quarter of an hour; a promise that isn't known to be kept a while after that is overdue.
TOOL_DEADLINE = timedelta(minutes=20)
# Promises that no tool supports are left to people.
STAFF_DEADLINE = timedelta(hours=24)

NO_TOOL = gettext_noop("No tool can do this. Someone has to.")
UNHEARD = gettext_noop("Nobody is subscribed to its tool’s event. Someone has to do it.")
UNSENT = gettext_noop("Not sent, because no provider is connected. The message is in the outbox.")
LATE = gettext_noop("It was due, and nothing confirms that it happened.")
KEPT_LATE = gettext_noop("It happened late.")
MADE_GOOD = gettext_noop("It was corrected.")
ARRIVED = (ReceiptState.DELIVERED, ReceiptState.READ)
# Promises that a failed effect breaks, and an unknown one opens. A receipt and a person's word stand.
DISPROVABLE = Q(state=PromiseState.OPEN) | Q(state=PromiseState.KEPT, evidence=Evidence.EFFECT)
_FINAL_STATES = {
    EffectState.FAILED: PromiseState.BROKEN,
    EffectState.CANCELLED: PromiseState.WITHDRAWN,
}
_CLOSE = Prepared("""
update tools_promise
set state = %s, evidence = %s, owner = '', reason = case state when 'broken' then %s else %s end,
    closed_at = statement_timestamp()
where organization_id = %s and effect_id = %s
  and (state = 'open' or (%s and state = 'broken') or (%s and state = 'kept' and evidence = 'effect'))
""")
# A colleague who calls at ten says so afterwards. An effect's end is recorded by itself.
BY_HAND_GRACE = timedelta(minutes=20)
# The tenants to look at. `_break_overdue` gives a person's promises their grace.
_OVERDUE = "select distinct organization_id from tools_promise where state = 'open' and due_at <= clock_timestamp()"


@dataclass(frozen=True)
class PromiseSource:
    """The reply in which promises were found."""

    project_id: UUID
    conversation_id: UUID
    turn_id: UUID
    message_id: UUID
    at: datetime


def _is_done_by_handler(effect: Effect) -> bool:
    """True if the effect's own end is evidence. An event without a handler counts when it was acknowledged."""
    if effect.definition.get("action", {}).get("type", ActionType.SEND_EVENT) != ActionType.SEND_EVENT:
        return True
    built_in = builtin_tools().get(effect.tool)
    return built_in is not None and built_in.handler is not None


def evidence_of(effect: Effect) -> Evidence:
    """The evidence that an effect's end gives for its promises.

    An event that no handler takes proves nothing until a subscriber acknowledges it, and a message nothing while its
    receipt is awaited.
    """
    if effect.state != EffectState.DONE:
        return Evidence.NONE
    if effect.was_decided:
        return Evidence.PERSON
    if effect.is_in_outbox:
        return Evidence.OUTBOX
    if effect.acknowledged_at is not None:
        return Evidence.ACKNOWLEDGED
    if effect.receipt in ARRIVED:
        return Evidence.DELIVERED
    if effect.awaits_receipt:
        return Evidence.SENT
    return Evidence.EFFECT if _is_done_by_handler(effect) else Evidence.NONE


def open_promises(effects: Iterable[Effect], *, source: PromiseSource) -> list[Promise]:
    """Open one promise per planned effect, in the transaction that plans it."""
    return insert_rows(_build_effect_promise(source, effect) for effect in effects)


def open_unsupported_promises(
    quotes: Sequence[TimedQuote], *, source: PromiseSource, reason: str = NO_TOOL
) -> list[Promise]:
    """Open promises that no tool supports, for which no tool was decided on, or whose event nobody is subscribed to:
    staff keeps or withdraws them.

    Without a time, a promise in the words of one that is open repeats it, and is for the same time.
    """
    untimed = [one.quote for one in quotes if one.at is None]
    earlier = _times_ahead(untimed, source=source) if untimed else {}
    timed = [replace(one, at=one.at or earlier.get(one.quote)) for one in quotes]
    return insert_rows(_build_staff_promise(source, one, reason=reason[:300]) for one in timed)


def _times_ahead(quotes: Sequence[str], *, source: PromiseSource) -> dict[str, datetime]:
    """The times ahead of the conversation's open promises in these words, the newest of each."""
    rows = Promise.objects.filter(conversation_id=source.conversation_id, quote__in=quotes, state=PromiseState.OPEN)
    ahead = rows.filter(effect=None, promised_for__gt=source.at).order_by("created_at", "id")
    timed = ahead.values_list("quote", "promised_for")
    return {quote: at for quote, at in timed if at is not None}


def extend_deadlines(effect: Effect) -> None:
    """Give the effect's open promises to staff, with the deadline for people: the effect needs approval first."""
    rows = Promise.objects.filter(effect=effect, state=PromiseState.OPEN)
    rows.update(owner=PromiseOwner.STAFF, due_at=F("created_at") + STAFF_DEADLINE)


def break_promises(effect: Effect, *, reason: str) -> None:
    """Break the open promises of an effect that will not be started."""
    rows = Promise.objects.filter(effect=effect, state=PromiseState.OPEN)
    rows.update(state=PromiseState.BROKEN, owner=PromiseOwner.NOBODY, reason=reason[:300], closed_at=Now())


def keep_promise(promise_id: UUID, *, evidence: Evidence, reason: str) -> bool:
    """Keep an open or broken promise, or note that it was not sent. Return False if nothing changed.

    Other evidence than that of a thing that happened keeps nothing.
    """
    rows = Promise.objects.filter(pk=promise_id, state__in=(PromiseState.OPEN, PromiseState.BROKEN))
    if evidence == Evidence.OUTBOX:
        return _note_not_sent(rows) == 1
    if evidence not in KEEPING:
        return False
    changes = {"evidence": evidence, "owner": PromiseOwner.NOBODY, "reason": reason[:300]}
    return rows.update(state=PromiseState.KEPT, closed_at=Now(), **changes) == 1


def close_promise(promise_id: UUID, *, state: PromiseState, reason: str) -> bool:
    """Break or withdraw an open promise. Return False if it was closed already."""
    rows = Promise.objects.filter(pk=promise_id, state=PromiseState.OPEN)
    changes = {"evidence": Evidence.NONE, "owner": PromiseOwner.NOBODY, "reason": reason[:300]}
    return rows.update(state=state, closed_at=Now(), **changes) == 1


def break_disproved(promise_id: UUID, *, reason: str) -> bool:
    """Break a promise that is open, or was kept by an effect that turned out to have failed. Return False for any other."""
    rows = Promise.objects.filter(DISPROVABLE, pk=promise_id)
    changes = {"evidence": Evidence.NONE, "owner": PromiseOwner.NOBODY, "reason": reason[:300]}
    return rows.update(state=PromiseState.BROKEN, closed_at=Now(), **changes) == 1


def reopen_promise(promise_id: UUID, *, withdrawn_because: str) -> None:
    """Open a promise again that a person has withdrawn for this reason, with the repetitions withdrawn by the same
    decision. Staff owns them.
    """
    promise = Promise.objects.get(pk=promise_id)
    if promise.state != PromiseState.WITHDRAWN or promise.closed_at is None:
        return
    withdrawn = Promise.objects.filter(state=PromiseState.WITHDRAWN, reason__startswith=withdrawn_because)
    # The decision closed the promise first. One in the same words that an earlier decision closed stays withdrawn.
    rows = withdrawn.filter(pk__in=identical_promises(promise_id), closed_at__gte=promise.closed_at)
    rows.update(state=PromiseState.OPEN, owner=PromiseOwner.STAFF, reason=NO_TOOL, closed_at=None)


def same_promises(promise: Promise) -> QuerySet[Promise]:
    """The promise and its repetitions: those that share its effect, or without one those in the same words for the same
    time.
    """
    rows = Promise.objects.filter(conversation_id=promise.conversation_id)
    if promise.effect_id is not None:
        return rows.filter(effect_id=promise.effect_id)
    return rows.filter(effect=None, quote=promise.quote, tool=promise.tool, promised_for=promise.promised_for)


def identical_promises(promise_id: UUID) -> list[UUID]:
    """The promise and the others of its conversation with the same quote, tool and time."""
    promise = Promise.objects.get(pk=promise_id)
    rows = Promise.objects.filter(conversation_id=promise.conversation_id, quote=promise.quote, tool=promise.tool)
    identical = rows.filter(promised_for=promise.promised_for)
    return [promise.pk, *identical.exclude(pk=promise.pk).values_list("pk", flat=True)]


def note_made_good(promise_id: UUID) -> None:
    """Note on a broken promise that it was made good. It stays broken."""
    rows = Promise.objects.filter(pk=promise_id, state=PromiseState.BROKEN).exclude(reason__endswith=MADE_GOOD)
    rows.update(reason=Left(Concat("reason", Value(f" {MADE_GOOD}")), 300))


def settle_promises(effect: Effect) -> None:
    """Settle an effect's promises in the transaction that changes its state.

    Done keeps them if there is evidence, also broken ones; failed breaks them, also those that the effect itself had kept;
    cancelled withdraws them. While a message's receipt is awaited they stay open, and if it never comes, or an unproven one
    disputes it, staff has the deadline for people to answer. Promises of a held effect move to the effect it duplicates. In
    any other state they stay open: an effect on its way owns them, and staff owns those whose outcome is unknown.
    """
    if effect.state == EffectState.HELD and effect.repeats is not None:
        Promise.objects.filter(effect=effect, state=PromiseState.OPEN).update(effect_id=effect.repeats)
        effect = Effect.objects.get(pk=effect.repeats)
    state, evidence = EffectState(effect.state), evidence_of(effect)
    if evidence == Evidence.OUTBOX:
        _note_not_sent(Promise.objects.filter(effect=effect, state__in=(PromiseState.OPEN, PromiseState.BROKEN)))
    elif evidence in KEEPING:
        _close(effect, PromiseState.KEPT, evidence)
    elif state in _FINAL_STATES:
        _close(effect, _FINAL_STATES[state], Evidence.NONE)
    elif evidence == Evidence.SENT:
        await_receipt(_open_ones(effect), until=effect.receipt_due_at)
    elif state == EffectState.UNKNOWN and effect.receipt == ReceiptState.UNKNOWN:
        leave_to_staff(Promise.objects.filter(DISPROVABLE, effect=effect))
    else:
        _open_ones(effect).update(owner=_owner_of(effect))


def await_receipt(promises: QuerySet[Promise], *, until: datetime | None) -> None:
    """Note on open promises that their message was sent and that its receipt is awaited until a time."""
    due_at = Greatest("due_at", Value(until + TOOL_DEADLINE)) if until else F("due_at")
    promises.update(evidence=Evidence.SENT, owner=PromiseOwner.TOOL, reason="", due_at=due_at)


def leave_to_staff(promises: QuerySet[Promise]) -> None:
    """Leave promises to staff, open, because nothing certain says whether their message arrived."""
    due_at = Greatest("due_at", Now() + STAFF_DEADLINE)
    changes = {"state": PromiseState.OPEN, "closed_at": None, "due_at": due_at}
    promises.update(evidence=Evidence.NONE, owner=PromiseOwner.STAFF, reason="", **changes)


def break_overdue_promises() -> None:
    """Break overdue promises of all tenants. Called by the sweep."""
    sweep_tenants(_OVERDUE, _break_overdue, failed="Overdue promises were not broken")


def _break_overdue() -> None:
    is_over = Q(effect__isnull=False, due_at__lte=Now()) | Q(due_at__lte=Now() - BY_HAND_GRACE)
    overdue = Promise.objects.filter(is_over, state=PromiseState.OPEN)
    reason = Case(When(NOT_SENT, then=Value(UNSENT)), default=Value(LATE))
    overdue.update(state=PromiseState.BROKEN, owner=PromiseOwner.NOBODY, reason=reason, closed_at=Now())


def _open_ones(effect: Effect) -> QuerySet[Promise]:
    return Promise.objects.filter(effect=effect, state=PromiseState.OPEN)


def _close(effect: Effect, state: PromiseState, evidence: Evidence) -> None:
    is_kept, is_broken = state == PromiseState.KEPT, state == PromiseState.BROKEN
    where = current_organization_id(), effect.pk, is_kept, is_broken
    _CLOSE(state.value, evidence.value, KEPT_LATE, effect.error[:300], *where)


def _note_not_sent(promises: QuerySet[Promise]) -> int:
    """Record that the messages of these promises stayed in the outbox. Staff has the deadline for people to send them."""
    owner = Case(When(state=PromiseState.OPEN, then=Value(PromiseOwner.STAFF)), default=Value(PromiseOwner.NOBODY))
    due_at = Greatest("due_at", F("created_at") + STAFF_DEADLINE)
    return promises.update(evidence=Evidence.OUTBOX, owner=owner, reason=UNSENT, due_at=due_at)


def _owner_of(effect: Effect) -> PromiseOwner:
    is_waiting = effect.state == EffectState.PLANNED and needs_approval(effect)
    is_on_its_way = effect.state in (EffectState.PLANNED, EffectState.SENDING) and not is_waiting
    return PromiseOwner.TOOL if is_on_its_way else PromiseOwner.STAFF


def _build_effect_promise(source: PromiseSource, effect: Effect) -> Promise:
    due_at = source.at + TOOL_DEADLINE
    return _build_promise(source, effect.quote, due_at=due_at, owner=PromiseOwner.TOOL, tool=effect.tool, effect=effect)


def _build_staff_promise(source: PromiseSource, said: TimedQuote, *, reason: str) -> Promise:
    due_at = said.at or source.at + STAFF_DEADLINE
    fields = {"promised_for": said.at, "owner": PromiseOwner.STAFF, "reason": reason}
    return _build_promise(source, said.quote, due_at=due_at, **fields)


def _build_promise(source: PromiseSource, quote: str, *, due_at: datetime, **fields: object) -> Promise:
    return Promise(
        project_id=source.project_id,
        conversation_id=source.conversation_id,
        turn_id=source.turn_id,
        message_id=source.message_id,
        quote=quote,
        due_at=due_at,
        **fields,
    )
