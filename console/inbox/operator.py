"""The operator bar of a conversation’s page: takeover, handback, requests for a person, and the chats to answer in."""

from __future__ import annotations

from typing import Any

from console.access import zone_of
from console.timestamps import format_timestamp
from conversations.channels.reply_chats import reply_chats, takes_text
from conversations.common.channels import traits_of
from conversations.handover.operators import shown_name
from conversations.models import Conversation, ConversationStatus, Event
from conversations.models.event import URGENT
from projects.common.phones import readable_phone
from projects.models.key import Scope
from projects.models.permissions import Entry
from tools.models import EscalationState
from tools.services.support.escalations import open_request

MOST_RESULTS = 10


def operator_context(entry: Entry, row: Conversation) -> dict[str, Any]:
    """Context for the operator bar."""
    zone, request = zone_of(entry), open_request(row.pk)
    is_asked = request is not None and request.state in (EscalationState.WAITING, EscalationState.CLAIMED)
    return {
        "operator": {
            "name": row.operator.name if row.operator else "",
            "is_me": row.operator_id == entry.member.user_id,
            "since": format_timestamp(row.operator_since, zone=zone) if row.operator_since else None,
            "may_free": entry.may(Scope.CONFIGURE),
            "is_call": traits_of(row.channel).is_voice,
            "is_over": row.status != ConversationStatus.OPEN,
            "my_name": shown_name(entry.member.user),
        },
        "request_for_person": {
            "reason": request.reason,
            "lead": request.lead,
            "lead_phone": readable_phone(request.lead.get("phone", "")),
            "is_waiting": request.state == EscalationState.WAITING,
            "is_mine": request.claimed_by_id == entry.member.user_id,
            "claimed_by": request.claimed_by.name if request.claimed_by else "",
            "at": format_timestamp(request.requested_at, zone=zone) if request.requested_at else None,
        }
        if request is not None and is_asked
        else None,
        "results": _results(row),
        **_ways(entry, row),
    }


def _ways(entry: Entry, row: Conversation) -> dict[str, Any]:
    """The customer's chats, and whether this one takes free text."""
    if not entry.may(Scope.OPERATE) or traits_of(row.channel).is_voice:
        return {"reply_chats": (), "takes_text": True}
    return {"reply_chats": reply_chats(row), "takes_text": takes_text(row)}


def _results(row: Conversation) -> list[str]:
    """Tool results that arrived since the takeover, which the agent would have passed on."""
    if row.operator_since is None:
        return []
    events = Event.objects.filter(conversation=row, idn=URGENT, created_at__gte=row.operator_since)
    return [str(event.payload.get("text", "")) for event in events.order_by("-seq")[:MOST_RESULTS]][::-1]
