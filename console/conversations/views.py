"""Views for the list of conversations and for one live conversation."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.conversations.attention_reasons import MOST, Reason, find_waiting, reasons_of
from console.conversations.customer import facts_of
from console.conversations.operator import act, operator_context
from console.conversations.snippets import excerpt
from console.inbox.opening import tickets_beside
from console.layout import shell_context
from console.search import (
    PAGE,
    Cursor,
    Filters,
    MessageMatches,
    customer_names,
    find_by_customer,
    find_by_words,
    last_messages,
    list_conversations,
)
from console.timestamps import Moment, moment_of
from console.todos.related import todos_beside
from conversations.common.presenters import directives_payload
from conversations.models import Channel, Conversation, ConversationStatus, Message, MessageRole
from conversations.turns.flags import clear_flag, flag_reasons
from jobs.errors import WrongState
from projects.knowledge.passages import Piece
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx

LONGEST_SEARCH = 200
VIEWS = ("waiting", "mine")
UNNAMED = "Unnamed customer"


@dataclass(frozen=True)
class Row:
    """A conversation in the list. `pieces` is its last message or the search match."""

    id: UUID
    name: str
    initials: str
    channel: str
    is_ended: bool
    is_test: bool
    flag: str
    operator: str
    reasons: Sequence[Reason]
    speaker: str
    pieces: list[Piece]
    at: Moment


@dataclass(frozen=True)
class Around:
    """Data shared by all rows, loaded in bulk."""

    names: Mapping[UUID, str]
    reasons: Mapping[UUID, Sequence[Reason]]
    zone: str


@dataclass(frozen=True)
class ListQuery:
    """Search and filters from the query string.

    `view` is `waiting` for conversations that need a person and `mine` for those the member has taken over.
    """

    text: str
    view: str
    filters: Filters
    after: Cursor | None
    before: UUID | None

    def address(self, **changes: str) -> str:
        """Query string with changes applied; empty values are left out."""
        known = {
            "q": self.text,
            "view": self.view,
            "channel": self.filters.channel,
            "status": self.filters.status,
            "flagged": "1" if self.filters.flagged else "",
        }
        return "?" + urlencode({name: value for name, value in (known | changes).items() if value})


@login_required
@require_safe
def conversations(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The list or the search results."""
    entry = enter(request, project_slug, verb=Scope.READ)
    asked = _asked(request.GET)
    with tenant_tx(entry.project.organization.pk):
        chosen = {"waiting": find_waiting(entry.project), "mine": _mine(entry)}
        found = _found(entry, asked, chosen)
    context = {
        **shell_context(request, entry),
        **found,
        "asked": asked,
        "numbers": {view: len(ids) for view, ids in chosen.items()},
        "channels": Channel.choices,
        "statuses": ConversationStatus.choices,
        "page_length": PAGE,
        "is_narrowed": asked.filters != Filters(),
        "is_first": asked.after is None and asked.before is None,
        "first": asked.address() if asked.text or asked.filters != Filters() else "?",
    }
    return render(request, "conversations/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def conversation(request: HttpRequest, project_slug: str, conversation_id: UUID) -> HttpResponse:
    """One conversation, live. POST clears its flag or performs an operator action."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        row = _find(entry, conversation_id)
        if is_post and "do" in request.POST:
            act(request, entry, row)
        elif is_post:
            _take_down(request, row)
        else:
            shown = {**_shown(row, entry, zone=zone_of(entry)), **operator_context(entry, row)}
    if is_post:
        return redirect("conversation", project_slug=project_slug, conversation_id=conversation_id)
    return render(request, "conversations/one.html", {**shell_context(request, entry), **shown})


def _found(entry: Entry, asked: ListQuery, chosen: Mapping[str, list[UUID]]) -> dict[str, Any]:
    if asked.view:
        return _chosen(entry, chosen[asked.view])
    return _search(entry, asked) if asked.text else _list(entry, asked)


def _mine(entry: Entry) -> list[UUID]:
    """Conversations that the member has taken over."""
    rows = Conversation.objects.filter(project=entry.project, operator_id=entry.member.user_id).order_by("-updated_at")
    return list(rows.values_list("pk", flat=True)[:MOST])


def _chosen(entry: Entry, ids: list[UUID]) -> dict[str, Any]:
    """Context for these conversations, in the given order."""
    rows = Conversation.objects.filter(pk__in=ids).select_related("persona", "operator")
    found = {row.pk: row for row in rows}
    return {"rows": _with_last_words(entry, [found[id] for id in ids if id in found]), "next": ""}


def _take_down(request: HttpRequest, row: Conversation) -> None:
    try:
        clear_flag(row.pk, by=cast(User, request.user))
    except WrongState as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, "The flag is down. The log keeps who took it down, and why it was up.")


def _find(entry: Entry, conversation_id: UUID) -> Conversation:
    rows = Conversation.objects.filter(project=entry.project, pk=conversation_id)
    found = rows.select_related("persona", "directives__turn", "operator").first()
    if found is None:
        raise Http404
    return found


def _shown(row: Conversation, entry: Entry, *, zone: str) -> dict[str, Any]:
    directives = row.directives
    name = customer_names([row.persona_id]).get(row.persona_id, UNNAMED)
    return {
        "conversation": {
            "id": str(row.pk),
            "name": name,
            "initials": _initials(name),
            "external_id": row.persona.external_id,
            "channel": row.get_channel_display(),
            "is_ended": row.status == ConversationStatus.ENDED,
            "is_test": row.is_test,
            "flag": row.flag,
            "caller_flag": (row.persona.flag_reason or "No reason was given.") if row.persona.flagged else "",
            "last_event": row.last_event,
            "started": moment_of(row.created_at, zone=zone),
            "others": Conversation.objects.filter(persona_id=row.persona_id).exclude(pk=row.pk).count(),
        },
        "flag_reasons": flag_reasons(row),
        "facts": facts_of(row),
        "todos": todos_beside(entry.project, row.pk, zone=zone),
        "tickets": tickets_beside(row.pk),
        "directives": {**directives_payload(directives), "seq": directives.turn.seq} if directives else None,
    }


def _asked(query: QueryDict) -> ListQuery:
    channel, status = query.get("channel", ""), query.get("status", "")
    filters = Filters(
        channel=channel if channel in Channel else "",
        status=status if status in ConversationStatus else "",
        flagged=query.get("flagged") == "1",
    )
    text = query.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    return ListQuery(
        text=text,
        view=query.get("view", "") if query.get("view") in VIEWS and not text else "",
        filters=filters,
        after=_place(query.get("after", "")),
        before=_uuid(query.get("before", "")),
    )


def _list(entry: Entry, asked: ListQuery) -> dict[str, Any]:
    page = list_conversations(entry.project, asked.filters, after=asked.after)
    return {
        "rows": _with_last_words(entry, page.conversations),
        "next": asked.address(after=_cursor(page.next)) if page.next else "",
    }


def _search(entry: Entry, asked: ListQuery) -> dict[str, Any]:
    """Matching customers on the first page, and matching messages on every page."""
    zone = zone_of(entry)
    people = [] if asked.before else find_by_customer(entry.project, asked.text, asked.filters)
    said = find_by_words(entry.project, asked.text, asked.filters, before=asked.before)
    return {
        "people": _with_last_words(entry, people),
        "rows": _hits(entry, said, words=asked.text.split()),
        "back_to": moment_of(said.back_to, zone=zone) if said.back_to else None,
        "next": asked.address(before=str(said.next)) if said.next else "",
    }


def _with_last_words(entry: Entry, found: list[Conversation]) -> list[Row]:
    last, around = last_messages(found), _around(entry, found)
    return [_row(row, around, message=last.get(row.pk), at=row.updated_at, words=()) for row in found]


def _hits(entry: Entry, said: MessageMatches, *, words: list[str]) -> list[Row]:
    around = _around(entry, [message.conversation for message in said.messages])
    return [
        _row(message.conversation, around, message=message, at=message.created_at, words=words)
        for message in said.messages
    ]


def _around(entry: Entry, found: list[Conversation]) -> Around:
    return Around(
        names=customer_names([row.persona_id for row in found]),
        reasons=reasons_of(entry.project, [row.pk for row in found]),
        zone=zone_of(entry),
    )


def _row(row: Conversation, around: Around, *, message: Message | None, at: datetime, words: Iterable[str]) -> Row:
    name = around.names.get(row.persona_id, UNNAMED)
    return Row(
        id=row.pk,
        name=name,
        initials=_initials(name),
        channel=row.get_channel_display(),
        is_ended=row.status == ConversationStatus.ENDED,
        is_test=row.is_test,
        flag=row.flag,
        operator=row.operator.name if row.operator else "",
        reasons=around.reasons.get(row.pk, ()),
        speaker=MessageRole(message.role).label if message and message.role != MessageRole.USER else "",
        pieces=excerpt(message.content, words) if message else [],
        at=moment_of(at, zone=around.zone),
    )


def _initials(name: str) -> str:
    parts = [part[0] for part in name.split() if part[0].isalpha()] if name != UNNAMED else []
    return "".join((parts[0], parts[-1]) if len(parts) > 1 else parts).upper()


def _cursor(place: Cursor) -> str:
    return urlsafe_b64encode(f"{place.id} {place.updated_at.isoformat()}".encode()).decode()


def _place(text: str) -> Cursor | None:
    """The decoded cursor, or None if it is invalid, which starts the list from the top."""
    try:
        id, _, updated_at = urlsafe_b64decode(text).decode().partition(" ")
        place = Cursor(updated_at=datetime.fromisoformat(updated_at), id=UUID(id))
    except ValueError:
        return None
    return place if place.updated_at.tzinfo else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
