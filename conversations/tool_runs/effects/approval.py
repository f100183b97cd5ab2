"""Effects of tools that a person has to say yes to: each becomes a todo with exactly its arguments (D16)."""

from __future__ import annotations

from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog
from conversations.models import WaitOutcome
from conversations.models.event import EventType
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import make_todo
from tools.engine import ledger
from tools.engine.execution.deduplication import find_planned_duplicate
from tools.engine.ledger import needs_approval
from tools.engine.presenters import effect_payload
from tools.engine.promises import extend_deadlines
from tools.models import Effect, EffectState

GIVEN = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)
NOT_BEGUN = (TodoStatus.PENDING_REVIEW, *GIVEN)
AWAITED = (
    "A colleague has to approve it first ({tool}: “{quote}”). Say so if it matters now, and never that it was done."
)


def waiting_for(effect: Effect) -> Effect | None:
    """The same thing, for which a person's yes is awaited, or was just given: a second promise asks for no second one (E6)."""
    if not needs_approval(effect):
        return None
    todos = Todo.objects.filter(conversation_id=effect.conversation_id, status__in=NOT_BEGUN, effect__isnull=False)
    return find_planned_duplicate(effect, among=list(todos.values_list("effect_id", flat=True)))


def is_allowed(effect: Effect) -> bool:
    """Whether the yes that a planned effect needs was given, by a person or a standing rule."""
    return Todo.objects.filter(effect=effect, status__in=GIVEN).exists()


def hold_repeat(effect: Effect, earlier: Effect) -> bool:
    """Hold a repeat of what was done, or is to be done (E6). False when it was begun meanwhile, or is over."""
    return ledger.hold_back(effect, earlier, is_allowed=earlier.state == EffectState.PLANNED and is_allowed(earlier))


def ask_for_approval(log: ConversationLog, effect: Effect) -> bool:
    """Leave a planned effect to the todo that carries it, one for each effect; whoever waits for it is told.

    Under the conversation's lock. False: nobody has to be asked. With the yes of a standing rule it runs at once, and is waited
    for as any other.
    """
    todo = make_todo(
        log.conversation.project,
        description=f"{_said(effect)} With your yes {effect.tool} runs with exactly these arguments.",
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
    end_wait(log, effect.pk, outcome=WaitOutcome.RESULT, told=AWAITED.format(tool=effect.tool, quote=effect.quote))
    return True


def _said(effect: Effect) -> str:
    """What led to it: the agent's words, or, where it called the tool without any, the call."""
    return f"The agent said: “{effect.quote}”." if effect.quote else f"The agent has called {effect.tool}."
