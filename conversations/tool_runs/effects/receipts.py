"""Receipts of effects in their conversations and todos, and those that never come."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext_noop

from conversations.channels.lane import DeliveryRun
from conversations.channels.outgoing import is_channel_message
from conversations.live.event_log import open_log
from conversations.models import Receipt
from conversations.tool_runs.effects.conversation_run import ConversationRun
from jobs.enqueue import enqueue
from jobs.sweep import sweep_tenants
from todos.executor import resume
from tools.engine import ledger
from tools.engine.receipts import ReceiptReport
from tools.models import AfterActionState, Effect, ReceiptState

NO_RECEIPT = gettext_noop("It was sent, and no receipt says whether it arrived.")
_OVERDUE = """
select organization_id, id from tools_effect
where state = 'done' and receipt = 'sent' and receipt_due_at <= clock_timestamp()
order by receipt_due_at limit 100
"""


def settle(effect: Effect, report: ReceiptReport) -> bool:
    """Move the receipt of an effect's message forward: its promise, its conversation and the agent follow.

    Runs in the tenant's transaction. Return False if nothing changed.
    """
    if effect.erased_at is not None:
        return False
    if is_channel_message(effect):
        with open_log(Receipt.objects.get(effect_id=effect.pk).conversation_id) as log:
            return DeliveryRun(log, Effect.objects.get(pk=effect.pk)).report(report)
    if resume.belongs_to_todo(effect):
        return resume.settle_receipt(effect, report)
    if effect.conversation_id is None:
        return False
    with open_log(effect.conversation_id) as log:
        run = ConversationRun(log, Effect.objects.get(pk=effect.pk))
        is_changed = run.report(report)
        if is_changed and run.effect.after_actions.filter(state=AfterActionState.PLANNED).exists():
            enqueue([ledger.job_for(run.effect, reason="reported")])
    return is_changed


def end_overdue_receipts() -> None:
    """End receipts that never came as unknown, in all tenants; a sweep hook. Staff is asked whether the message arrived."""
    sweep_tenants(_OVERDUE, _end, failed="An overdue receipt was not ended")


def _end(effect_id: UUID) -> None:
    effect = Effect.objects.get(pk=effect_id)
    if not settle(effect, ReceiptReport(effect.receipt_ref, ReceiptState.UNKNOWN, NO_RECEIPT)):
        # Its customer was erased, or its contents were deleted.
        Effect.objects.filter(pk=effect_id).update(receipt_due_at=None)
