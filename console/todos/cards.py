"""Todo summaries for the board and the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Max
from django.utils.translation import gettext

from console.effects.labels import StateLabel
from console.timestamps import Timestamp, format_timestamp
from console.todos.arguments import recipient_argument
from console.todos.contacts import contacts_of, name_of
from console.todos.invisible_characters import Piece, mark_hidden
from console.todos.labels import (
    AWAITING_SECOND,
    LETTERS,
    SOURCES,
    STATUS_LABELS,
    UNCLAIMED,
    VERSION_LABELS,
    icon_of,
    with_tool_titles,
)
from projects.common.phones import readable_phone
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from todos.approvals.permissions import needs_second
from todos.content.lifecycle import AGENT
from todos.content.plans import names_addressee
from todos.content.snapshot import recipients_of, tools_of
from todos.models import Approval, Todo, TodoEvent, TodoStatus, TodoStep
from todos.models.step import MOST_STEPS
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.handler import Contact
from tools.engine.tool_words import title_of_tool

NOBODY = lazy("No recipient yet")
NO_ADDRESS = {"email": lazy("No e-mail address"), "sms": lazy("No phone number")}
# Statuses whose reason is shown on the card.
REASONED = frozenset({TodoStatus.NEEDS_ATTENTION, TodoStatus.FAILED, TodoStatus.REJECTED, TodoStatus.CANCELLED})


@dataclass(frozen=True)
class Card:
    """Summary of a todo. `remark` adds to the column's status; `reason` explains the status; `due` is when its open promise
    is due.
    """

    id: UUID
    title: str
    pieces: list[Piece]
    to: str
    to_icon: str
    type: str
    customer: str
    state: StateLabel
    remark: StateLabel | None
    reason: str
    source: str
    steps: int
    version: int
    at: Timestamp
    due: Timestamp | None

    @property
    def most_steps(self) -> int:
        return MOST_STEPS


def cards_of(todos: Sequence[Todo], *, tools: Mapping[str, CompiledTool], zone: str) -> list[Card]:
    """A card for each todo, in at most five queries. `type` and `promise` must be prefetched with `select_related`."""
    contacts = contacts_of({todo.persona_id for todo in todos})
    remarks = _remarks(todos)
    steps = _steps(todos)
    return [
        _card(
            todo,
            contacts.get(todo.persona_id) if todo.persona_id else None,
            tools,
            zone,
            remark=remarks.get(todo.pk),
            steps=steps.get(todo.pk, 0),
        )
        for todo in todos
    ]


def due_of(todo: Todo, *, zone: str) -> Timestamp | None:
    """When the todo's promise is due; None without one that is open."""
    return format_timestamp(todo.promise_due_at, zone=zone) if todo.promise_due_at else None


def recipient_of(todo: Todo, contact: Contact | None, tools: Mapping[str, CompiledTool]) -> tuple[str, str]:
    """The recipient and an icon: an address if one is known, otherwise the tool or the customer."""
    names = tools_of(todo)
    if todo.taker or not names:
        return gettext("By hand"), "hand-grab"
    kinds = {tools[name].kind for name in names if name in tools}
    is_named = all(name in tools and names_addressee(tools[name]) for name in names)
    if (address := _named_by(todo, tools)) is not None:
        return address, "mail"
    if recipients := recipients_of(todo):
        more = len(recipients) - 1
        return f"{recipients[0]}{f' and {more} more' if more else ''}", "mail"
    if kinds and kinds <= {*LETTERS} and not (todo.tool and is_named):
        kind = min(kinds)
        known = {"email": contact.email, "sms": readable_phone(contact.phone)} if contact and not is_named else {}
        return known.get(kind) or (NOBODY if is_named else NO_ADDRESS[kind]), icon_of(kind)
    if todo.tool:
        return title_of_tool(todo.tool), icon_of(next(iter(kinds), ""))
    return ", ".join(title_of_tool(name) for name in names[:3]), "tool"


