"""Views for requests for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from console.access import enter, zone_of
from console.conversations.operator import RESOLVED
from console.inbox.tabs import tabs_of
from console.layout import shell_context
from console.search import customer_names
from console.timestamps import Timestamp, format_timestamp
from console.undo import announce_undoable
from conversations.common.channels import traits_of
from conversations.handover import operators
from conversations.models import Conversation
from jobs.errors import WrongState
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from tools.models import Escalation, EscalationState

SHOWN = 100
UNNAMED = "Unnamed customer"
LABELS = {
    EscalationState.WAITING.value: "Waiting",
    EscalationState.CLAIMED.value: "Claimed",
    EscalationState.RESOLVED.value: "Resolved",
}
# Waiting requests are sorted oldest first, the others newest first.
ORDER = {EscalationState.WAITING.value: "requested_at", EscalationState.CLAIMED.value: "-claimed_at"}


@dataclass(frozen=True)
class Row:
    """A request in the list."""

    id: UUID
    conversation_id: UUID
    customer: str
    channel: str
    is_call: bool
    reason: str
    lead: dict[str, str]
    colleague: str
    is_mine: bool
    at: Timestamp


@login_required
@require_safe
def escalations(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Requests in one state."""
    entry = enter(request, project_slug, verb=Scope.READ)
    asked = request.GET.get("state", "")
    state = asked if asked in LABELS else EscalationState.WAITING.value
    with tenant_tx(entry.project.organization.pk):
        own = Escalation.objects.filter(project=entry.project)
        counts = dict(own.order_by().values_list("state").annotate(Count("pk")))
        found = own.filter(state=state).select_related("claimed_by").order_by(ORDER.get(state, "-resolved_at"))
        rows = _rows(entry, list(found[:SHOWN]))
    context = {
        **shell_context(request, entry),
        "state": state,
        "tabs": tabs_of(LABELS, counts, chosen=state),
        "rows": rows,
        "has_any": any(counts.get(value) for value in LABELS),
    }
    return render(request, "desk/escalations.html", context)


@login_required
@require_POST
def escalation(request: HttpRequest, project_slug: str, escalation_id: UUID) -> HttpResponse:
    """Claim or resolve a request. A claim redirects to its conversation."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    with tenant_tx(entry.project.organization.pk):
        found = Escalation.objects.filter(project=entry.project, pk=escalation_id).first()
        if found is None:
            raise Http404
        is_claim = request.POST.get("do") == "claim"
        action = operators.claim_request if is_claim else operators.resolve_request
        try:
            action(found.conversation_id, by=cast(User, request.user))
            if not is_claim:
                announce_undoable(request, entry, RESOLVED, kind="request", escalation=str(found.pk))
        except WrongState as error:
            messages.error(request, error.message)
            is_claim = False
    if is_claim:
        return redirect("conversation", project_slug=project_slug, conversation_id=found.conversation_id)
    return redirect("escalations", project_slug=project_slug)


def _rows(entry: Entry, found: list[Escalation]) -> list[Row]:
    ids = {row.conversation_id for row in found}
    conversations = {row.pk: row for row in Conversation.objects.filter(pk__in=ids)}
    names = customer_names([row.persona_id for row in conversations.values()])
    rows = []
    for escalation in found:
        conversation = conversations[escalation.conversation_id]
        at = escalation.resolved_at or escalation.claimed_at or escalation.requested_at or escalation.created_at
        rows.append(
            Row(
                id=escalation.pk,
                conversation_id=conversation.pk,
                customer=escalation.lead.get("name") or names.get(conversation.persona_id, UNNAMED),
                channel=conversation.get_channel_display(),
                is_call=traits_of(conversation.channel).is_voice,
                reason=escalation.reason,
                lead=escalation.lead,
                colleague=escalation.claimed_by.name if escalation.claimed_by else "",
                is_mine=escalation.claimed_by_id == entry.member.user_id,
                at=format_timestamp(at, zone=zone_of(entry)),
            )
        )
    return rows
