"""The list of customers: the newest first, or those that a search finds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Max
from django.http import QueryDict

from console.access import zone_of
from console.inbox.rows import UNNAMED, initials
from console.parameters import parse_uuid
from console.timestamps import Timestamp, format_timestamp
from conversations.common.customer_names import customer_names
from conversations.customers.search import find_customers
from conversations.models import Conversation, Persona, PersonaField, Tag
from projects.common.phones import readable_phone
from projects.models import Project
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedValues

PAGE = 30
LONGEST_SEARCH = 200
CONTACTS = ("phone", "email")


@dataclass(frozen=True)
class PersonRow:
    """A customer in the list. `at` is the time of their last conversation, or else of their first sight."""

    id: UUID
    name: str
    initials: str
    phone: str
    email: str
    external_id: str
    is_flagged: bool
    conversations: int
    tags: list[Tag]
    at: Timestamp


@dataclass(frozen=True)
class PeopleQuery:
    """A parsed query string. `before` is the last customer of the page before."""

    text: str = ""
    before: UUID | None = None

    def address(self, **changes: str) -> str:
        chosen = urlencode({name: value for name, value in ({"q": self.text} | changes).items() if value})
        return f"?{chosen}" if chosen else ""


def parse_people_query(parameters: QueryDict) -> PeopleQuery:
    text = parameters.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    return PeopleQuery(text, before=parse_uuid(parameters.get("before", "")))


def people_context(entry: Entry, query: PeopleQuery) -> dict[str, Any]:
    """One page of the list. Call inside the tenant's transaction."""
    found = find_page(entry.project, query)
    shown = found[:PAGE]
    return {
        "rows": person_rows(shown, zone=zone_of(entry)),
        "next": query.address(before=str(shown[-1].pk)) if len(found) > PAGE else "",
        "query": query,
    }


def find_page(project: Project, query: PeopleQuery) -> list[Persona]:
    """The customers of a page, plus one to detect the next page."""
    rows = find_customers(project, query.text)
    if query.before:
        rows = rows.filter(pk__lt=query.before)
    return list(rows.order_by("-id")[: PAGE + 1])


def person_rows(personas: Collection[Persona], *, zone: str) -> list[PersonRow]:
    """Rows of these customers, read in a fixed number of queries."""
    ids = [persona.pk for persona in personas]
    names, contacts, talks, tags = customer_names(ids), _contacts(ids), _talks(ids), tags_by_customer(ids)
    return [
        _row(persona, names, contacts.get(persona.pk, {}), talks.get(persona.pk), tags.get(persona.pk, []), zone=zone)
        for persona in personas
    ]


def tags_by_customer(personas: Collection[UUID]) -> dict[UUID, list[Tag]]:
    """The tags on customers' conversations, each once and by name."""
    found: dict[UUID, list[Tag]] = {}
    uses = _TAGGED(tuple(personas)) if personas else []
    tags = {tag.pk: tag for tag in Tag.objects.filter(pk__in={tag for _, tag in uses})} if uses else {}
    for persona, tag in uses:
        found.setdefault(persona, []).append(tags[tag])
    return {persona: sorted(some, key=lambda tag: tag.name.casefold()) for persona, some in found.items()}


_TAGGED = PreparedValues(
    lambda personas: (
        Conversation.objects.filter(persona_id__any=personas, tag_rows__isnull=False)
        .values_list("persona_id", "tag_rows__tag_id")
        .distinct()
    ),
    kinds=(tuple,),
)


def _contacts(personas: Collection[UUID]) -> dict[UUID, dict[str, str]]:
    found: dict[UUID, dict[str, str]] = {}
    for persona, key, value in _KNOWN(tuple(personas)) if personas else ():
        found.setdefault(persona, {})[key] = value
    return found


_KNOWN = PreparedValues(
    lambda personas: PersonaField.objects.filter(
        persona_id__any=personas, conversation=None, key__in=CONTACTS
    ).values_list("persona_id", "key", "value"),
    kinds=(tuple,),
)


def _talks(personas: Collection[UUID]) -> dict[UUID, tuple[int, datetime]]:
    """The number of each customer's conversations, and the latest activity in one."""
    counted = _COUNTED(tuple(personas)) if personas else ()
    return {persona: (count, last) for persona, count, last in counted}


_COUNTED = PreparedValues(
    lambda personas: (
        Conversation.objects.filter(persona_id__any=personas)
        .order_by()
        .values_list("persona_id")
        .annotate(count=Count("pk"), last=Max("updated_at"))
    ),
    kinds=(tuple,),
)


def _row(
    persona: Persona,
    names: Mapping[UUID, str],
    contact: Mapping[str, str],
    talk: tuple[int, datetime] | None,
    tags: list[Tag],
    *,
    zone: str,
) -> PersonRow:
    name = names.get(persona.pk, UNNAMED)
    return PersonRow(
        id=persona.pk,
        name=name,
        initials=initials(name),
        phone=readable_phone(contact.get("phone", "")),
        email=contact.get("email", ""),
        external_id=persona.external_id,
        is_flagged=persona.flagged,
        conversations=talk[0] if talk else 0,
        tags=tags,
        at=format_timestamp(talk[1] if talk else persona.created_at, zone=zone),
    )
