"""The page that merges two customers: choose the second, see what moves, merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from console.access import zone_of
from console.customers.listing import PeopleQuery, find_page, person_rows
from console.customers.person import person_head
from conversations.common.field_labels import field_label, field_value
from conversations.customers.merge import read_preview
from conversations.customers.preview import FieldMove, Outcome
from conversations.models import Persona
from projects.models.permissions import Entry

MOST_FOUND = 10


@dataclass(frozen=True)
class FieldLine:
    """A field that differs between the two. `words` says what becomes of the merged customer's value."""

    label: str
    kept: str
    merged: str
    words: str
    tone: str


def choice_context(entry: Entry, persona: Persona, query: PeopleQuery) -> dict[str, Any]:
    """The search for the second customer. Call inside the tenant's transaction."""
    found = [row for row in find_page(entry.project, query) if row.pk != persona.pk] if query.text else []
    return {
        "person": person_head(persona, zone=zone_of(entry)),
        "query": query,
        "rows": person_rows(found[:MOST_FOUND], zone=zone_of(entry)),
        "is_cut": len(found) > MOST_FOUND,
    }


def preview_context(entry: Entry, persona: Persona, other: UUID) -> dict[str, Any]:
    """Preview the merge of the other customer into this one. Raises ApiError. Call inside the tenant's transaction."""
    preview = read_preview(entry.project, persona.pk, other)
    zone = zone_of(entry)
    return {
        "person": person_head(preview.target, zone=zone),
        "other": person_head(preview.source, zone=zone),
        "moving": preview.counts,
        "conflicts": [_line(field) for field in preview.conflicts],
        "moves": [_line(field) for field in preview.fields if not field.is_conflict],
        "preview": preview,
    }


def _line(field: FieldMove) -> FieldLine:
    words, tone = _outcome(field)
    return FieldLine(
        label=field_label(field.key),
        kept=field_value(field.key, field.kept) if field.kept else "",
        merged=field_value(field.key, field.merged),
        words=words,
        tone=tone,
    )


def _outcome(field: FieldMove) -> tuple[str, str]:
    if field.outcome == Outcome.WINS:
        return gettext("The opt-out applies from then on."), "warn"
    if field.outcome == Outcome.MOVES:
        return gettext("Moves."), "ok"
    if not field.kept:
        return gettext("Not moved: given for another number or address."), "warn"
    return gettext("Keeps %(value)s.") % {"value": field_value(field.key, field.kept)}, "warn"
