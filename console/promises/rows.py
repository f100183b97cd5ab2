"""Rows of the promise list, grouped by day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Case, Q, QuerySet, When
from django.db.models.functions import ExtractHour
from django.utils.text import capfirst
from django.utils.translation import gettext

from console.durations import span_of
from console.promises.figures import in_state, made_in, promises_of
from console.timestamps import Timestamp, format_timestamp, long_day
from conversations.analytics.period import Period
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from conversations.tool_runs.effects.next_attempts import next_attempts_of
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.models import Project
from tenancy.postgresql.planning import planned_for_values
from tenancy.prepared_queries import PreparedQuery, PreparedValues
from todos.models import Todo, TodoStatus
from tools.models import EffectState, Evidence, Promise, PromiseOwner, PromiseState

PAGE = 40
UNNAMED = lazy("Unnamed customer")
SOON = timedelta(hours=24)
STATES: Mapping[str, tuple[str, str, str]] = {
    PromiseState.OPEN: ("act", "circle-dashed", lazy("Open")),
    PromiseState.KEPT: ("ok", "circle-check", lazy("Kept")),
    PromiseState.BROKEN: ("bad", "circle-x", lazy("Broken")),
    PromiseState.WITHDRAWN: ("mute", "circle-minus", lazy("Withdrawn")),
}
UNKNOWN = ("warn", "help-circle", lazy("Unknown"))
AWAITS_RECEIPT = ("act", "clock", lazy("Sent"))
# Open, and only a person can keep it.
STAFFS = ("warn", "hand-grab", lazy("Open"))
UNDER_WAY = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED, TodoStatus.IN_PROGRESS, TodoStatus.NEEDS_ATTENTION)
NOT_SENT = ("warn", "inbox", lazy("Not sent"))
# The words of evidence that no tool can show.
EVIDENCE: Mapping[str, str] = {
    Evidence.PERSON: lazy("confirmed by a person"),
    Evidence.ACKNOWLEDGED: lazy("acknowledged"),
    Evidence.DELIVERED: lazy("delivered"),
    Evidence.SENT: lazy("waiting for delivery"),
}
ON_ITS_WAY = frozenset({EffectState.PLANNED, EffectState.SENDING})


@dataclass(frozen=True)
class Row:
    """A promise. `tone`, `icon` and `word` show its state; `time` summarizes the timing, in `time_tone`.

    `owner` names the person who took it on; `needs_owner` is true if a person has to act and nobody did. `is_in_outbox` is
    true for a message that no connected service could send, which needs a service and no owner. `todo_id` is the todo under
    way that keeps the promise, `next_attempt` when its effect is tried again.
    """

    id: UUID
    quote: str
    tone: str
    icon: str
    word: str
    customer: str
    channel: str
    conversation_id: UUID
    turn_id: UUID
    tool: str
    effect_id: UUID | None
    reason: str
    made: Timestamp
    due: Timestamp
    time: str
    time_tone: str
    owner: str
    needs_owner: bool
    is_in_outbox: bool
    todo_id: UUID | None
    next_attempt: Timestamp | None
    evidence: str
    can_be_kept: bool
    can_be_withdrawn: bool


@dataclass(frozen=True)
class Day:
    """Promises made on one day."""

    name: str
    rows: list[Row]


@dataclass(frozen=True)
class PromisePage:
    """A page of promises, newest first, and the cursor of the next page."""

    days: list[Day]
    next: UUID | None


def list_promises(
    project: Project,
    *,
    period: Period,
    now: datetime,
    state: str,
    tool: str,
    spoken: QuerySet[Conversation] | None,
    hour: str,
    before: UUID | None,
    tests: bool,
) -> PromisePage:
    """Promises made in a period, filtered by the non-empty arguments. `tool="none"` selects promises without a tool,
    `spoken` those of some conversations, and `hour` those made in an hour of the day.

    `tests` selects those of test conversations, which are left out otherwise.
    """
    zone = period.timezone
    own = promises_of(project, tests=tests).select_related("effect")
    rows = find_promises(own, period=period, state=state, tool=tool, spoken=spoken, hour=hour)
    if before:
        rows = rows.filter(pk__lt=before)
    with planned_for_values():
        found = list(rows.order_by("-id")[: PAGE + 1])
    return PromisePage(
        days=_by_day(_rows(found[:PAGE], zone=zone, now=now), found[:PAGE], zone=zone, now=now),
        next=found[PAGE - 1].pk if len(found) > PAGE else None,
    )


def find_promises(
    rows: QuerySet[Promise],
    *,
    period: Period,
    state: str,
    tool: str,
    spoken: QuerySet[Conversation] | None,
    hour: str,
) -> QuerySet[Promise]:
    """The promises, of these, that the filters of `list_promises` select."""
    rows = made_in(rows, period)
    if state:
        rows = in_state(rows, state)
    if tool:
        rows = rows.filter(tool="" if tool == "none" else tool)
    if spoken is not None:
        rows = rows.filter(conversation_id__in=spoken.values("pk"))
    if hour:
        rows = rows.annotate(hour=ExtractHour("created_at", tzinfo=ZoneInfo(period.timezone))).filter(hour=int(hour))
    return rows


# The conversations of a customer whose promises are shown beside them, and the promises.
MOST_TO_ONE = 20


def promises_to(persona_id: UUID, *, zone: str, now: datetime, most: int = 6) -> list[Row]:
    """The newest promises to one customer, open ones first."""
    spoken = tuple(id for (id,) in _LATEST_CONVERSATIONS(persona_id))
    return _rows(_LATEST_PROMISES(spoken)[:most] if spoken else [], zone=zone, now=now)


_LATEST_CONVERSATIONS = PreparedValues(
    lambda persona: (
        Conversation.objects.filter(persona_id=persona).order_by("-updated_at").values_list("pk")[:MOST_TO_ONE]
    ),
    kinds=(UUID,),
)
_LATEST_PROMISES = PreparedQuery(
    lambda conversations: (
        Promise.objects.filter(conversation_id__any=conversations)
        .select_related("effect")
        .order_by(Case(When(state=PromiseState.OPEN, then=0), default=1), "-created_at", "-id")[:MOST_TO_ONE]
    ),
    kinds=(tuple,),
)
_CONVERSATIONS = PreparedQuery(lambda ids: Conversation.objects.filter(pk__any=ids), kinds=(tuple,))


def _by_day(rows: Iterable[Row], promises: list[Promise], *, zone: str, now: datetime) -> list[Day]:
    place = ZoneInfo(zone)
    today = now.astimezone(place).date()
    made = {promise.pk: promise.created_at.astimezone(place).date() for promise in promises}
    return [Day(_day_name(day, today), list(group)) for day, group in groupby(rows, key=lambda row: made[row.id])]


def _day_name(day: date, today: date) -> str:
    if day == today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    return capfirst(long_day(day))


def _rows(promises: list[Promise], *, zone: str, now: datetime) -> list[Row]:
    ids = tuple({promise.conversation_id for promise in promises})
    conversations = {row.pk: row for row in _CONVERSATIONS(ids)} if ids else {}
    names = customer_names({row.persona_id for row in conversations.values()})
    todos = todos_for(promises)
    effects = (promise.effect for promise in promises if promise.effect)
    due = {pk: format_timestamp(at, zone=zone, now=now) for pk, at in next_attempts_of(effects).items()}
    return [
        _row(
            promise,
            conversations.get(promise.conversation_id),
            names,
            todo_of(promise, todos),
            next_attempt=due.get(promise.effect_id) if promise.effect_id else None,
            zone=zone,
            now=now,
        )
        for promise in promises
    ]


def todos_for(promises: Iterable[Promise]) -> Mapping[UUID, Todo]:
    """The todos under way that keep promises of staff, by promise or effect. Of several, the one that somebody took on."""
    staffs = [promise for promise in promises if promise.owner == PromiseOwner.STAFF]
    subjects = Q(promise__in=[one.pk for one in staffs]) | Q(
        effect__in=[one.effect_id for one in staffs if one.effect_id]
    )
    found = Todo.objects.filter(subjects, status__in=UNDER_WAY).order_by("id") if staffs else ()
    todos = sorted(found, key=lambda todo: bool(taker_of(todo)))
    return {subject: todo for todo in todos for subject in (todo.promise_id, todo.effect_id) if subject}


def taker_of(todo: Todo | None) -> str:
    """The name of the person who has taken the todo on, or an empty string."""
    return todo.taker if todo is not None and todo.status == TodoStatus.IN_PROGRESS else ""


def todo_of(promise: Promise, todos: Mapping[UUID, Todo]) -> Todo | None:
    """The promise's todo among those of `todos_for`."""
    return todos.get(promise.pk) or (todos.get(promise.effect_id) if promise.effect_id else None)


