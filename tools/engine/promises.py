"""The ledger of promises: the agent's commitments and their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, Value
from django.db.models.functions import Concat, Left, Now

from jobs.sweep import sweep_tenants
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tenancy.write_batch import insert_rows
from tools.models import Effect, EffectState, Promise, PromiseState

# Effects are retried for a quarter of an hour; a promise that isn't known to be kept a while after that is overdue.
TOOL_DEADLINE = timedelta(minutes=20)
# Promises that no tool supports are left to people.
STAFF_DEADLINE = timedelta(hours=24)

NO_TOOL = "No tool can do this; somebody has to."
LATE = "It was due, and is not known to have happened."
KEPT_LATE = "It happened late."
MADE_GOOD = "It was made good."
_FINAL_STATES = {
    EffectState.DONE: PromiseState.KEPT,
    EffectState.FAILED: PromiseState.BROKEN,
    EffectState.CANCELLED: PromiseState.WITHDRAWN,
}
_SETTLE = Prepared("""
update tools_promise
set state = %s, reason = case state when 'open' then %s else %s end, closed_at = statement_timestamp()
where organization_id = %s and effect_id = %s and (state = 'open' or (%s and state = 'broken'))
""")
_OVERDUE = "select distinct organization_id from tools_promise where state = 'open' and due_at <= clock_timestamp()"


@dataclass(frozen=True)
class PromiseSource:
    """The reply in which promises were found."""

    project_id: UUID
    conversation_id: UUID
    turn_id: UUID
    message_id: UUID
    at: datetime


def open_promises(effects: Iterable[Effect], *, source: PromiseSource) -> list[Promise]:
    """Open one promise per planned effect, in the transaction that plans it."""
    return insert_rows(
        _build_promise(
            source,
            effect.quote,
            tool=effect.tool,
            effect=effect,
            due_at=source.at + TOOL_DEADLINE,
        )
        for effect in effects
    )


def open_unsupported_promises(quotes: Sequence[str], *, source: PromiseSource, reason: str = NO_TOOL) -> list[Promise]:
    """Open promises that no tool supports, or whose event nobody is subscribed to."""
    return insert_rows(
        _build_promise(source, quote, due_at=source.at + STAFF_DEADLINE, reason=reason) for quote in quotes
    )


def add_broken_promises(quotes: Sequence[str], *, reason: str, source: PromiseSource) -> list[Promise]:
    """Store promises as broken because nothing was run for them."""
    broken = {"state": PromiseState.BROKEN, "reason": reason[:300], "closed_at": source.at}
    return insert_rows(_build_promise(source, quote, due_at=source.at, **broken) for quote in quotes)


def extend_deadlines(effect: Effect) -> None:
    """Extend the effect's open promises to the deadline for people: the effect needs approval first."""
    Promise.objects.filter(effect=effect, state=PromiseState.OPEN).update(due_at=F("created_at") + STAFF_DEADLINE)


def break_promises(effect: Effect, *, reason: str) -> None:
    """Break the open promises of an effect that will not be started."""
    rows = Promise.objects.filter(effect=effect, state=PromiseState.OPEN)
    rows.update(state=PromiseState.BROKEN, reason=reason[:300], closed_at=Now())


def close_promise(promise_id: UUID, *, state: PromiseState, reason: str) -> bool:
    """Close an open promise; a broken one may still be kept, late. Return False if it was closed already."""
    states = [PromiseState.OPEN, *([PromiseState.BROKEN] if state == PromiseState.KEPT else [])]
    rows = Promise.objects.filter(pk=promise_id, state__in=states)
    return rows.update(state=state, reason=reason[:300], closed_at=Now()) == 1


def identical_promises(promise_id: UUID) -> list[UUID]:
    """The promise and the others of its conversation with the same quote that no effect serves."""
    promise = Promise.objects.get(pk=promise_id)
    identical = Promise.objects.filter(
        conversation_id=promise.conversation_id, quote=promise.quote, effect=None, tool=promise.tool
    )
    return [promise.pk, *identical.exclude(pk=promise.pk).values_list("pk", flat=True)]


def note_made_good(promise_id: UUID) -> None:
    """Note on a broken promise that it was made good. It stays broken."""
    rows = Promise.objects.filter(pk=promise_id, state=PromiseState.BROKEN).exclude(reason__endswith=MADE_GOOD)
    rows.update(reason=Left(Concat("reason", Value(f" {MADE_GOOD}")), 300))


def settle_promises(effect: Effect) -> None:
    """Update an effect's promises in the transaction that changes its state.

    Done keeps them, including broken ones; failed breaks them; cancelled withdraws them. Promises of a held effect move
    to the effect it duplicates. Any other state changes nothing: with an unknown outcome they stay open until it is
    resolved or they are overdue.
    """
    if effect.state == EffectState.HELD and effect.repeats is not None:
        Promise.objects.filter(effect=effect, state=PromiseState.OPEN).update(effect_id=effect.repeats)
        effect = Effect.objects.get(pk=effect.repeats)
    if (end := _FINAL_STATES.get(EffectState(effect.state))) is None:
        return
    is_kept = end == PromiseState.KEPT
    _SETTLE(end.value, effect.error[:300], KEPT_LATE, current_organization_id(), effect.pk, is_kept)


def break_overdue_promises() -> None:
    """Break overdue promises of all tenants. Called by the sweep."""
    sweep_tenants(_OVERDUE, _break_overdue, failed="Overdue promises were not broken")


def _break_overdue() -> None:
    overdue = Promise.objects.filter(state=PromiseState.OPEN, due_at__lte=Now())
    overdue.update(state=PromiseState.BROKEN, reason=LATE, closed_at=Now())


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
