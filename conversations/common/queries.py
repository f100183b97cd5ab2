"""Shared queries for flows, pages and the API: the fields known in a conversation, and open waits."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from conversations.models import Conversation, PersonaField, Wait
from conversations.models.persona import Strength
from projects.models import Project
from projects.models.agent_config import AgentConfig
from tenancy.prepared_queries import PreparedQuery


def open_waits() -> QuerySet[Wait]:
    """Waits that are open now, by the database's clock."""
    return Wait.objects.filter(ended_at=None, until__gt=Now())


def open_waits_of(conversation_id: UUID) -> QuerySet[Wait]:
    """The open waits of one conversation."""
    return open_waits().filter(conversation_id=conversation_id)


# Every field of a customer and of one of their conversations.
FIELDS = PreparedQuery(
    lambda persona, conversation: PersonaField.objects.filter(
        Q(conversation=None) | Q(conversation_id=conversation), persona_id=persona
    ),
    kinds=(UUID, UUID),
)
WAITS = PreparedQuery(lambda conversation: open_waits_of(conversation).order_by("opened_at"), kinds=(UUID,))


# The document is immutable and already parsed; see projects.models.agent_config.
PROJECT = PreparedQuery(
    lambda project: Project.objects.select_related("agent_version").defer("agent_version__document").filter(pk=project),
    kinds=(UUID,),
)


def read_project(project_id: UUID) -> Project:
    """A project with its published settings. Raises Project.DoesNotExist."""
    for project in PROJECT(project_id):
        return project
    raise Project.DoesNotExist


def read_fields(conversation: Conversation, config: AgentConfig) -> list[PersonaField]:
    """The fields that hold in a conversation, by key."""
    return fields_in_scope(FIELDS(conversation.persona_id, conversation.pk), config)


def fields_in_scope(rows: Iterable[PersonaField], config: AgentConfig) -> list[PersonaField]:
    """One row per key, of the rows of a customer and of one conversation.

    A field of the conversation has the value learned in it, or else one that staff or the API gave the customer. What
    the observer learned in another conversation, before the field had this scope, is not part of it.
    """
    chosen: dict[str, PersonaField] = {}
    for row in rows:
        is_of_conversation, is_own = row.key in config.conversation_fields, row.conversation_id is not None
        if is_of_conversation and not is_own and row.strength < Strength.GIVEN:
            continue
        if row.key not in chosen or is_own == is_of_conversation:
            chosen[row.key] = row
    return list(chosen.values())
