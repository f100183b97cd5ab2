"""Decisions about effects that ended or were held back: run again, release, confirm. All are compare-and-set."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.utils.translation import gettext

from jobs.errors import WrongState
from tools.engine.ledger import announce_outcome, counted
from tools.models import AfterAction, AfterActionState, Effect, EffectState


def reopen(effect: Effect) -> None:
    """Plan an effect again that failed before its first attempt. Raises WrongState."""
    changed = Effect.objects.filter(pk=effect.pk, state=EffectState.FAILED, attempts=0).update(
        state=EffectState.PLANNED, error="", told="", finished_at=None
    )
    effect.refresh_from_db()
    if changed != 1:
        raise WrongState(
            gettext("This effect is %(value)s and was started; it can't be run again.")
            % {"value": EffectState(effect.state).value}
        )
    _delete_skipped_after_actions(effect)


def release(effect: Effect, *, by: UUID | None) -> None:
    """Release a held duplicate, or a message in the outbox: it is planned again and not held a second time.

    Raises WrongState.
    """
    again = {"repeats": None, "told": "", "finished_at": None, "deadline_at": None}
    if effect.is_in_outbox:
        again |= {"adapter": "", "result": None}
        _resolve(effect, by, of=EffectState.DONE, to=EffectState.PLANNED, **again)
    else:
        _resolve(effect, by, of=EffectState.HELD, to=EffectState.PLANNED, **again)


def plan_again(effect: Effect) -> None:
    """Plan a failed effect again, under the same key. Raises WrongState."""
    changed = Effect.objects.filter(pk=effect.pk, state=EffectState.FAILED).update(
        state=EffectState.PLANNED, error="", told="", finished_at=None, deadline_at=None
    )
    effect.refresh_from_db()
    if changed != 1:
        raise WrongState(
            gettext("Only a failed effect can be retried; this one is %(value)s.")
            % {"value": EffectState(effect.state).value}
        )
    _delete_skipped_after_actions(effect)


def send_again(effect: Effect, *, by: UUID | None) -> None:
    """Plan an unknown effect again, under the same key: staff says it didn't happen. Raises WrongState."""
    _resolve(
        effect,
        by,
        of=EffectState.UNKNOWN,
        to=EffectState.PLANNED,
        error="",
        told="",
        finished_at=None,
        deadline_at=None,
        is_uncertain=False,
        # The id stays, so that late reports on the first message are known as such.
        receipt="",
        receipt_reason="",
        receipt_at=None,
        receipt_due_at=None,
    )


def confirm(effect: Effect, *, by: UUID | None) -> None:
    """Mark an unknown effect as done: staff says it happened. Raises WrongState."""
    told = "A colleague has checked it: it was done."
    _resolve(effect, by, of=EffectState.UNKNOWN, to=EffectState.DONE, error="", told=told, finished_at=Now())


def _resolve(effect: Effect, by: UUID | None, *, of: EffectState, to: EffectState, **changes: Any) -> None:
    changed = Effect.objects.filter(pk=effect.pk, state=of).update(
        state=to, resolved_by=by, resolved_at=Now(), **changes
    )
    effect.refresh_from_db()
    if changed != 1:
        raise WrongState(
            gettext("The effect must be %(wanted)s; it is %(state)s.")
            % {"wanted": of.value, "state": EffectState(effect.state).value}
        )
    counted(effect)
    if of == EffectState.UNKNOWN:
        announce_outcome(effect)


def _delete_skipped_after_actions(effect: Effect) -> None:
    """Delete skipped after-actions, so that they are planned again when the effect ends."""
    AfterAction.objects.filter(effect=effect, state=AfterActionState.SKIPPED).delete()
