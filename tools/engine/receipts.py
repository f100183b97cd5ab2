"""Receipts of effects: how far a provider says that a message came. A receipt only moves forward.

Every change is compare-and-set, under the lock of what the effect belongs to. A provider may report before an attempt's
own outcome is stored, or after its worker died: the effect keeps the report, which then decides its outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext_noop

from tools.engine.execution.outcome import ExpectedReceipt
from tools.engine.ledger import RECEIPT_COLUMNS, announce_outcome, counted
from tools.models import Effect, EffectState, ReceiptState

NOT_DELIVERED = gettext_noop("It was sent, but it did not arrive.")
ARRIVED, SENT = "The message was delivered.", "The message was sent."
LONGEST_REASON = 300
# The states from which each state is reached. What was delivered can't fail any more, and a failure is final.
EARLIER: Mapping[ReceiptState, tuple[str, ...]] = {
    ReceiptState.SENT: ("",),
    ReceiptState.DELIVERED: ("", ReceiptState.SENT, ReceiptState.UNKNOWN),
    ReceiptState.READ: ("", ReceiptState.SENT, ReceiptState.DELIVERED, ReceiptState.UNKNOWN),
    ReceiptState.FAILED: ("", ReceiptState.SENT, ReceiptState.UNKNOWN),
    ReceiptState.UNKNOWN: ("", ReceiptState.SENT),
}


@dataclass(frozen=True)
class ReceiptReport:
    """A provider's word on a message. `ref` is its id of the message, and `within` the time that receipts may take."""

    ref: str
    state: ReceiptState
    reason: str = ""
    at: datetime | None = None
    within: timedelta | None = None


def expect(effect: Effect, expected: ExpectedReceipt) -> None:
    """Await the receipts of a message that the provider has taken on. A receipt that came before stays."""
    due_at = Now() + expected.within if expected.within is not None else None
    changes: dict[str, Any] = {"receipt_ref": expected.ref, "receipt_due_at": due_at}
    if not effect.receipt or effect.receipt_ref != expected.ref:
        changes |= {"receipt": ReceiptState.SENT, "receipt_reason": "", "receipt_at": Now()}
    Effect.objects.filter(pk=effect.pk).update(**changes)
    effect.refresh_from_db(fields=RECEIPT_COLUMNS)


def advance(effect: Effect, report: ReceiptReport) -> bool:
    """Move the receipt forward. Return False for a report that is repeated, late, or of an earlier attempt's message."""
    # Until an attempt ends, and if its worker died, the id of its message isn't known. An id without a receipt is that of
    # an earlier attempt.
    is_earlier = effect.receipt_ref == report.ref and not effect.receipt
    is_unnamed = not effect.receipt and effect.state == EffectState.UNKNOWN
    is_own = effect.receipt_ref in ("", report.ref) or is_unnamed or effect.state == EffectState.SENDING
    if report.state not in EARLIER or is_earlier or not is_own:
        return False
    rows = Effect.objects.filter(pk=effect.pk)
    if effect.receipt_ref in ("", report.ref):
        rows = rows.filter(receipt__in=EARLIER[report.state])
    changes: dict[str, Any] = {"receipt": report.state, "receipt_ref": report.ref, "receipt_at": report.at or Now()}
    if report.within is not None:
        changes["receipt_due_at"] = Coalesce("receipt_due_at", Now() + report.within)
    changed = rows.update(**changes, receipt_reason=report.reason[:LONGEST_REASON])
    effect.refresh_from_db(fields=RECEIPT_COLUMNS)
    return changed == 1


def obey(effect: Effect) -> bool:
    """End a done or unknown effect as its receipt says. Return False if that changes nothing.

    What a person has decided stays.
    """
    end = _end_of(effect)
    if end is None:
        return False
    was = effect.state
    rows = Effect.objects.filter(pk=effect.pk, state=was)
    if rows.update(finished_at=Now(), **end) != 1:
        return False
    effect.refresh_from_db()
    if EffectState.UNKNOWN in (was, effect.state):
        announce_outcome(effect)
    return counted(effect)


def _end_of(effect: Effect) -> dict[str, Any] | None:
    """The columns of the end that the receipt asks for; None if the effect has it."""
    if effect.state not in (EffectState.DONE, EffectState.UNKNOWN) or effect.was_decided:
        return None
    match effect.receipt:
        case ReceiptState.FAILED:
            error = effect.receipt_reason or NOT_DELIVERED
            return {"state": EffectState.FAILED, "error": error, "told": ""}
        case ReceiptState.UNKNOWN if effect.state == EffectState.DONE:
            return {"state": EffectState.UNKNOWN, "error": effect.receipt_reason}
        case ReceiptState.DELIVERED | ReceiptState.READ if effect.state == EffectState.UNKNOWN:
            return {"state": EffectState.DONE, "error": "", "told": ARRIVED}
        case ReceiptState.SENT if effect.state == EffectState.UNKNOWN:
            return {"state": EffectState.DONE, "error": "", "told": SENT}
    return None
