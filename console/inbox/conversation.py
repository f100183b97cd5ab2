"""The opened conversation: its head, the operator bar, and the person."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count, Min
from django.utils import timezone
from django.utils.translation import gettext

from console.access import zone_of
from console.inbox.activity import activity_of
from console.inbox.facts import consents_of, facts_of
from console.inbox.operator import operator_context
from console.inbox.rows import UNNAMED, initials
from console.inbox.ticket_form import related_tickets
from console.promises.rows import promises_to
from console.timestamps import format_timestamp, short_weekday
from console.todos.related import related_todos
from conversations.common.customer_names import conversation_names
from conversations.common.field_labels import field_label
from conversations.common.presenters import directives_payload
from conversations.inbox.closing import LONGEST_SNOOZE
from conversations.inbox.notes import unread_mentions
from conversations.inbox.tags import tags_of
from conversations.models import Conversation, ConversationStatus, Directives
from conversations.turns.flags import flag_reasons
from projects.common.stored_sentences import translated
from projects.models import User
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedValues
from tools.engine.tool_words import with_titles

MORNING = 9
MINUTE = timedelta(minutes=1)
NUMBER = re.compile(r"^[\d.]+, ")


def conversation_context(entry: Entry, row: Conversation) -> dict[str, Any]:
    """Context of a conversation's pane and of the person's. Call inside the tenant's transaction."""
    zone = zone_of(entry)
    return {
        "conversation": _head(row, zone=zone),
        "inbox": _inbox_state(row, zone=zone),
        "flag_reasons": [translated(reason) for reason in flag_reasons(row)],
        "activity": activity_of(row, zone=zone),
        "mentioned_by": _mentioned_by(entry, row),
        **_person(entry, row, zone=zone),
        **operator_context(entry, row),
    }


def snooze_choices(now: datetime, *, zone: str) -> list[dict[str, Any]]:
    """Times to snooze until: in a few hours, and mornings of the business."""
    local = now.astimezone(ZoneInfo(zone))
    tomorrow = (local + timedelta(days=1)).replace(hour=MORNING, minute=0, second=0, microsecond=0)
    monday = tomorrow + timedelta(days=(7 - tomorrow.weekday()) % 7)
    later = (now + timedelta(hours=3)).replace(second=0, microsecond=0)
    named = (
        (gettext("In 3 hours"), later),
        (gettext("Tomorrow"), tomorrow),
        (gettext("Monday"), monday),
        (gettext("In a week"), tomorrow + timedelta(6)),
    )
    # On Sundays, Monday is tomorrow; on Mondays, the next is in a week.
    first = {at: words for words, at in reversed(named)}
    return [
        {"words": words, "iso": at.isoformat(), "at": _short(at.astimezone(ZoneInfo(zone)))}
        for words, at in named
        if first[at] == words
    ]


def snooze_range(now: datetime, *, zone: str) -> tuple[str, str]:
    """The first and the last minute to snooze until, as a field of day and time in the business's zone has them."""
    local = (now + MINUTE).astimezone(ZoneInfo(zone)), (now + LONGEST_SNOOZE).astimezone(ZoneInfo(zone))
    return f"{local[0]:%Y-%m-%dT%H:%M}", f"{local[1]:%Y-%m-%dT%H:%M}"


def _head(row: Conversation, *, zone: str) -> dict[str, Any]:
    name = conversation_names([row]).get(row.pk, UNNAMED)
    return {
        "id": str(row.pk),
        "name": name,
        "initials": initials(name),
        "persona_id": row.persona_id,
        "external_id": row.persona.external_id,
        "channel": row.get_channel_display(),
        "is_ended": row.status == ConversationStatus.ENDED,
        "is_test": row.is_test,
        "flag": translated(row.flag),
        "caller_flag": (row.persona.flag_reason or gettext("No reason given.")) if row.persona.flagged else "",
        "last_event": row.last_event,
        "last_message": row.last_message,
        "started": format_timestamp(row.created_at, zone=zone),
    }


def _inbox_state(row: Conversation, *, zone: str) -> dict[str, Any]:
    until = row.snoozed_until if row.snoozed_until and row.snoozed_until > timezone.now() else None
    return {
        "assignee": row.assignee,
        "tags": tags_of([row.pk]).get(row.pk, []),
        "snoozed": format_timestamp(until, zone=zone) if until else None,
        "closed": format_timestamp(row.closed_at, zone=zone) if row.closed_at else None,
        "rating": row.rating,
        "rating_comment": row.rating_comment,
    }


def _mentioned_by(entry: Entry, row: Conversation) -> list[str]:
    """The authors of the unread notes that mention the member, oldest first."""
    return list(dict.fromkeys(name for (name,) in _MENTIONS(entry.member.user.pk, row.pk)))


_MENTIONS = PreparedValues(
    lambda user, row: (
        unread_mentions(User(pk=user)).filter(conversation_id=row).order_by("id").values_list("note__author_name")
    ),
    kinds=(int, UUID),
)


def _person(entry: Entry, row: Conversation, *, zone: str) -> dict[str, Any]:
    directives = row.directives
    [(count, first)] = _CONVERSATIONS(row.persona_id)
    return {
        "person": {"count": count, "first": format_timestamp(first, zone=zone)},
        "facts": facts_of(row),
        "consents": consents_of(row.persona_id, zone=zone),
        "promised": promises_to(row.persona_id, zone=zone, now=timezone.now()),
        "todos": related_todos(entry.project, row.pk, zone=zone),
        "tickets": related_tickets(row.pk),
        "directives": _next_steps(directives) if directives else None,
    }


# The number of a customer's conversations, and the time of the first.
_CONVERSATIONS = PreparedValues(
    lambda persona: (
        Conversation.objects.filter(persona_id=persona)
        .order_by()
        .values("persona_id")
        .annotate(count=Count("pk"), first=Min("created_at"))
        .values_list("count", "first")
    ),
    kinds=(UUID,),
)


def _next_steps(directives: Directives) -> dict[str, Any]:
    payload = directives_payload(directives)
    wanted = [field_label(key) for key in payload["to_collect"]]
    return {
        **payload,
        "scenario": _without_number(payload["scenario"]),
        "step": _without_number(payload["step"]),
        "to_collect": wanted,
        "instructions": [with_titles(line) for line in payload["instructions"]],
        "seq": directives.turn.seq,
    }


def _without_number(text: str) -> str:
    """A scenario or step without its number, which only the agent's settings explain."""
    return NUMBER.sub("", text)


def _short(local: datetime) -> str:
    """Fri 09:00"""
    return f"{short_weekday(local)} {local:%H:%M}"
