"""One customer's page: contact, facts, consent, and everything that is theirs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext

from console.access import zone_of
from console.conversation_rows import last_words
from console.customers.listing import tags_by_customer
from console.customers.privacy import erasure_preview
from console.inbox.facts import consents_of, facts_about
from console.inbox.rows import UNNAMED, initials, speaker_of
from console.inbox.snippets import excerpt
from console.inbox.ticket_list import LABELS as TICKET_STATES
from console.promises.rows import promises_to
from console.timestamps import format_timestamp
from console.todos.cards import cards_of
from conversations.common.customer_names import customer_names
from conversations.common.file_lines import without_brackets
from conversations.common.merged import find_persona
from conversations.models import Conversation, ConversationStatus, Message, Persona, PersonaField
from projects.common.phones import readable_phone
from projects.common.stored_sentences import translated
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedNewest, PreparedValues
from todos.content.snapshot import compiled_tools
from todos.models import Todo
from tools.models import Booking, BookingState, Ticket

PAGE = 20
MOST = 10
MOST_PROMISES = 20
FIRST = ("phone", "email", "language")


def get_person(entry: Entry, persona_id: UUID) -> Persona:
    """The customer, or the one they were merged into. Raises Http404."""
    persona = find_persona(entry.project.pk, persona_id)
    if persona is None:
        raise Http404
    return persona


def person_context(entry: Entry, persona: Persona, *, before: UUID | None) -> dict[str, Any]:
    """Context of a customer's page. `before` continues the list of conversations. Call inside the tenant's transaction."""
    zone, now = zone_of(entry), timezone.now()
    return {
        "person": person_head(persona, zone=zone),
        "facts": facts_about(persona.pk),
        "consents": consents_of(persona.pk, zone=zone),
        "tags": tags_by_customer([persona.pk]).get(persona.pk, []),
        "promised": promises_to(persona.pk, zone=zone, now=now, most=MOST_PROMISES),
        "bookings": _bookings(persona, zone=zone),
        "todos": _todos(entry, persona, zone=zone),
        "tickets": _tickets(persona, zone=zone),
        "erasure": erasure_preview(persona) if entry.may(Scope.OPERATE) else None,
        **_conversations(persona, before=before, zone=zone),
    }


def person_head(persona: Persona, *, zone: str) -> dict[str, Any]:
    """A customer's name and contact ways."""
    name = customer_names([persona.pk]).get(persona.pk, UNNAMED)
    contact = dict.fromkeys(FIRST, "") | dict(_CONTACTS(persona.pk))
    return {
        "id": persona.pk,
        "name": name,
        "initials": initials(name),
        "external_id": persona.external_id,
        "also": [external_id for (external_id,) in _ABSORBED(persona.pk)],
        "flag": (persona.flag_reason or gettext("No reason given.")) if persona.flagged else "",
        "since": format_timestamp(persona.created_at, zone=zone),
        **contact,
        "readable_phone": readable_phone(contact["phone"]),
    }


def _conversations(persona: Persona, *, before: UUID | None, zone: str) -> dict[str, Any]:
    """A page of the customer's conversations, newest first."""
    own = Conversation.objects.filter(persona=persona)
    rows = own.filter(pk__lt=before) if before else own
    found = list(rows.select_related("assignee").order_by("-id")[: PAGE + 1])
    shown = found[:PAGE]
    said = last_words(shown)
    return {
        "talks": [_talk(row, said.get(row.pk), zone=zone) for row in shown],
        "talk_count": own.count() if before or len(found) > PAGE else len(found),
        "older": str(shown[-1].pk) if len(found) > PAGE else "",
        "is_continued": before is not None,
    }


def _talk(row: Conversation, said: Message | None, *, zone: str) -> dict[str, Any]:
    state = gettext("Closed") if row.closed_at else row.get_status_display()
    return {
        "id": row.pk,
        "speaker": speaker_of(said),
        "words": "".join(piece.text for piece in excerpt(without_brackets(said.content), ())) if said else "",
        "channel": row.get_channel_display(),
        "state": state,
        "is_open": row.status == ConversationStatus.OPEN and row.closed_at is None,
        "is_test": row.is_test,
        "messages": row.last_message,
        "flag": translated(row.flag),
        "rating": row.rating,
        "assignee": row.assignee.name if row.assignee else "",
        "at": format_timestamp(row.updated_at, zone=zone),
    }


def _bookings(persona: Persona, *, zone: str) -> dict[str, Any]:
    newest = _BOOKINGS.newest(persona.pk)
    return {
        "count": _BOOKINGS.count(persona.pk, newest=newest),
        "rows": [
            {
                "id": row.pk,
                "people": row.party_size,
                "resource": row.resource.name,
                "title": row.title,
                "is_cancelled": row.state == BookingState.CANCELLED,
                "is_over": row.ends_at < timezone.now(),
                "at": format_timestamp(row.starts_at, zone=zone),
            }
            for row in newest
        ],
    }


def _todos(entry: Entry, persona: Persona, *, zone: str) -> dict[str, Any]:
    newest = _TODOS.newest(persona.pk)
    tools = compiled_tools(entry.project) if newest else {}
    return {"cards": cards_of(newest, tools=tools, zone=zone), "count": _TODOS.count(persona.pk, newest=newest)}


def _tickets(persona: Persona, *, zone: str) -> dict[str, Any]:
    newest = _TICKETS.newest(persona.pk)
    return {
        "count": _TICKETS.count(persona.pk, newest=newest),
        "rows": [
            {
                "id": row.pk,
                "number": row.number,
                "subject": row.subject,
                "state": TICKET_STATES[row.state],
                "at": format_timestamp(row.updated_at, zone=zone),
            }
            for row in newest
        ],
    }


_BOOKINGS = PreparedNewest(
    lambda persona: Booking.objects.filter(persona_id=persona).select_related("resource").order_by("-starts_at", "-id"),
    kinds=(UUID,),
    most=MOST,
)
_TODOS = PreparedNewest(
    lambda persona: (
        Todo.objects.filter(persona_id=persona).select_related("type", "promise").order_by("-created_at", "-id")
    ),
    kinds=(UUID,),
    most=MOST,
)
_TICKETS = PreparedNewest(
    lambda persona: Ticket.objects.filter(persona_id=persona).order_by("-number"), kinds=(UUID,), most=MOST
)
_CONTACTS = PreparedValues(
    lambda persona: PersonaField.objects.filter(persona_id=persona, conversation=None, key__in=FIRST).values_list(
        "key", "value"
    ),
    kinds=(UUID,),
)
_ABSORBED = PreparedValues(
    lambda persona: Persona.objects.filter(merged_into_id=persona).values_list("external_id"), kinds=(UUID,)
)
