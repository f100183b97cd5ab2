"""The conversations of a project: found, filtered, paged, and one of them as it goes on."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
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

from conversations.finding import (
    PAGE,
    Filters,
    Place,
    Said,
    customer_names,
    find_by_customer,
    find_by_words,
    last_messages,
    list_conversations,
)
from conversations.flags import clear_flag
from conversations.models import Channel, Conversation, ConversationStatus, Message, MessageRole
from conversations.pages.customers import facts_of
from conversations.pages.entrance import enter, zone_of
from conversations.pages.excerpts import Piece, excerpt
from conversations.pages.moments import Moment, moment_of
from conversations.presenters import directives_payload
from jobs.errors import WrongState
from projects.models import User
from projects.models.key import Scope
from projects.pages.shell import shell_context
from projects.permissions import Entry
from projects.tenancy import tenant_tx

LONGEST_SEARCH = 200
UNNAMED = "Unnamed customer"


@dataclass(frozen=True)
class Row:
    """A conversation as the list shows it. `pieces` are its last words, or those that were looked for."""

    id: UUID
    name: str
    initials: str
    channel: str
    is_ended: bool
    is_test: bool
    flag: str
    speaker: str
    pieces: list[Piece]
    at: Moment


@dataclass(frozen=True)
class Asked:
    """What the address asks for."""

    text: str
    filters: Filters
    after: Place | None
    before: UUID | None

    def address(self, **changes: str) -> str:
        """The query of this list with changes; an empty value leaves a parameter out."""
        known = {
            "q": self.text,
            "channel": self.filters.channel,
            "status": self.filters.status,
            "flagged": "1" if self.filters.flagged else "",
        }
        return "?" + urlencode({name: value for name, value in (known | changes).items() if value})


@login_required
@require_safe
def conversations(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The list, or what a search finds."""
    entry = enter(request, project_slug, verb=Scope.READ)
    asked = _asked(request.GET)
    with tenant_tx(entry.project.organization.pk):
        found = _search(entry, asked) if asked.text else _list(entry, asked)
    context = {
        **shell_context(request, entry),
        **found,
        "asked": asked,
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
    """One conversation, live; POST takes its flag down."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        row = _find(entry, conversation_id)
        if is_post:
            _take_down(request, row)
        else:
            shown = _shown(row, zone=zone_of(entry))
    if is_post:
        return redirect("conversation", project_slug=project_slug, conversation_id=conversation_id)
    return render(request, "conversations/one.html", {**shell_context(request, entry), **shown})


def _take_down(request: HttpRequest, row: Conversation) -> None:
    try:
        clear_flag(row.pk, by=cast(User, request.user))
    except WrongState as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, "The flag is down. The log keeps who took it down, and why it was up.")


def _find(entry: Entry, conversation_id: UUID) -> Conversation:
    rows = Conversation.objects.filter(project=entry.project, pk=conversation_id)
    found = rows.select_related("persona", "directives__turn").first()
    if found is None:
        raise Http404
    return found


def _shown(row: Conversation, *, zone: str) -> dict[str, Any]:
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
            "is_test": _is_test(row),
            "flag": row.flag,
            "last_event": row.last_event,
            "started": moment_of(row.created_at, zone=zone),
            "others": Conversation.objects.filter(persona_id=row.persona_id).exclude(pk=row.pk).count(),
        },
        "facts": facts_of(row),
        "directives": {**directives_payload(directives), "seq": directives.turn.seq} if directives else None,
    }


def _asked(query: QueryDict) -> Asked:
    channel, status = query.get("channel", ""), query.get("status", "")
    filters = Filters(
        channel=channel if channel in Channel else "",
        status=status if status in ConversationStatus else "",
        flagged=query.get("flagged") == "1",
    )
    text = query.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    return Asked(
        text=text, filters=filters, after=_place(query.get("after", "")), before=_uuid(query.get("before", ""))
    )


def _list(entry: Entry, asked: Asked) -> dict[str, Any]:
    page = list_conversations(entry.project, asked.filters, after=asked.after)
    return {
        "rows": _with_last_words(page.conversations, zone=zone_of(entry)),
        "next": asked.address(after=_cursor(page.next)) if page.next else "",
    }


def _search(entry: Entry, asked: Asked) -> dict[str, Any]:
    """Customers first, on the first page; then messages, page by page."""
    zone = zone_of(entry)
    people = [] if asked.before else find_by_customer(entry.project, asked.text, asked.filters)
    said = find_by_words(entry.project, asked.text, asked.filters, before=asked.before)
    return {
        "people": _with_last_words(people, zone=zone),
        "rows": _hits(said, words=asked.text.split(), zone=zone),
        "back_to": moment_of(said.back_to, zone=zone) if said.back_to else None,
        "next": asked.address(before=str(said.next)) if said.next else "",
    }


def _with_last_words(found: list[Conversation], *, zone: str) -> list[Row]:
    last = last_messages(found)
    names = customer_names([row.persona_id for row in found])
    return [_row(row, names, message=last.get(row.pk), at=row.updated_at, words=(), zone=zone) for row in found]


def _hits(said: Said, *, words: list[str], zone: str) -> list[Row]:
    names = customer_names([message.conversation.persona_id for message in said.messages])
    return [
        _row(message.conversation, names, message=message, at=message.created_at, words=words, zone=zone)
        for message in said.messages
    ]


def _row(
    row: Conversation, names: Any, *, message: Message | None, at: datetime, words: Iterable[str], zone: str
) -> Row:
    name = names.get(row.persona_id, UNNAMED)
    return Row(
        id=row.pk,
        name=name,
        initials=_initials(name),
        channel=row.get_channel_display(),
        is_ended=row.status == ConversationStatus.ENDED,
        is_test=_is_test(row),
        flag=row.flag,
        speaker=MessageRole(message.role).label if message and message.role != MessageRole.USER else "",
        pieces=excerpt(message.content, words) if message else [],
        at=moment_of(at, zone=zone),
    )


def _initials(name: str) -> str:
    parts = [part[0] for part in name.split() if part[0].isalpha()] if name != UNNAMED else []
    return "".join((parts[0], parts[-1]) if len(parts) > 1 else parts).upper()


def _is_test(row: Conversation) -> bool:
    return bool(row.metadata.get("playground"))


def _cursor(place: Place) -> str:
    return urlsafe_b64encode(f"{place.id} {place.updated_at.isoformat()}".encode()).decode()


def _place(text: str) -> Place | None:
    """The place that a cursor means; one that we didn't give begins at the top."""
    try:
        id, _, updated_at = urlsafe_b64decode(text).decode().partition(" ")
        place = Place(updated_at=datetime.fromisoformat(updated_at), id=UUID(id))
    except ValueError:
        return None
    return place if place.updated_at.tzinfo else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
