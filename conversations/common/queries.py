"""Shared queries for flows, pages and the API: a customer's fields and open waits."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from conversations.models import PersonaField, Wait
from tenancy.prepared_queries import PreparedQuery


def open_waits() -> QuerySet[Wait]:
    """Waits that are open now, by the database's clock."""
    return Wait.objects.filter(ended_at=None, until__gt=Now())


def open_waits_of(conversation_id: UUID) -> QuerySet[Wait]:
    """The open waits of one conversation."""
    return open_waits().filter(conversation_id=conversation_id)


FIELDS = PreparedQuery(lambda persona: PersonaField.objects.filter(persona_id=persona), kinds=(UUID,))
WAITS = PreparedQuery(lambda conversation: open_waits_of(conversation).order_by("opened_at"), kinds=(UUID,))
