"""Approval of effects: each becomes a todo with exactly its arguments."""

from __future__ import annotations

from conversations.common.instructions import NOT_APPROVED
from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog
from conversations.models import WaitOutcome
from conversations.models.event import EventType
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import make_todo
from tools.engine.execution.deduplication import find_planned_duplicate
from tools.engine.ledger import needs_approval
from tools.engine.presenters import effect_payload
from tools.engine.promises import extend_deadlines
from tools.models import Effect

APPROVED = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)
UNFINISHED = (TodoStatus.PENDING_REVIEW, *APPROVED)
AWAITS_APPROVAL = "A colleague has to approve it first ({tool}: “{quote}”)."


def find_awaiting_approval(effect: Effect) -> Effect | None:
    """An identical effect that awaits approval or was just approved; a second promise asks for no second approval."""
    if not needs_approval(effect):
        return None
    todos = Todo.objects.filter(conversation_id=effect.conversation_id, status__in=UNFINISHED, effect__isnull=False)
    return find_planned_duplicate(effect, among=list(todos.values_list("effect_id", flat=True)))


def is_approved(effect: Effect) -> bool:
    """True if a planned effect was approved, by a person or a standing rule."""
    return Todo.objects.filter(effect=effect, status__in=APPROVED).exists()


def ask_for_approval(log: ConversationLog, effect: Effect) -> bool:
    """Create the effect's only approval todo, and notify what waits for the effect.

    Needs the conversation's lock. Return False if nobody has to be asked: a standing rule approved it, so it runs at
    once, and its wait stays open.
    """
    todo = make_todo(
        log.conversation.project,
        description=f"{_said(effect)} If you approve, {effect.tool} runs with exactly these arguments.",
        source=TodoSource.TOOL,
        actor=AGENT,
        conversation_id=log.conversation.pk,
        turn_id=effect.turn_id,
        persona_id=log.conversation.persona_id,
        promise=effect.promises.first(),
        effect=effect,
        quote=effect.quote,
        tool=effect.tool,
        arguments=effect.arguments,
        source_key=f"effect:{effect.pk}",
    )
    if todo.status != TodoStatus.PENDING_REVIEW:
        return False
    extend_deadlines(effect)
    log.add_event("effect_awaits_approval", payload=effect_payload(effect), type=EventType.EFFECT)
    told = AWAITS_APPROVAL.format(tool=effect.tool, quote=effect.quote)
    end_wait(log, effect.pk, outcome=WaitOutcome.RESULT, told=told, instruction=NOT_APPROVED)
    return True


def _said(effect: Effect) -> str:
    """The agent's words, or the call if the agent called the tool without any."""
    return f"The agent said: “{effect.quote}”." if effect.quote else f"The agent has called {effect.tool}."
