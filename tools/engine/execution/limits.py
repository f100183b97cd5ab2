"""Limits of effects: per conversation, recipient and project a day, and what anonymous visitors may set off at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tools.engine.definition import RetryPolicy
from tools.engine.execution.handler import Contact
from tools.engine.limits.alerts import has_room
from tools.engine.limits.catalogue import amount_of
from tools.engine.limits.usage import VISITORS
from tools.engine.policy import VISITOR_WINDOW, KindPolicy, policy_of
from tools.models import Effect

_COUNTED = """
select count(*) from tools_effect
where organization_id = %s and project_id = %s and kind = %s and id <> %s
  and (delivery = 'once' or repeat_key <> '') and state in ('sending', 'done', 'unknown')
  and started_at > statement_timestamp() - interval '1 day'
"""
_TODAY = Prepared(f"select ({_COUNTED} and conversation_id = %s), ({_COUNTED} and recipient <> '' and recipient = %s)")
_OF_PROJECT = """
select count(*),
  count(*) filter (where visitor <> '' and started_at > statement_timestamp() - %s::interval),
  count(*) filter (where visitor = %s and started_at > statement_timestamp() - %s::interval)
from tools_effect
where organization_id = %s and project_id = %s and kind = '{kind}' and id <> %s
  and state in ('sending', 'done', 'unknown') and started_at > statement_timestamp() - interval '1 day'
"""
TOLD = "It wasn't done: the business's limit for this is reached. A colleague has been told."

# Effects that share a limit are started one after the other, from all conversations; otherwise concurrent ones would all
# take the last place. The locks are held until the end of the transaction that starts the effect.
_LOCK = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")


@dataclass(frozen=True)
class LimitReached:
    """The reason for staff, and the sentence for the agent if it is another."""

    reason: str
    told: str = ""


def recipient_of(kind: str, contact: Contact | None) -> str:
    """The recipient of an effect of this kind: the customer's number in digits, or the e-mail address."""
    by = policy_of(kind).addressed_by
    return contact.address(by) if contact and by else ""


def lock_limits(effects: Iterable[Effect]) -> None:
    """Lock the limits of several effects that one transaction starts, in sorted order to prevent deadlocks."""
    keys = {key for effect in effects for key in _lock_keys(effect)}
    for key in sorted(keys):
        _LOCK(key)


def find_limit(effect: Effect, *, policy: KindPolicy | None = None) -> LimitReached | None:
    """Return the limit that this effect would exceed, or None. Runs in the transaction that starts it."""
    if effect.delivery != RetryPolicy.ONCE and not effect.repeat_key:
        # Lookups are not limited.
        return None
    policy = policy or policy_of(effect.kind)
    # Separate statements, so that the counts see what was committed before the locks were granted.
    lock_limits([effect])
    in_conversation, to_recipient = _counted_today(effect)
    if in_conversation >= policy.max_per_conversation:
        most = policy.max_per_conversation
        return LimitReached(f"This conversation has set off {most} of this kind within a day; that is the limit.")
    if to_recipient >= policy.max_per_recipient:
        most = policy.max_per_recipient
        return LimitReached(f"{most} of this kind went to this recipient within a day; that is the limit.")
    return _find_project_limit(effect, policy)


def _lock_keys(effect: Effect) -> list[str]:
    """The keys of the limits that the effect shares with others, sorted."""
    key = f"caps:{effect.project_id}:{effect.kind}:"
    shared = [key] if policy_of(effect.kind).max_per_project is not None else []
    return [*shared, *([key + effect.recipient] if effect.recipient else [])]


def _find_project_limit(effect: Effect, policy: KindPolicy) -> LimitReached | None:
    """The limit of the whole project that is reached. Staff is warned of one that is half used."""
    if policy.max_per_project is None:
        return None
    sent, by_visitors, by_range = _counted_of_project(effect)
    if not has_room(effect.project_id, effect.kind, used=sent, most=policy.max_per_project):
        return _reached(effect.kind, policy.max_per_project)
    most = policy.max_from_visitors
    # One address range gets half, so that it can't take all from the others.
    used, limit = max(by_visitors, 2 * by_range), f"{effect.kind}_{VISITORS}"
    if effect.visitor and most is not None and not has_room(effect.project_id, limit, used=used, most=most):
        return _reached(limit, most)
    return None


def _reached(limit: str, most: int) -> LimitReached:
    return LimitReached(f"The limit of {amount_of(limit, most)} is reached. Staff can lift it under Limits.", TOLD)


def _counted_today(effect: Effect) -> tuple[int, int]:
    """The number of other effects of its kind within a day: in its conversation, and to its recipient."""
    mine = (current_organization_id(), effect.project_id, effect.kind, effect.pk)
    [(in_conversation, to_recipient)] = _TODAY(*mine, effect.conversation_id, *mine, effect.recipient or None)
    return in_conversation, to_recipient


def _counted_of_project(effect: Effect) -> tuple[int, int, int]:
    """The number of other effects of its kind in the project: within a day, and of late those that visitors set off, all
    and from its address range.
    """
    mine = (current_organization_id(), effect.project_id, effect.pk)
    [(sent, by_visitors, by_range)] = _of_project(effect.kind)(
        VISITOR_WINDOW, effect.visitor or None, VISITOR_WINDOW, *mine
    )
    return sent, by_visitors, by_range


@cache
def _of_project(kind: str) -> Prepared:
    """The statement for one kind, whose name is part of it, so that the index of messages serves it."""
    return Prepared(_OF_PROJECT.format(kind=kind))
