"""Detail of one effect: trail, request, response and after-actions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, ngettext

from console.durations import span_of
from console.effects.errors import error_for_people
from console.effects.labels import (
    AFTER,
    AFTER_ACTION_TITLES,
    AWAITS_RECEIPT,
    RECEIPTS,
    StateLabel,
    pretty,
    request_lines,
    shortened,
    state_label,
    title_of,
)
from console.timestamps import Timestamp, format_timestamp
from console.todos.contacts import UNNAMED
from conversations.common.customer_names import customer_names
from conversations.models import Conversation, Turn
from conversations.tool_runs.effects.next_attempts import next_attempts_of
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.connections.integrations import find_source
from projects.models import User
from tools.models import AfterAction, AfterActionState, Effect, EffectState, Promise

# Integration types by kind of effect.
CARRIERS = {"sms": "twilio", "email": "smtp"}
DELIVERY = {
    "once": lazy("Never: it’s sent only once"),
    "idempotent": lazy("Safe: the receiver detects repeats by their key"),
}


@dataclass(frozen=True)
class Point:
    """A point of the trail. An empty `fact` means that it hasn't happened yet."""

    name: str
    fact: str
    tone: str


@dataclass(frozen=True)
class ShownReceipt:
    """How far the message came, and when. `due` is when a receipt that hasn't come becomes unknown."""

    label: StateLabel
    reason: str
    at: Timestamp | None
    due: Timestamp | None


@dataclass(frozen=True)
class After:
    """An after-action with its result."""

    title: str
    state: StateLabel
    detail: str
    error: str


def detail_context(effect: Effect, *, zone: str) -> dict[str, Any]:
    """Context for `effects/effect.html`."""
    turn = Turn.objects.filter(pk=effect.turn_id).first() if effect.turn_id else None
    conversation = Conversation.objects.filter(pk=effect.conversation_id).first() if effect.conversation_id else None
    names = customer_names([conversation.persona_id]) if conversation else {}
    due = next_attempts_of([effect]).get(effect.pk)
    return {
        "effect": effect,
        "title": title_of(effect),
        "state": state_label(effect),
        "is_outbox": effect.is_in_outbox,
        "can_send": effect.is_in_outbox and has_carrier(effect),
        "is_held": effect.state == EffectState.HELD,
        "turn": turn,
        "conversation": conversation,
        "customer": names.get(conversation.persona_id, UNNAMED) if conversation else "",
        "trail": _trail(effect, turn, zone=zone),
        "delivery": DELIVERY.get(effect.delivery, effect.delivery),
        "arguments": pretty(effect.arguments),
        "request_text": request_lines(effect.request),
        "excerpt": effect.excerpt,
        "result": pretty(effect.result),
        "definition": pretty(effect.definition),
        "after_actions": [_after(action) for action in AfterAction.objects.filter(effect=effect)],
        "error": error_for_people(effect.error),
        "promises": list(Promise.objects.filter(effect=effect)),
        "resolved": _resolved(effect, zone=zone),
        "acknowledged": format_timestamp(effect.acknowledged_at, zone=zone) if effect.acknowledged_at else None,
        "receipt": _receipt(effect, zone=zone),
        "next_attempt": format_timestamp(due, zone=zone) if due else None,
        "deadline": format_timestamp(effect.deadline_at, zone=zone) if effect.deadline_at else None,
    }


def _receipt(effect: Effect, *, zone: str) -> ShownReceipt | None:
    label = RECEIPTS.get(effect.receipt)
    if label is None:
        return None
    at, due = effect.receipt_at, effect.receipt_due_at if effect.awaits_receipt else None
    return ShownReceipt(
        label=replace(AWAITS_RECEIPT, word=gettext("Sent, waiting for delivery")) if effect.awaits_receipt else label,
        reason=error_for_people(effect.receipt_reason),
        at=format_timestamp(at, zone=zone) if at else None,
        due=format_timestamp(due, zone=zone) if due else None,
    )


def has_carrier(effect: Effect) -> bool:
    """True if a service that carries this kind of message is connected."""
    carrier = CARRIERS.get(effect.kind)
    source = find_source(effect.project_id, carrier) if carrier else None
    return source is not None and not source.needs_reauth


def _trail(effect: Effect, turn: Turn | None, *, zone: str) -> list[Point]:
    """The trail from the agent's words to the result."""
    state = state_label(effect)
    said = turn.replied_at if turn else None
    done = effect.state == EffectState.DONE and not effect.is_in_outbox and not effect.awaits_receipt
    return [
        Point(gettext("Said"), _clock(format_timestamp(said, zone=zone)) if said else gettext("By an event"), "ok"),
        Point(gettext("Understood"), _later(effect.created_at - said) if said else _at(effect, zone), "ok"),
        Point(gettext("Done") if done else state.word, _outcome_context(effect), state.tone),
        Point(gettext("Reported"), gettext("To the agent") if effect.told else "", "ok"),
    ]


def _outcome_context(effect: Effect) -> str:
    if effect.state == EffectState.UNKNOWN:
        return gettext("Needs your confirmation")
    if effect.finished_at is None:
        return ""
    attempts = ngettext("%(count)s attempt", "%(count)s attempts", effect.attempts) % {"count": effect.attempts}
    return f"{_later(effect.finished_at - effect.created_at)}, {attempts}"


def _later(span: timedelta) -> str:
    return gettext("%(time)s later") % {"time": span_of(span)}


def _at(effect: Effect, zone: str) -> str:
    return _clock(format_timestamp(effect.created_at, zone=zone))


def _clock(moment: Timestamp) -> str:
    return moment.date


def _after(action: AfterAction) -> After:
    return After(
        title=AFTER_ACTION_TITLES.get(action.type, action.type),
        state=AFTER[AfterActionState(action.state)],
        detail=shortened(action.value or _target(action.options), longest=400),
        error=translated(action.error),
    )


def _target(options: dict[str, Any]) -> str:
    return str(options.get("attribute") or options.get("section") or options.get("prefix") or "")


@dataclass(frozen=True)
class Resolved:
    """The answer to an unknown outcome: by whom and when."""

    by: str
    at: Timestamp


def _resolved(effect: Effect, *, zone: str) -> Resolved | None:
    if effect.resolved_at is None:
        return None
    return Resolved(by=_name_of(effect.resolved_by), at=format_timestamp(effect.resolved_at, zone=zone))


def _name_of(member_id: UUID | None) -> str:
    user = User.objects.filter(memberships__pk=member_id).first() if member_id else None
    return user.name if user else gettext("An API key")
