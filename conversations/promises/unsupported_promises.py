"""Promises that no tool can keep: each becomes a todo for people at once, in the commit that finds it (D16)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from conversations.live.event_log import ConversationLog
from conversations.turns.conversation_end import queue_type_choice
from tenancy.prepared_queries import PreparedValues
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import make_todo
from tools.models import Promise

DESCRIPTION = "The agent promised: “{quote}”. No tool can do this; somebody has to."

NOT_OVER = (
    TodoStatus.PENDING_REVIEW,
    TodoStatus.APPROVED,
    TodoStatus.IN_PROGRESS,
    TodoStatus.NEEDS_ATTENTION,
)

STANDING = PreparedValues(
    lambda conversation: Todo.objects.filter(
        conversation_id=conversation, source=TodoSource.PROMISE, status__in=NOT_OVER
    ).values_list("quote"),
    kinds=(UUID,),
)


def make_todos(log: ConversationLog, promises: Sequence[Promise]) -> None:
    """One todo for each promise. Which type it is of, and what exactly is to be done, the extraction decides soon after.

    The same words once more, while the todo of the first stands, make no second: its end is both promises'.
    """
    if not promises:
        return
    standing = {quote for (quote,) in STANDING(log.conversation.pk)}
    for promise in promises:
        if promise.quote in standing:
            continue
        standing.add(promise.quote)
        make_todo(
            log.conversation.project,
            description=DESCRIPTION.format(quote=promise.quote),
            source=TodoSource.PROMISE,
            actor=AGENT,
            conversation_id=log.conversation.pk,
            turn_id=promise.turn_id,
            persona_id=log.conversation.persona_id,
            promise=promise,
            quote=promise.quote,
            source_key=f"promise:{promise.pk}",
        )
    queue_type_choice(log, turn_id=promises[0].turn_id)
