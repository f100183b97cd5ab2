"""Conversations as lists of staff show them, by their keys, and the last words of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from conversations.models import Conversation, Message, MessageRole
from tenancy.prepared_queries import PreparedQuery, PreparedValues

SHOWN = (
    *("persona_id", "channel", "status", "metadata", "shopper", "flag", "rating"),
    *("snoozed_until", "closed_at", "updated_at"),
    *(f"{member}__{name}" for member in ("operator", "assignee") for name in ("first_name", "last_name", "email")),
)
SAID = ("conversation_id", "role", "content", "created_at")


def find_rows(ids: Sequence[UUID]) -> list[Conversation]:
    """These conversations in the given order, with the fields that a list shows; without those that are gone."""
    found = {row.pk: row for row in _ROWS(tuple(ids))} if ids else {}
    return [found[id] for id in ids if id in found]


def find_messages(ids: Sequence[UUID]) -> list[Message]:
    """These messages in the given order, each with its conversation as in `find_rows`; without those that are gone."""
    found = {message.pk: message for message in _MESSAGES(tuple(ids))} if ids else {}
    rows = {row.pk: row for row in find_rows(list({message.conversation_id for message in found.values()}))}
    messages = [found[id] for id in ids if id in found and found[id].conversation_id in rows]
    for message in messages:
        message.conversation = rows[message.conversation_id]
    return messages


def last_words(conversations: Iterable[Conversation]) -> dict[UUID, Message]:
    """The customer's newest message of each conversation, by conversation id; the agent's if the customer wrote none."""
    ids = tuple(conversation.pk for conversation in conversations)
    # By key: the planner would read all messages to join them.
    newest = tuple(id for (id,) in _LAST_WORDS(ids) if id) if ids else ()
    return {message.conversation_id: message for message in _MESSAGES(newest)} if newest else {}


def _last_words(ids: Sequence[UUID]) -> QuerySet[Conversation, Any]:
    said = Message.objects.filter(conversation=OuterRef("pk")).exclude(role=MessageRole.SYSTEM).order_by("-seq")
    customers = Subquery(said.filter(role=MessageRole.USER).values("pk")[:1])
    newest = Coalesce(customers, Subquery(said.values("pk")[:1]))
    return Conversation.objects.filter(pk__any=ids).values_list(newest)


_ROWS = PreparedQuery(
    lambda ids: Conversation.objects.filter(pk__any=ids).select_related("operator", "assignee").only(*SHOWN),
    kinds=(tuple,),
)
_MESSAGES = PreparedQuery(lambda ids: Message.objects.filter(pk__any=ids).only(*SAID), kinds=(tuple,))
_LAST_WORDS = PreparedValues(_last_words, kinds=(tuple,))
