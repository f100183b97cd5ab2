"""Receipts: how far each part of a message came, and the callbacks that say so. A receipt only moves forward.

The ledger holds the receipt of every effect, of tools as well. That of a message's part follows its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db.models.functions import Now

from conversations.channels.items import ReceiptUpdate
from conversations.common.presenters import receipt_payload
from conversations.live.event_log import ConversationLog
from conversations.models import Delivery, DeliveryResult, Receipt
from conversations.models.event import EventType
from projects.common.hooks import Hook
from tenancy.postgresql.prepared import Prepared
from tools.engine.execution.effect_run import EffectRun
from tools.engine.receipts import ReceiptReport
from tools.models import Effect, EffectState, ReceiptState

# Move the receipt of an effect's message forward, with all its consequences. Return False if nothing changed.
settle_receipt: Hook[Callable[[Effect, ReceiptReport], bool]] = Hook("settle_receipt")

A, S, D = ReceiptState.ACCEPTED, ReceiptState.SENT, ReceiptState.DELIVERED
# Callbacks may come while the provider's id of the message is being stored. Without the lock, neither would see the other.
_LOCK_REF = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")
# The fields of a stored callback.
STATE, REASON = "state", "reason"
# The states from which each state is reached. A part that was delivered can't fail any more.
EARLIER: Mapping[ReceiptState, tuple[ReceiptState, ...]] = {
    ReceiptState.ACCEPTED: (ReceiptState.FAILED, ReceiptState.UNKNOWN),
    ReceiptState.SENT: (A, ReceiptState.UNKNOWN),
    ReceiptState.DELIVERED: (A, S, ReceiptState.UNKNOWN),
    ReceiptState.READ: (A, S, D, ReceiptState.UNKNOWN),
    ReceiptState.FAILED: (A, S, ReceiptState.UNKNOWN),
    ReceiptState.UNKNOWN: (A, S),
}
TIMES = {
    ReceiptState.SENT: "sent_at",
    ReceiptState.DELIVERED: "delivered_at",
    ReceiptState.READ: "read_at",
    ReceiptState.FAILED: "failed_at",
}
OF_EFFECT: Mapping[str, ReceiptState] = {
    EffectState.PLANNED: ReceiptState.ACCEPTED,
    EffectState.DONE: ReceiptState.SENT,
    EffectState.FAILED: ReceiptState.FAILED,
    EffectState.CANCELLED: ReceiptState.FAILED,
    EffectState.UNKNOWN: ReceiptState.UNKNOWN,
}
ARRIVED = (ReceiptState.DELIVERED, ReceiptState.READ)


def record_effect(effect: Effect) -> Receipt | None:
    """Move the receipt of a message's part to where its effect is, in the transaction that moved the effect.

    Returns the receipt if it moved.
    """
    is_arrived = effect.state == EffectState.DONE and effect.receipt in ARRIVED
    state = ReceiptState(effect.receipt) if is_arrived else OF_EFFECT.get(effect.state)
    receipt = Receipt.objects.filter(effect_id=effect.pk).first()
    if state is None or receipt is None:
        return None
    at = effect.receipt_at if effect.receipt == state else None
    return receipt if advance(receipt, state, reason=effect.error, ref=_ref_of(effect), at=at) else None


def record_receipt(conversation: ConversationLog, effect: Effect) -> None:
    """Move the receipt of a part to where its effect is, and show it beside the message."""
    receipt = record_effect(effect)
    if receipt is not None:
        parts = Receipt.objects.filter(message_id=receipt.message_id)
        payload = {"message": str(receipt.message_id), **receipt_payload(parts)}
        conversation.add_event("message_receipt", payload=payload, type=EventType.RECEIPT)


def record_update(
    project_id: UUID, *, kind: str, account: str, update: ReceiptUpdate, within: timedelta | None
) -> Effect | None:
    """Apply a provider's callback. Returns the effect of its message, or None if no message of ours has this id."""
    found = partial(_find_effect, project_id, kind=kind, account=account, update=update)
    effect = found()
    if effect is None:
        _LOCK_REF(f"receipt {update.message_ref[:200]}")
        effect = found()
    if effect is None:
        return None
    report = ReceiptReport(update.message_ref[:200], update.state, update.reason, update.at, within)
    settle_receipt(effect, report)
    return effect


def catch_up(run: EffectRun) -> None:
    """Apply the callbacks that came before the provider's id of the message was stored, and didn't name the effect."""
    effect, ref = run.effect, _ref_of(run.effect)
    if not ref:
        return
    _LOCK_REF(f"receipt {ref}")
    early = Delivery.objects.filter(project_id=effect.project_id, message_ref=ref, conversation=None)
    for delivery in early.order_by("received_at"):
        if STATE in delivery.body:
            state, reason = ReceiptState(delivery.body[STATE]), delivery.body[REASON]
            run.report(ReceiptReport(ref, state, reason, delivery.sent_at))
            link(delivery, effect)
            delivery.save(update_fields=("conversation_id", "message_id", "result"))


def link(delivery: Delivery, effect: Effect) -> None:
    """Note on a callback whose message it is about."""
    receipt = Receipt.objects.filter(effect_id=effect.pk).first()
    delivery.result, delivery.conversation_id = DeliveryResult.RECEIPT, effect.conversation_id
    if receipt is not None:
        delivery.conversation_id, delivery.message_id = receipt.conversation_id, receipt.message_id


def advance(
    receipt: Receipt, state: ReceiptState, *, reason: str = "", ref: str = "", at: datetime | None = None
) -> bool:
    """Move a receipt forward. Returns False if it is further already."""
    changes: dict[str, object] = {"state": state, "reason": reason[:300]}
    if state in TIMES:
        changes[TIMES[state]] = at or Now()
    if ref:
        # A faster callback may have moved the receipt on, and a part may have been sent again.
        Receipt.objects.filter(pk=receipt.pk).exclude(external_id=ref[:200]).update(external_id=ref[:200])
    return Receipt.objects.filter(pk=receipt.pk, state__in=EARLIER[state]).update(**changes) == 1


def _ref_of(effect: Effect) -> str:
    """The provider's id of the effect's message; "" if it isn't known."""
    return effect.receipt_ref or str((effect.result or {}).get("message_ref") or "")[:200]


def _find_effect(project_id: UUID, *, kind: str, account: str, update: ReceiptUpdate) -> Effect | None:
    """The effect that a callback names, or that has the provider's id of the message."""
    effects = Effect.objects.filter(project_id=project_id, erased_at=None)
    named = effects.filter(effect_key=update.key).first() if update.key else None
    known = named or effects.filter(receipt_ref=update.message_ref[:200]).order_by("-created_at").first()
    if known is not None:
        return known
    # A message of a version that kept its id only here.
    receipts = Receipt.objects.filter(
        external_id=update.message_ref, chat__project_id=project_id, chat__kind=kind, chat__account=account
    )
    receipt = receipts.select_related("effect").order_by("-accepted_at").first()
    return receipt.effect if receipt is not None else None
