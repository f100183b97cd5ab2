"""The view of one ticket, beside the list of tickets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.effects.labels import StateLabel, state_label
from console.inbox.query import TICKETS
from console.inbox.ticket_list import LABELS, TONES, UNNAMED
from console.inbox.views import inbox_context, is_part, render_inbox
from console.parameters import parse_uuid
from console.timestamps import Timestamp, format_timestamp
from console.undo import announce_undoable, ticket_fields
from conversations.common.customer_names import customer_names
from conversations.handover.assignment import possible_assignees
from conversations.handover.ticket_answers import answer_ticket, ways_to_answer
from projects.common.api_error import ApiError
from projects.common.differences import Change as FieldChange
from projects.common.translation import lazy
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tools.models import (
    Effect,
    EffectState,
    Ticket,
    TicketAnswer,
    TicketChange,
    TicketChannel,
    TicketPriority,
    TicketState,
)
from tools.services.support.tickets import LONGEST_BODY, change_ticket, find_assignee

PENDING = frozenset({EffectState.PLANNED, EffectState.SENDING})
PRIORITIES = dict(TicketPriority.choices)
# Fields whose change fits one line of the history, and fields shown as a diff.
WORDS, TEXTS = ("state", "priority", "assignee"), ("subject", "body")
FIELDS = {
    "state": lazy("Status"),
    "priority": lazy("Priority"),
    "assignee": lazy("Assignee"),
    "subject": lazy("Subject"),
    "body": lazy("Description"),
}


@dataclass(frozen=True)
class Change:
    """A history entry. `words` describes changed fields; `texts` holds diffs of longer ones."""

    actor: str
    words: Sequence[str]
    texts: Sequence[FieldChange]
    at: Timestamp


@dataclass(frozen=True)
class Answer:
    """An answer to the customer; `state` is that of its e-mail, which is pending until it has gone out or failed."""

    actor: str
    content: str
    channel: str
    state: StateLabel | None
    effect_id: UUID | None
    is_pending: bool
    at: Timestamp


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def ticket(request: HttpRequest, project_slug: str, ticket_id: UUID) -> HttpResponse:
    """One ticket with its history. POST answers it, or changes its state, priority or assignee. A refused answer stays in its field."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        found = Ticket.objects.filter(project=entry.project, pk=ticket_id).select_related("assignee").first()
        if found is None:
            raise Http404
        refused = _post(request, entry, found) if is_post else ""
        if not is_post or refused:
            context = inbox_context(request, entry, opened=found.pk, view=TICKETS, ticket_state=found.state)
            if not is_part(request):
                context |= _shown(entry, found, written=refused, channel=request.POST.get("channel", ""))
    if is_post and not refused:
        return redirect("ticket", project_slug=project_slug, ticket_id=ticket_id)
    response = render_inbox(request, entry, context, template="inbox/ticket.html")
    response.status_code = 422 if refused else 200
    return response


def _post(request: HttpRequest, entry: Entry, found: Ticket) -> str:
    """The words of an answer that was refused; otherwise empty."""
    is_answer = request.POST.get("do") == "answer"
    try:
        _answer(request, found) if is_answer else _change(request, entry, found)
    except ApiError as error:
        messages.error(request, error.message)
        return request.POST.get("content", "") if is_answer else ""
    return ""


def _answer(request: HttpRequest, found: Ticket) -> None:
    """Send the answer. The form carries its key, so that sending it twice is one answer."""
    content = request.POST.get("content", "").replace("\x00", "").replace("\r\n", "\n").strip()[:LONGEST_BODY]
    key, channel = parse_uuid(request.POST.get("key", "")), request.POST.get("channel", "")
    if not content or key is None or channel not in TicketChannel.values:
        raise ApiError("empty", gettext("Write a reply first."))
    answer_ticket(found.pk, content, channel=channel, by=cast(User, request.user), key=key)
    messages.success(
        request, gettext("Reply sent.") if channel == TicketChannel.CONVERSATION else gettext("E-mail queued.")
    )


