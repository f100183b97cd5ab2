"""Daily limits per conversation and per recipient."""

from __future__ import annotations

from collections.abc import Iterable

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tools.engine.definition import RetryPolicy
from tools.engine.execution.handler import Contact
from tools.engine.policy import policy_of
from tools.models import Effect

_COUNTED = """
select count(*) from tools_effect
where organization_id = %s and project_id = %s and kind = %s and id <> %s
  and (delivery = 'once' or repeat_key <> '') and state in ('sending', 'done', 'unknown')
  and started_at > statement_timestamp() - interval '1 day'
"""
_TODAY = Prepared(f"select ({_COUNTED} and conversation_id = %s), ({_COUNTED} and recipient <> '' and recipient = %s)")


# Effects on one recipient are started one after the other, from all conversations; otherwise concurrent ones would all
# take the last place. The lock is held until the end of the transaction that starts the effect.
_LOCK = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


def recipient_of(kind: str, contact: Contact | None) -> str:
    """The recipient of an effect of this kind: the customer's number in digits, or the e-mail address."""
    by = policy_of(kind).addressed_by
    return contact.address(by) if contact and by else ""


def lock_recipients(effects: Iterable[Effect]) -> None:
    """Lock all recipients of several effects that one transaction starts, in sorted order to prevent deadlocks."""
    turns = {_lock_key(effect) for effect in effects if effect.recipient}
    if len(turns) > 1:
        for turn in sorted(turns):
            _LOCK(turn)


def _lock_key(effect: Effect) -> str:
    return f"caps:{effect.project_id}:{effect.kind}:{effect.recipient}"


def why_over_limit(effect: Effect) -> str:
    """Return the reason why this effect exceeds a daily limit, or "". Runs in the transaction that starts it."""
    if effect.delivery != RetryPolicy.ONCE and not effect.repeat_key:
        # Lookups are not limited.
        return ""
    if effect.recipient:
        # A separate statement, so that the count sees what was committed before the lock was granted.
        _LOCK(_lock_key(effect))
    policy = policy_of(effect.kind)
    most = policy.max_per_conversation
    in_conversation, to_recipient = _counted_today(effect)
    if in_conversation >= most:
        return f"This conversation has set off {most} of this kind within a day; that is the limit."
    if to_recipient >= policy.max_per_recipient:
        return f"{policy.max_per_recipient} of this kind went to this recipient within a day; that is the limit."
    return ""


def _counted_today(effect: Effect) -> tuple[int, int]:
    """The number of other effects of its kind within a day: in its conversation, and to its recipient."""
    mine = (current_organization_id(), effect.project_id, effect.kind, effect.pk)
    [(in_conversation, to_recipient)] = _TODAY(*mine, effect.conversation_id, *mine, effect.recipient or None)
    return in_conversation, to_recipient
