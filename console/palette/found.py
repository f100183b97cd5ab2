"""The palette's search on the server: people, and conversations by customer or by words."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext

from console.access import zone_of
from console.customers.listing import PeopleQuery, PersonRow, find_page, person_rows
from console.inbox.rows import UNNAMED
from console.inbox.snippets import excerpt
from console.palette.entries import PaletteEntry
from console.search import Filters, find_by_customer, find_by_words
from console.timestamps import format_timestamp
from conversations.common.customer_names import conversation_names
from conversations.models import Conversation, Message
from projects.models.permissions import Entry

SHORTEST, SHORTEST_WORDS = 2, 3
MOST_PEOPLE, MOST_CONVERSATIONS = 5, 5


def find_entries(entry: Entry, text: str) -> list[PaletteEntry]:
    """People and conversations that match the text, the best first. Call inside the tenant's transaction."""
    if len(text) < SHORTEST:
        return []
    return [*_people(entry, text), *_conversations(entry, text)]


def _people(entry: Entry, text: str) -> Iterator[PaletteEntry]:
    """Names that begin with the text come first, then the newest customers."""
    rows = person_rows(find_page(entry.project, PeopleQuery(text)), zone=zone_of(entry))
    rows.sort(key=lambda row: not row.name.casefold().startswith(text.casefold()))
    for row in rows[:MOST_PEOPLE]:
        url = reverse("person", args=[entry.project.slug, row.id])
        yield PaletteEntry(gettext("People"), row.name, "user", url, hint=_contact(row))


def _contact(row: PersonRow) -> str:
    return row.phone or row.email or row.external_id


def _conversations(entry: Entry, text: str) -> Iterator[PaletteEntry]:
    """Conversations of matching customers, then those that contain the words."""
    own = find_by_customer(entry.project, text, Filters())[:MOST_CONVERSATIONS]
    said: dict[Conversation, Message] = {}
    if len(text) >= SHORTEST_WORDS and len(own) < MOST_CONVERSATIONS:
        for message in find_by_words(entry.project, text, Filters(), before=None).messages:
            said.setdefault(message.conversation, message)
    rows = list(dict.fromkeys([*own, *said]))[:MOST_CONVERSATIONS]
    names, zone = conversation_names(rows), zone_of(entry)
    for row in rows:
        url = reverse("conversation", args=[entry.project.slug, row.pk])
        at = format_timestamp(row.updated_at, zone=zone).words
        words = "".join(piece.text for piece in excerpt(said[row].content, text.split())) if row in said else ""
        hint = words or f"{row.get_channel_display()}, {at}"
        yield PaletteEntry(gettext("Conversations"), names.get(row.pk, UNNAMED), "message-circle", url, hint=hint)
