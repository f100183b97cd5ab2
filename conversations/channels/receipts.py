"""Receipts: how far each part of a message came. A receipt only moves forward."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Now

from conversations.channels.items import ReceiptUpdate
from conversations.models import Delivery, DeliveryResult, Receipt, ReceiptState
from tenancy.postgresql.prepared import Prepared
from tools.models import Effect, EffectState

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
    ReceiptState.UNKNOWN: (A,),
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


def record_effect(effect: Effect) -> None:
    """Move the receipt of an effect to where the effect is, in the transaction that moved the effect."""
    state = OF_EFFECT.get(effect.state)
    if state is None:
        return
    ref = str((effect.result or {}).get("message_ref") or "")
    if ref:
        _LOCK_REF(f"receipt {ref}")
    receipt = Receipt.objects.select_related("chat").filter(effect_id=effect.pk).first()
    advance(receipt, state, reason=effect.error, ref=ref)
    if receipt is not None and ref:
        _catch_up(receipt, ref)


def _catch_up(receipt: Receipt, ref: str) -> None:
    """Apply the callbacks that came before the provider's id of the message was stored."""
    chat = receipt.chat
    early = Delivery.objects.filter(
        project_id=chat.project_id, kind=chat.kind, account=chat.account, message_ref=ref, conversation=None
    )
    for delivery in early.order_by("received_at"):
        if STATE in delivery.body:
            advance(receipt, ReceiptState(delivery.body[STATE]), reason=delivery.body[REASON], at=delivery.sent_at)
            Delivery.objects.filter(pk=delivery.pk).update(
                conversation_id=receipt.conversation_id, message_id=receipt.message_id, result=DeliveryResult.RECEIPT
            )


def record_update(project_id: UUID, *, kind: str, account: str, update: ReceiptUpdate) -> Receipt | None:
    """Apply a provider's callback. Returns the receipt, or None if no message of ours has this id."""
    rows = Receipt.objects.filter(
        external_id=update.message_ref, chat__project_id=project_id, chat__kind=kind, chat__account=account
    )
    newest = rows.order_by("-accepted_at")
    receipt = newest.first()
    if receipt is None:
        _LOCK_REF(f"receipt {update.message_ref}")
        receipt = newest.first()
    advance(receipt, update.state, reason=update.reason, at=update.at)
    return receipt


def advance(
    receipt: Receipt | None, state: ReceiptState, *, reason: str = "", ref: str = "", at: datetime | None = None
) -> bool:
    """Move a receipt forward. Returns False if there is none, or it is further already."""
    if receipt is None:
        return False
    changes: dict[str, object] = {"state": state, "reason": reason[:300]}
    if state in TIMES:
        changes[TIMES[state]] = at or Now()
    if ref:
        # Also for a receipt that a faster callback has moved on.
        Receipt.objects.filter(pk=receipt.pk, external_id="").update(external_id=ref[:200])
    return Receipt.objects.filter(pk=receipt.pk, state__in=EARLIER[state]).update(**changes) == 1
