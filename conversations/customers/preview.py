"""Preview of a merge: the rows that move, and the values that differ. Compared again at the merge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from conversations.common.consents import GIVEN, OPT_INS, WITHDRAWN, consent_of
from conversations.models import Conversation, Persona, PersonaField
from todos.models import Todo, TodoStatus
from tools.engine.execution.consent import BOUND_TO
from tools.models import Booking, Promise, Ticket

# Todos whose approval names the customer. Theirs is another customer after a merge, so a person approves them again.
APPROVED = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)
SHOP_ACCOUNT = "wp_user_id"


class Outcome(StrEnum):
    """The outcome of a merge for a value of the merged customer."""

    MOVES = "moves"
    """The kept customer has none."""
    LOSES = "loses"
    """The kept customer's own value stays."""
    WINS = "wins"
    """It is a refusal, which is stricter than the kept customer's consent."""


@dataclass(frozen=True)
class FieldMove:
    """A field of the merged customer. `kept` is the other's value, or "" without one."""

    key: str
    kept: str
    merged: str
    outcome: Outcome

    @property
    def is_conflict(self) -> bool:
        """True if a value is lost, or a consent doesn't move."""
        return self.outcome != Outcome.MOVES


@dataclass(frozen=True)
class MergePreview:
    """Everything of `source` that moves to `target`.

    `shop_accounts` is true if the two have signed in to the shop with different accounts. `seen` changes with anything
    shown here.
    """

    target: Persona
    source: Persona
    counts: Mapping[str, int]
    fields: list[FieldMove]
    shop_accounts: bool
    seen: str

    @property
    def conflicts(self) -> list[FieldMove]:
        return [field for field in self.fields if field.is_conflict]


def preview_merge(target: Persona, source: Persona) -> MergePreview:
    """Preview a merge of `source` into `target` as of now."""
    counts = {name: rows.count() for name, rows in moving_rows(source.pk).items()}
    counts["promises"] = _promises(source.pk).count()
    counts["approved_todos"] = Todo.objects.filter(persona_id=source.pk, status__in=APPROVED).count()
    fields = list(_moves(own_fields(target.pk), own_fields(source.pk)))
    return MergePreview(
        target=target,
        source=source,
        counts=counts,
        fields=fields,
        shop_accounts=len(_shop_accounts(target, source)) > 1,
        seen=_digest(target, source, counts),
    )


def moving_rows(persona_id: UUID) -> dict[str, QuerySet[Any]]:
    """The rows that belong to a customer and move with a merge, by name."""
    return {
        "conversations": Conversation.objects.filter(persona_id=persona_id),
        "bookings": Booking.objects.filter(persona_id=persona_id),
        "todos": Todo.objects.filter(persona_id=persona_id),
        "tickets": Ticket.objects.filter(persona_id=persona_id),
    }


def own_fields(persona_id: UUID) -> dict[str, PersonaField]:
    """The customer's fields by key, without those of single conversations."""
    rows = PersonaField.objects.filter(persona_id=persona_id, conversation=None)
    return {row.key: row for row in rows.order_by("key")}


def _moves(target: Mapping[str, PersonaField], source: Mapping[str, PersonaField]) -> Iterator[FieldMove]:
    kept = {key: row.value for key, row in target.items()}
    merged = {key: row.value for key, row in source.items()}
    for key, value in merged.items():
        if kept.get(key) != value:
            yield FieldMove(key, kept.get(key, ""), value, _outcome(key, kept, merged))


def _outcome(key: str, kept: Mapping[str, str], merged: Mapping[str, str]) -> Outcome:
    if key in OPT_INS and merged[key] == WITHDRAWN:
        return Outcome.WINS if key in kept else Outcome.MOVES
    if key in kept or (key in OPT_INS and merged[key] == GIVEN and _has_other_address(key, kept, merged)):
        return Outcome.LOSES
    return Outcome.MOVES


def _has_other_address(opt_in: str, kept: Mapping[str, str], merged: Mapping[str, str]) -> bool:
    """True if the consent was given for a number or address that the kept customer doesn't have."""
    contact = BOUND_TO[consent_of(opt_in)]  # type: ignore[index]  # a key of OPT_INS without its ending is a consent
    return contact in kept and kept[contact] != merged.get(contact)


def _promises(persona_id: UUID) -> QuerySet[Promise]:
    spoken = Conversation.objects.filter(persona_id=persona_id)
    return Promise.objects.filter(conversation_id__in=spoken.values("pk"))


def _shop_accounts(*personas: Persona) -> set[Any]:
    visits = Conversation.objects.filter(persona__in=personas, shopper__isnull=False)
    accounts = visits.values_list(f"shopper__{SHOP_ACCOUNT}", flat=True).distinct()
    return {account for account in accounts if account is not None}


def _digest(target: Persona, source: Persona, counts: Mapping[str, int]) -> str:
    """Changes with the two customers, their values and the counts, not with a message in one of their conversations."""
    state = {
        "counts": dict(counts),
        "customers": [
            {
                "id": str(persona.pk),
                "merged": str(persona.merged_into_id or ""),
                "fields": {key: [row.value, _time(row.updated_at)] for key, row in own_fields(persona.pk).items()},
                "consents": persona.consent_changes.count(),
            }
            for persona in (target, source)
        ],
    }
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:32]


def _time(at: datetime) -> str:
    return at.isoformat()