def state_of(promise: Promise) -> tuple[str, str, str]:
    """The tone, icon and word of a promise's state. `effect` must be loaded."""
    if promise.evidence == Evidence.OUTBOX:
        return NOT_SENT
    if promise.evidence == Evidence.SENT and promise.state == PromiseState.OPEN:
        return AWAITS_RECEIPT
    if _is_unknown(promise):
        return UNKNOWN
    is_staffs = promise.state == PromiseState.OPEN and promise.owner == PromiseOwner.STAFF
    return STAFFS if is_staffs else STATES[promise.state]


def _is_unknown(promise: Promise) -> bool:
    """True while nobody knows whether the promise's effect happened."""
    effect = promise.effect
    return promise.state == PromiseState.OPEN and effect is not None and effect.state == EffectState.UNKNOWN


def _row(
    promise: Promise,
    conversation: Conversation | None,
    names: Mapping[UUID, str],
    todo: Todo | None,
    *,
    next_attempt: Timestamp | None,
    zone: str,
    now: datetime,
) -> Row:
    effect = promise.effect
    is_open = promise.state == PromiseState.OPEN
    is_unknown = _is_unknown(promise)
    is_in_outbox = promise.evidence == Evidence.OUTBOX
    is_undecided = effect is not None and (is_unknown or effect.state in ON_ITS_WAY)
    tone, icon, word = state_of(promise)
    owner = taker_of(todo)
    time, time_tone = (gettext("needs your confirmation"), "warn") if is_unknown else _time(promise, zone, now)
    return Row(
        id=promise.pk,
        quote=promise.quote.strip(),
        tone=tone,
        icon=icon,
        word=word,
        customer=names.get(conversation.persona_id, UNNAMED) if conversation else UNNAMED,
        channel=conversation.get_channel_display() if conversation else "",
        conversation_id=promise.conversation_id,
        turn_id=promise.turn_id,
        tool=promise.tool,
        effect_id=effect.pk if effect else None,
        reason=translated(promise.reason),
        made=format_timestamp(promise.created_at, zone=zone, now=now),
        due=format_timestamp(promise.due_at, zone=zone, now=now),
        time=time,
        time_tone=time_tone,
        owner=owner,
        needs_owner=is_open and promise.owner == PromiseOwner.STAFF and not owner and not is_in_outbox,
        is_in_outbox=is_in_outbox,
        next_attempt=next_attempt,
        todo_id=todo.pk if todo is not None and is_open else None,
        evidence=EVIDENCE.get(promise.evidence, ""),
        can_be_kept=promise.state in (PromiseState.OPEN, PromiseState.BROKEN) and not is_undecided,
        can_be_withdrawn=is_open and not is_undecided,
    )


def _time(promise: Promise, zone: str, now: datetime) -> tuple[str, str]:
    """A short text on timing and its tone: time left, time taken or delay."""
    left, closed = promise.due_at - now, promise.closed_at
    if promise.state == PromiseState.OPEN:
        return (
            (gettext("due in %(time)s") % {"time": span_of(left)}, "warn" if left < SOON else "")
            if left > timedelta()
            else (gettext("overdue"), "bad")
        )
    if closed is None:
        return "", ""
    if promise.state == PromiseState.KEPT:
        is_late = closed > promise.due_at
        return gettext("in %(time)s") % {"time": span_of(closed - promise.created_at)}, "warn" if is_late else ""
    return format_timestamp(closed, zone=zone, now=now).words, "bad" if promise.state == PromiseState.BROKEN else ""
