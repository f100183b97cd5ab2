"""Promises that are left to staff: no tool can keep them, none was decided on, or nobody hears their tool's event.

Each becomes a todo in the commit that finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from conversations.common.promise_todos import OPEN_STATUSES
from conversations.live.event_log import ConversationLog
from conversations.turns.conversation_end import queue_type_choice
from tenancy.prepared_queries import PreparedValues
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoSource
from todos.services import make_todo
from tools.engine.promises import NO_TOOL, UNHEARD
from tools.models import Promise

DESCRIPTION = "The agent promised: “{quote}”. No tool can do this; somebody has to."
NOT_HEARD = "The agent promised: “{quote}”. {reason}"

UNDECIDED = "The agent promised: “{quote}”. {reason} Choose the tool, or do it by hand."

# With the times that they are for.
OPEN_QUOTES = PreparedValues(
    lambda conversation: Todo.objects.filter(
        conversation_id=conversation, source=TodoSource.PROMISE, status__in=OPEN_STATUSES
    ).values_list("quote", "promise__promised_for"),
    kinds=(UUID,),
)


def create_todos(log: ConversationLog, promises: Sequence[Promise]) -> None:
    """Create one todo per promise, and queue the extraction, which decides its type and content.

    A promise in the same words for the same time as an open todo's gets none of its own: that todo's outcome settles both.
    """
    if not promises:
        return
    open_quotes = set(OPEN_QUOTES(log.conversation.pk))
    for promise in promises:
        said = promise.quote, promise.promised_for
        if said in open_quotes:
            continue
        open_quotes.add(said)
        make_todo(
            log.conversation.project,
            description=_description(promise),
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


def _description(promise: Promise) -> str:
    if promise.reason == UNHEARD:
        return NOT_HEARD.format(quote=promise.quote, reason=UNHEARD)
    if promise.reason == NO_TOOL:
        return DESCRIPTION.format(quote=promise.quote)
    return UNDECIDED.format(quote=promise.quote, reason=promise.reason)
