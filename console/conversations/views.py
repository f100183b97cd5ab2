"""Views for the list of conversations and for one live conversation."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.conversations.attention_reasons import find_waiting
from console.conversations.customer import consents_of, facts_of
from console.conversations.listing import UNNAMED, initials, list_context, parse_query, taken_over
from console.conversations.operator import act, operator_context
from console.inbox.ticket_form import related_tickets
from console.layout import shell_context
from console.search import (
    PAGE,
    Filters,
    customer_names,
)
from console.timestamps import format_timestamp
from console.todos.related import related_todos
from console.undo import announce_undoable
from conversations.common.presenters import directives_payload
from conversations.models import Channel, Conversation, ConversationStatus
from conversations.turns.flags import clear_flag, flag_reasons
from jobs.errors import WrongState
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx


@login_required
@require_safe
def conversations(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The list or the search results."""
    entry = enter(request, project_slug, verb=Scope.READ)
    query = parse_query(request.GET)
    with tenant_tx(entry.project.organization.pk):
        chosen = {"waiting": find_waiting(entry.project), "mine": taken_over(entry)}
        found = list_context(entry, query, chosen)
    context = {
        **shell_context(request, entry),
        **found,
        "query": query,
        "numbers": {view: len(ids) for view, ids in chosen.items()},
        "channels": Channel.choices,
        "statuses": ConversationStatus.choices,
        "page_length": PAGE,
        "is_narrowed": query.filters != Filters(),
        "is_first": query.after is None and query.before is None,
        "first": query.address() if query.text or query.filters != Filters() else "?",
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
            _clear_flag(request, entry, row)
        else:
            shown = {**_detail_context(row, entry, zone=zone_of(entry)), **operator_context(entry, row)}
    if is_post:
        return redirect("conversation", project_slug=project_slug, conversation_id=conversation_id)
    return render(request, "conversations/one.html", {**shell_context(request, entry), **shown})


def _clear_flag(request: HttpRequest, entry: Entry, row: Conversation) -> None:
    try:
        reason = clear_flag(row.pk, by=cast(User, request.user))
    except WrongState as error:
        messages.error(request, str(error))
    else:
        announce_undoable(request, entry, "Flag cleared.", kind="flag", conversation=str(row.pk), reason=reason)


def _find(entry: Entry, conversation_id: UUID) -> Conversation:
    rows = Conversation.objects.filter(project=entry.project, pk=conversation_id)
    found = rows.select_related("persona", "directives__turn", "operator").first()
    if found is None:
        raise Http404
    return found


def _detail_context(row: Conversation, entry: Entry, *, zone: str) -> dict[str, Any]:
    directives = row.directives
    name = customer_names([row.persona_id]).get(row.persona_id, UNNAMED)
    return {
        "conversation": {
            "id": str(row.pk),
            "name": name,
            "initials": initials(name),
            "external_id": row.persona.external_id,
            "channel": row.get_channel_display(),
            "is_ended": row.status == ConversationStatus.ENDED,
            "is_test": row.is_test,
            "flag": row.flag,
            "caller_flag": (row.persona.flag_reason or "No reason given.") if row.persona.flagged else "",
            "last_event": row.last_event,
            "started": format_timestamp(row.created_at, zone=zone),
            "others": Conversation.objects.filter(persona_id=row.persona_id).exclude(pk=row.pk).count(),
        },
        "flag_reasons": flag_reasons(row),
        "facts": facts_of(row),
        "consents": consents_of(row, zone=zone),
        "todos": related_todos(entry.project, row.pk, zone=zone),
        "tickets": related_tickets(row.pk),
        "directives": {**directives_payload(directives), "seq": directives.turn.seq} if directives else None,
    }