def _change(request: HttpRequest, entry: Entry, found: Ticket) -> None:
    """Change the fields whose values differ from those that the page showed. Raises ApiError if a colleague has changed one
    of them meanwhile.
    """
    user, changes = cast(User, request.user), _changes(request)
    # Locked after the assignee's membership, as everywhere.
    before = ticket_fields(Ticket.objects.select_for_update(no_key=True).get(pk=found.pk))
    for name in changes:
        if before[name] not in (request.POST[name], request.POST.get(f"shown_{name}", before[name])):
            raise ApiError(
                "changed_meanwhile",
                gettext("Not saved: a colleague has changed this field meanwhile. %(field)s: %(value)s")
                % {"field": FIELDS[name], "value": _word(name, before[name])},
            )
    after = ticket_fields(change_ticket(found.pk, changes, by=user, actor=user.name))
    fields = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    is_closed = after["state"] == TicketState.CLOSED
    words = gettext("Ticket #%(number)s closed.") if is_closed else gettext("Ticket #%(number)s saved.")
    words %= {"number": found.number}
    if fields:
        announce_undoable(request, entry, words, kind="ticket", ticket=str(found.pk), fields=fields)
    else:
        messages.success(request, words)


def _changes(request: HttpRequest) -> dict[str, Any]:
    """The submitted fields that differ from what the page showed. Raises ApiError for an assignee who may not be one."""
    sent = {name: request.POST[name] for name in WORDS if name in request.POST}
    changed = {name: value for name, value in sent.items() if value != request.POST.get(f"shown_{name}")}
    known = {"state": TicketState.values, "priority": TicketPriority.values}
    changes: dict[str, Any] = {name: value for name, value in changed.items() if value in known.get(name, ())}
    if "assignee" in changed:
        changes["assignee"] = find_assignee(changed["assignee"].replace("\x00", ""))
    return changes


def _shown(entry: Entry, found: Ticket, *, written: str, channel: str) -> dict[str, Any]:
    """Context of the page. `written` and `channel` are those of an answer that was refused."""
    zone = zone_of(entry)
    tone, icon = TONES.get(found.priority, ("", ""))
    names = customer_names([found.persona_id] if found.persona_id else [])
    answers = list(found.answers.all())
    ways = ways_to_answer(found)
    used = [one for one in (*(answer.channel for answer in answers), channel) if one in ways]
    return {
        "ticket": found,
        "state": LABELS[found.state],
        "tone": tone,
        "icon": icon,
        "customer": names.get(found.persona_id, UNNAMED) if found.persona_id else "",
        "opened_at": format_timestamp(found.created_at, zone=zone),
        "ticket_states": LABELS.items(),
        "priorities": TicketPriority.choices,
        "assignees": _assignees(found),
        "answers": _answers(answers, zone=zone),
        "ways": [(way.value, way.label) for way in ways],
        "way": [*ways[:1], *used][-1] if ways else "",
        "answer_key": uuid4(),
        "written": written,
        "history": [_history_entry(change, zone=zone) for change in found.changes.order_by("-created_at", "-id")],
    }


def _answers(rows: Sequence[TicketAnswer], *, zone: str) -> list[Answer]:
    effects = {row.pk: row for row in Effect.objects.filter(pk__in=[row.effect_id for row in rows if row.effect_id])}
    return [
        Answer(
            row.actor,
            row.content,
            TicketChannel(row.channel).label,
            state_label(effects[row.effect_id]) if row.effect_id in effects else None,
            row.effect_id,
            row.effect_id in effects and effects[row.effect_id].state in PENDING,
            format_timestamp(row.created_at, zone=zone),
        )
        for row in rows
    ]


def _assignees(found: Ticket) -> list[User]:
    """Members who can be assigned, plus the current assignee."""
    people = possible_assignees()
    gone = [found.assignee] if found.assignee and found.assignee not in people else []
    return [*people, *gone]


def _history_entry(change: TicketChange, *, zone: str) -> Change:
    before, after = change.before, change.after
    words = [
        f"{FIELDS[name]}: {_word(name, before[name])} → {_word(name, after[name])}" for name in WORDS if name in before
    ]
    return Change(
        change.actor,
        words if before else [gettext("Created the ticket")],
        [FieldChange(FIELDS[name], before[name], after[name]) for name in TEXTS if name in before],
        format_timestamp(change.created_at, zone=zone),
    )


def _word(name: str, value: str) -> str:
    return {"state": LABELS, "priority": PRIORITIES}.get(name, {}).get(value, value) or gettext("Unassigned")
