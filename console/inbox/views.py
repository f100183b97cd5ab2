"""Views of the inbox: the list, and the list with one conversation opened."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.inbox.actions import act
from console.inbox.conversation import conversation_context, snooze_choices, snooze_range
from console.inbox.filters import filter_context
from console.inbox.listing import count_tabs, list_context
from console.inbox.query import ALL, TICKETS, parse_query
from console.inbox.ticket_list import ticket_list_context
from console.inbox.translation import translation_offer
from console.layout import entry_context, shell_context
from console.search import PAGE
from conversations.inbox.waiting import Waiting
from conversations.models import Conversation
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx

# Old addresses of what are tabs and filters now, with the query string that selects them.
OLD_ADDRESSES = {"conversations": {"view": "all"}, "tickets": {"view": "tickets"}}
OLD_VIEWS = {"waiting": "", "mine": "mine"}
OLD_REQUESTS = {"resolved": "resolved"}

_OPENED = PreparedQuery(
    lambda project, conversation: Conversation.objects.filter(project_id=project, pk=conversation).select_related(
        "persona", "directives__turn", "operator", "assignee"
    ),
    kinds=(UUID, UUID),
)


@login_required
@require_safe
def inbox(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The list. With `part=list` only its part of the page, which the page's script replaces."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        context = inbox_context(request, entry)
    return render_inbox(request, entry, context, template="inbox/inbox.html")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def conversation(request: HttpRequest, project_slug: str, conversation_id: UUID) -> HttpResponse:
    """One conversation beside the list. POST performs an action on it."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        row = _find(entry, conversation_id)
        if is_post:
            act(request, entry, row)
        else:
            context = {**inbox_context(request, entry, opened=row.pk), "last_event": row.last_event}
            if not is_part(request):
                context |= conversation_context(entry, row)
                context["translation"] = translation_offer(request, row)
    if is_post:
        return redirect(
            f"{reverse('conversation', args=[project_slug, conversation_id])}{parse_query(request.GET).here}"
        )
    return render_inbox(request, entry, context, template="inbox/conversation.html")


@login_required
@require_safe
def old_list(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Redirect an address of the lists that the inbox replaced, with its query string."""
    name = str(request.resolver_match.url_name if request.resolver_match else "")
    parameters = request.GET.copy()
    view = str(parameters.get("view", ""))
    if name == "conversations" and view in OLD_VIEWS:
        parameters["view"] = OLD_VIEWS[view]
    elif name == "escalations":
        parameters["request"] = OLD_REQUESTS.get(request.GET.get("state", ""), "open")
        parameters.pop("state", None)
    else:
        parameters.update(OLD_ADDRESSES[name])
    query = parameters.urlencode()
    return redirect(reverse("inbox", args=[project_slug]) + (f"?{query}" if query else ""))


@login_required
@require_safe
def old_page(request: HttpRequest, project_slug: str, **ids: UUID) -> HttpResponse:
    """Redirect an old address of one conversation or ticket."""
    name = "conversation" if "conversation_id" in ids else "ticket"
    return redirect(reverse(name, args=[project_slug, *ids.values()]))


def inbox_context(
    request: HttpRequest, entry: Entry, *, opened: UUID | None = None, view: str = "", ticket_state: str = ""
) -> dict[str, Any]:
    """Context of the list, with the row of what is opened. Call inside the tenant's transaction.

    `ticket_state` is that of an opened ticket, whose list is shown unless the address names another.
    """
    query = parse_query(request.GET)
    query = replace(query, view=view) if view else query
    if ticket_state and "state" not in request.GET:
        query = replace(query, ticket_state=ticket_state)
    query = query.in_zone(zone_of(entry))
    waiting = Waiting(entry.project)
    tabs = count_tabs(entry, waiting)
    return {
        **(ticket_list_context(entry, query) if query.view == TICKETS else list_context(entry, query, waiting)),
        **filter_context(entry, query),
        "query": query,
        "opened": opened,
        "tabs": tabs,
        "waiting_count": waiting.count,
        "page_length": PAGE,
        "snoozes": snooze_choices(timezone.now(), zone=zone_of(entry)),
        "snooze_range": snooze_range(timezone.now(), zone=zone_of(entry)),
        "has_any": tabs[ALL] != "0",
    }


def render_inbox(request: HttpRequest, entry: Entry, context: dict[str, Any], *, template: str) -> HttpResponse:
    """The page, or only its list."""
    if is_part(request):
        return render(request, "inbox/_list.html", {**entry_context(entry), **context})
    shell = shell_context(request, entry, waiting=context["waiting_count"])
    return render(request, template, {**shell, **context})


def is_part(request: HttpRequest) -> bool:
    return request.GET.get("part") == "list"


def _find(entry: Entry, conversation_id: UUID) -> Conversation:
    rows = _OPENED(entry.project.pk, conversation_id)
    if not rows:
        raise Http404
    [found] = rows
    found.project = entry.project
    return found
