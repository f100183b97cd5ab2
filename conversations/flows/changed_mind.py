"""A changed mind: a customer's new word cancels what was planned with the old one and has not begun.

The arguments of an effect are decided once and never rewritten. So an effect whose arguments the customer has overtaken
is cancelled with its todo, its promise is withdrawn, and the agent is told. The new value goes out with a new promise
or call of the agent's, which is decided, and approved, on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.db.models import Q

from conversations.common.consents import OPT_INS
from conversations.context.turn_context import TurnContext
from conversations.flows.todo_events import told_to
from conversations.live.event_log import ConversationLog
from conversations.models import Turn
from conversations.tool_runs.effects.conversation_run import ConversationRun
from conversations.turns.customer_fields import FieldChange
from jobs.errors import WrongState
from todos.content.lifecycle import AGENT
from todos.content.versions import get_for_update
from todos.models import Todo, TodoStatus
from todos.services import cancel_todo
from tools.engine import ledger
from tools.engine.promises import settle_promises
from tools.models import Effect, EffectOrigin, EffectState

CHANGED = "The customer changed {field} from “{before}” to “{after}” before it began."
LONGEST_VALUE = 60
# Fields that no argument is read from: they say how to reach the customer, not what for.
NEVER_ARGUMENTS = frozenset({"language", *OPT_INS})
# Shortest value that identifies an argument of another name. “2” may be anything.
SHORTEST_VALUE = 3
UNFINISHED = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)
# A todo's own steps were written by staff, or approved by them after the change.
ORIGINS = (EffectOrigin.COMMITMENT, EffectOrigin.TURN, EffectOrigin.LIVE)


def cancel_overtaken_effects(log: ConversationLog, context: TurnContext, changes: Sequence[FieldChange]) -> None:
    """Cancel the planned effects of earlier turns that use a replaced value. Needs the conversation's lock.

    An effect that was sent keeps what it was sent with.
    """
    relevant = [change for change in changes if change.key not in NEVER_ARGUMENTS]
    for effect in _planned_before(context) if relevant else ():
        if (change := _overtaking(effect, relevant)) is not None:
            _cancel(log, effect, reason=_reason(change))


def _planned_before(context: TurnContext) -> list[Effect]:
    """Planned effects with stored arguments, of turns before the message that the observer read."""
    turn = context.turn
    # A message that an operator answered has no turn, and follows the last one.
    is_earlier = Q(seq__lt=turn.seq) if turn.pk is not None else Q(seq__lte=turn.seq)
    turns = Turn.objects.filter(is_earlier, conversation_id=context.conversation.pk)
    planned = Effect.objects.filter(state=EffectState.PLANNED, arranged_at__isnull=False, origin__in=ORIGINS)
    return list(planned.filter(conversation_id=context.conversation.pk, turn_id__in=turns.values("pk")))


def _overtaking(effect: Effect, changes: Sequence[FieldChange]) -> FieldChange | None:
    values = list(_values(effect.arguments))
    return next((change for change in changes if any(_is_replaced(*one, change) for one in values)), None)


def _values(arguments: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text and number in the arguments, with its name."""
    if isinstance(arguments, Mapping):
        for key, value in arguments.items():
            yield from _values(value, str(key))
    elif isinstance(arguments, list):
        for value in arguments:
            yield from _values(value, name)
    elif isinstance(arguments, str | int | float) and not isinstance(arguments, bool):
        yield name, str(arguments).strip()


def _is_replaced(name: str, text: str, change: FieldChange) -> bool:
    """True for an argument of the field's name, and for one that holds the old value under another name."""
    if not text or text.casefold() == change.after.casefold():
        return False
    holds_old = len(change.before) >= SHORTEST_VALUE and text.casefold() == change.before.casefold()
    return name.casefold().replace("-", "_") == change.key or holds_old


def _reason(change: FieldChange) -> str:
    field = change.key.replace("_", " ")
    return CHANGED.format(field=field, before=change.before[:LONGEST_VALUE], after=change.after[:LONGEST_VALUE])


def _cancel(log: ConversationLog, effect: Effect, *, reason: str) -> None:
    todo = Todo.objects.filter(effect=effect, status__in=UNFINISHED).first()
    if todo is None:
        ConversationRun(log, effect).cancel(reason)
        return
    # A todo is locked before its effect.
    get_for_update(todo.pk)
    if not ledger.cancel(effect, reason=reason):
        return
    settle_promises(effect)
    # A todo that ended meanwhile has told its conversation.
    with told_to(log), suppress(WrongState):
        cancel_todo(todo.pk, actor=AGENT, reason=reason)
