"""Customers' names, as pages of staff show them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from conversations.models import Conversation, PersonaField
from tenancy.prepared_queries import PreparedValues


def customer_names(personas: Collection[UUID]) -> Mapping[UUID, str]:
    """Display names by persona id: the name, else the phone number, else the address. Unknown customers are missing."""
    known: dict[UUID, dict[str, str]] = {}
    for persona, key, value in _NAMES(tuple(personas)) if personas else ():
        known.setdefault(persona, {})[key] = value
    return {persona: fields.get("name") or fields.get("phone") or fields["email"] for persona, fields in known.items()}


_NAMES = PreparedValues(
    lambda personas: (
        PersonaField.objects.filter(persona_id__any=personas, key__in=("name", "phone", "email"))
        .order_by()
        .values_list("persona_id", "key", "value")
    ),
    kinds=(tuple,),
)


def conversation_names(conversations: Iterable[Conversation]) -> Mapping[UUID, str]:
    """Display names by conversation. The shop's name for a signed-in shopper takes precedence over what was said."""
    rows = list(conversations)
    names = customer_names({row.persona_id for row in rows})
    found = {row.pk: _claim(row, "name") or names.get(row.persona_id) or _claim(row, "email") for row in rows}
    return {id: name for id, name in found.items() if name}


def customer_name(conversation_id: UUID) -> str:
    """The display name of one conversation's customer, or an empty string."""
    return next(iter(conversation_names(Conversation.objects.filter(pk=conversation_id)).values()), "")


def _claim(row: Conversation, name: str) -> str:
    return str((row.shopper or {}).get(name) or "").strip()
