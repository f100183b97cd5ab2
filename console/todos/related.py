"""Todos shown next to a conversation's transcript."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from console.todos.cards import cards_of
from console.todos.change_token import conversation_token
from projects.models import Project
from tenancy.prepared_queries import PreparedQuery
from todos.content.snapshot import compiled_tools
from todos.models import Todo

SHOWN = 5


def related_todos(project: Project, conversation_id: UUID, *, zone: str) -> dict[str, Any]:
    """The conversation's newest todos, their total and a change token. Requires the tenant's transaction."""
    # Read the token first, so that a change during the query is noticed at the next poll.
    stamp = conversation_token(conversation_id)
    newest = _NEWEST(project.pk, conversation_id)
    count = len(newest)
    if count == SHOWN:
        count = Todo.objects.filter(project=project, conversation_id=conversation_id).count()
    tools = compiled_tools(project) if newest else {}
    return {"cards": cards_of(newest, tools=tools, zone=zone), "count": count, "stamp": stamp}


_NEWEST = PreparedQuery(
    lambda project, conversation: (
        Todo.objects.filter(project_id=project, conversation_id=conversation)
        .select_related("type", "promise")
        .order_by("-created_at", "-id")[:SHOWN]
    ),
    kinds=(UUID, UUID),
)
