"""The list of calls: those that go on, and the newest that are over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from console.access import zone_of
from console.inbox.rows import UNNAMED
from console.timestamps import Timestamp, format_timestamp
from conversations.common.customer_names import customer_names
from conversations.models import OPEN_STATES, Call, CallState, Message, Summary, Turn
from jobs.models import ModelCall
from projects.common.numbers import dollars
from projects.common.stored_sentences import translated
from projects.models.permissions import Entry
from todos.models import Todo

PAGE = 30
# The sign of a state, as elsewhere on pages.
SIGNS = {
    CallState.LIVE: "ok",
    CallState.RINGING: "act",
    CallState.ANSWERING: "act",
    CallState.FAILED: "bad",
    CallState.REJECTED: "warn",
}


@dataclass(frozen=True)
class CallRow:
    """A call. `newest` is the last line of its transcript, `length` its duration as minutes and seconds.

    `summary` is of its conversation so far, `todos` the number of its todos. The tokens are those of the realtime model,
    `voice_cost` is theirs and `cost` that of all other model calls; empty without any, or if a price is unknown.
    """

    id: UUID
    conversation: UUID
    name: str
    caller: str
    state: str
    sign: str
    reason: str
    transferred_to: str
    has_gaps: bool
    newest: str
    length: str
    at: Timestamp
    summary: str
    todos: int
    audio_tokens: str
    text_tokens: str
    voice_cost: str
    cost: str


def calls_context(entry: Entry, *, before: UUID | None) -> dict[str, Any]:
    """The live calls, and one page of those that are over. Call inside the tenant's transaction."""
    every = Call.objects.filter(project_id=entry.project.pk).select_related("conversation")
    every = every.annotate(newest=_newest(), summary=_summary(), todos=_todos())
    over = every.exclude(state__in=OPEN_STATES)
    if before is not None:
        over = over.filter(pk__lt=before)
    found = list(over.order_by("-id")[: PAGE + 1])
    return {
        "live": _rows(list(every.filter(state__in=OPEN_STATES).order_by("-id")), entry),
        "over": _rows(found[:PAGE], entry),
        "next": found[PAGE - 1].pk if len(found) > PAGE else None,
        "before": before,
    }


def _newest() -> Subquery:
    lines: QuerySet[Message, Any] = Message.objects.filter(conversation=OuterRef("conversation")).order_by("-seq")
    return Subquery(lines.values("content")[:1])


def _summary() -> Subquery:
    rows: QuerySet[Summary, Any] = Summary.objects.filter(conversation=OuterRef("conversation")).order_by("-until_seq")
    return Subquery(rows.values("text")[:1])


def _todos() -> Coalesce:
    rows: QuerySet[Todo, Any] = Todo.objects.filter(conversation_id=OuterRef("conversation_id")).order_by()
    return Coalesce(Subquery(rows.values("conversation_id").annotate(count=Count("pk")).values("count")), 0)


def _rows(calls: Collection[Call], entry: Entry) -> list[CallRow]:
    names = customer_names({call.conversation.persona_id for call in calls})
    costs = _costs([call.conversation_id for call in calls])
    return [
        _row(
            call,
            names.get(call.conversation.persona_id, UNNAMED),
            zone=zone_of(entry),
            cost=costs.get(call.conversation_id, ""),
        )
        for call in calls
    ]


def _costs(conversations: Collection[UUID]) -> dict[UUID, str]:
    """The cost of the model calls of each conversation's turns, where each of them has a price."""
    turns = dict(Turn.objects.filter(conversation__in=conversations).values_list("pk", "conversation_id"))
    found: dict[UUID, list[Decimal | None]] = defaultdict(list)
    for call in ModelCall.objects.filter(turn_id__in=turns).only("turn_id", "cost"):
        if call.turn_id is not None:
            found[turns[call.turn_id]].append(call.cost)
    return {conversation: total_cost(costs) for conversation, costs in found.items()}


def total_cost(costs: Collection[Decimal | None]) -> str:
    """The sum in US dollars; empty if it is nothing, or a price is unknown."""
    known = [cost for cost in costs if cost is not None]
    total = sum(known, Decimal(0))
    return dollars(total) if total and len(known) == len(costs) else ""


def _tokens(call: Call, kind: str) -> str:
    count = call.usage.get(f"{kind}_in", 0) + call.usage.get(f"{kind}_out", 0)
    return f"{count:,}" if count else ""


def _row(call: Call, name: str, *, zone: str, cost: str) -> CallRow:
    state = CallState(call.state)
    return CallRow(
        id=call.pk,
        conversation=call.conversation_id,
        name=name,
        caller=call.caller,
        state=str(state.label),
        sign=SIGNS.get(state, "mute"),
        reason=translated(call.reason),
        transferred_to=call.transferred_to,
        has_gaps=call.gaps > 0,
        newest=vars(call)["newest"] or "",
        length=_length(call),
        at=format_timestamp(call.created_at, zone=zone),
        summary=vars(call)["summary"] or "",
        todos=vars(call)["todos"],
        audio_tokens=_tokens(call, "audio"),
        text_tokens=_tokens(call, "text"),
        voice_cost=total_cost([Decimal(str(call.usage.get("cost", 0)))]),
        cost=cost,
    )


def _length(call: Call) -> str:
    if call.answered_at is None:
        return ""
    seconds = max(0, int(((call.ended_at or timezone.now()) - call.answered_at).total_seconds()))
    return f"{seconds // 60}:{seconds % 60:02}"