def _named_by(todo: Todo, tools: Mapping[str, CompiledTool]) -> str | None:
    """The recipient among the arguments of a fixed tool call."""
    tool = tools.get(todo.tool)
    address = (todo.arguments or {}).get(recipient_argument(tool)) if tool else None
    return str(address) if address else None


def _card(
    todo: Todo,
    contact: Contact | None,
    tools: Mapping[str, CompiledTool],
    zone: str,
    *,
    remark: StateLabel | None,
    steps: int,
) -> Card:
    to, icon = recipient_of(todo, contact, tools)
    title = with_tool_titles(translated(todo.heading), {*tools, *tools_of(todo)})
    return Card(
        id=todo.pk,
        title=title,
        pieces=mark_hidden(title),
        to=to,
        to_icon=icon,
        type=todo.type.name if todo.type else "",
        customer=name_of(contact),
        state=STATUS_LABELS[todo.status],
        remark=remark,
        reason=with_tool_titles(translated(todo.reason), {*tools, *tools_of(todo)}) if todo.status in REASONED else "",
        source=SOURCES[todo.source],
        steps=steps if todo.status == TodoStatus.IN_PROGRESS else 0,
        version=todo.version,
        at=format_timestamp(todo.status_at, zone=zone),
        due=due_of(todo, zone=zone),
    )


def _remarks(todos: Sequence[Todo]) -> dict[UUID, StateLabel]:
    """Remarks by todo: a pending second approval, an edit, or manual work."""
    half, began = _awaiting_second(todos), _version_labels(todos)
    found: dict[UUID, StateLabel] = {}
    for todo in todos:
        if todo.status == TodoStatus.PENDING_REVIEW and (todo.pk, todo.version) in half:
            found[todo.pk] = AWAITING_SECOND
        elif remark := began.get((todo.pk, todo.version)):
            found[todo.pk] = remark
        elif todo.status == TodoStatus.APPROVED and not tools_of(todo):
            found[todo.pk] = UNCLAIMED
        elif todo.status == TodoStatus.IN_PROGRESS and todo.taker:
            found[todo.pk] = StateLabel("act", "user", gettext("Assigned to %(taker)s") % {"taker": todo.taker})
    return found


def _version_labels(todos: Sequence[Todo]) -> dict[tuple[UUID, int], StateLabel]:
    """The event that created each pending (todo, version) after the first. Edits by the agent itself are ignored: it only
    fills in what it had left open, such as the type.
    """
    pending = [todo.pk for todo in todos if todo.status == TodoStatus.PENDING_REVIEW and todo.version > 1]
    if not pending:
        return {}
    rows = TodoEvent.objects.filter(todo_id__in=pending, what__in=VERSION_LABELS).exclude(
        what="edited", actor=AGENT.name
    )
    return {(row.todo_id, row.version): VERSION_LABELS[row.what] for row in rows.defer("detail")}


def _awaiting_second(todos: Sequence[Todo]) -> set[tuple[UUID, int]]:
    """Each (todo, version) that has a first approval and needs a second under its current type."""
    pending = [todo.pk for todo in todos if todo.status == TodoStatus.PENDING_REVIEW and needs_second(todo)]
    waiting = Approval.objects.filter(
        todo_id__in=pending, needs_second=True, second_by__isnull=True, ended_at__isnull=True
    )
    return set(waiting.values_list("todo_id", "version")) if pending else set()


def _steps(todos: Sequence[Todo]) -> dict[UUID, int]:
    """Steps started by each running todo under its current approval."""
    running = [todo.pk for todo in todos if todo.status == TodoStatus.IN_PROGRESS]
    if not running:
        return {}
    rows = TodoStep.objects.filter(todo_id__in=running, approval__ended_at__isnull=True).order_by()
    return {row["todo_id"]: row["last"] for row in rows.values("todo_id").annotate(last=Max("number"))}
