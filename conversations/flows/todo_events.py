"""Applies todo changes to the conversation: effects and promises at once, its log and the agent right after.

Lock order: a conversation is locked before its todos, but a todo's writer holds only the todo. So the change itself
settles effects and promises and queues a job, and the job locks the conversation. A todo's run that ends an effect
locks the conversation first (`hold_back`) and writes to its log in the same commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import timedelta
from uuid import UUID

from django.db.models import Max, QuerySet
from django.utils import timezone

from conversations.followups.proactive import say_proactively
from conversations.live.event_log import ConversationLog, job_log, open_log
from conversations.models.event import EventType, UrgentSource
from conversations.tool_runs.effects.outcome_events import instruction_about, sentence_of, tell_end
from jobs.enqueue import JobRequest, enqueue
from jobs.errors import WrongState
from jobs.lanes import ClaimedJob
from jobs.models import State
from tenancy.threads import in_db
from todos.approvals.undo_rejection import UNDO_PERIOD, UNDONE
from todos.content.lifecycle import CLOCK, REJECTED
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import cancel_todo
from tools.engine import ledger
from tools.engine.definition import ActionType
from tools.engine.execution.after_actions import tells
from tools.engine.presenters import effect_payload
from tools.engine.promises import (
    DISPROVABLE,
    await_receipt,
    break_disproved,
    break_promises,
    close_promise,
    evidence_of,
    identical_promises,
    keep_promise,
    leave_to_staff,
    note_made_good,
    reopen_promise,
    settle_promises,
)
from tools.models import (
    PENDING,
    AfterActionState,
    Effect,
    EffectOrigin,
    EffectState,
    Evidence,
    Promise,
    PromiseState,
    ReceiptState,
)

LANE = "todo_news"
# Effects arranged by the agent in the conversation: promised, or called while it answered.
AGENT_ORIGINS = (EffectOrigin.COMMITMENT, EffectOrigin.TURN)
FINISHED = frozenset({EffectState.DONE, EffectState.FAILED, EffectState.UNKNOWN})
REFUSED = frozenset({TodoStatus.REJECTED, TodoStatus.CANCELLED, TodoStatus.EXPIRED})
# Todos that a person's decision on their promise still cancels; a running one continues.
STOPPABLE = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)
# Promise state by the status of the todo that stood in for a missing tool and was not completed.
PROMISE_STATES = {
    TodoStatus.REJECTED: PromiseState.WITHDRAWN,
    TodoStatus.CANCELLED: PromiseState.WITHDRAWN,
    TodoStatus.EXPIRED: PromiseState.BROKEN,
    TodoStatus.FAILED: PromiseState.BROKEN,
}
STATUS_REASONS = {
    TodoStatus.COMPLETED: "A colleague saw to it.",
    TodoStatus.REJECTED: "A colleague decided against it.",
    TodoStatus.CANCELLED: "A colleague took it back.",
    TodoStatus.EXPIRED: "Nobody approved it in time.",
    TodoStatus.FAILED: "It was tried, and failed.",
}
LONGEST_REASON = 300
PROMISE_CANCELLED = (
    "“{quote}” will not happen as you promised. {reason} Tell the customer so, and don't promise it again."
)

# Log of the conversation locked by the running transaction.
_held_log: ContextVar[ConversationLog | None] = ContextVar("_held_log", default=None)


def on_todo_changed(todo: Todo, what: str) -> None:
    """Settle the todo's effect and promise, and tell the conversation now, or queue a job that does."""
    status = TodoStatus(todo.status)
    if status in REFUSED and todo.effect is not None:
        _cancel_effect(todo.effect, reason=_reason(todo), status=status)
    elif status is TodoStatus.COMPLETED and todo.source == TodoSource.MAKE_GOOD and todo.promise_id is not None:
        note_made_good(todo.promise_id)
    elif todo.source == TodoSource.PROMISE and todo.promise_id is not None:
        _settle_promise(todo, todo.promise_id, status, what=what)
    if (log := _log_if_held(todo)) is not None:
        _tell_todo(log, todo, what=what, status=status)
    else:
        is_undoable = what == REJECTED and todo.effect is None
        delay = UNDO_PERIOD if is_undoable else timedelta()
        _queue(todo, f"todo:{todo.pk}:{what}:{status}:{todo.version}", delay=delay)


def _settle_promise(todo: Todo, promise_id: UUID, status: TodoStatus, *, what: str) -> None:
    """Settle the promise of a todo, and all promises in the same words. Other statuses change nothing."""
    if what == UNDONE:
        reopen_promise(promise_id, withdrawn_because=STATUS_REASONS[TodoStatus.REJECTED])
        return
    is_not_sent = status is TodoStatus.NEEDS_ATTENTION and _evidence_of(todo) == Evidence.OUTBOX
    for identical_id in identical_promises(promise_id):
        if status is TodoStatus.COMPLETED and _evidence_of(todo) == Evidence.SENT:
            due_at = _effects_of(todo).aggregate(last=Max("receipt_due_at"))["last"]
            await_receipt(Promise.objects.filter(pk=identical_id, state=PromiseState.OPEN), until=due_at)
        elif status is TodoStatus.COMPLETED or is_not_sent:
            keep_promise(identical_id, evidence=_evidence_of(todo), reason=_reason(todo))
        elif status in PROMISE_STATES:
            close_promise(identical_id, state=PROMISE_STATES[status], reason=_reason(todo))


def _settle_by_receipt(todo: Todo, promise_id: UUID, effect: Effect) -> None:
    """Settle the promise of a completed todo by the receipt of one of its messages."""
    for identical_id in identical_promises(promise_id):
        if effect.state == EffectState.FAILED:
            break_disproved(identical_id, reason=effect.error[:LONGEST_REASON])
        elif effect.state == EffectState.UNKNOWN:
            leave_to_staff(Promise.objects.filter(DISPROVABLE, pk=identical_id))
        elif not _effects_of(todo).exclude(state=EffectState.DONE).exists():
            keep_promise(identical_id, evidence=_evidence_of(todo), reason=_reason(todo))


def _effects_of(todo: Todo) -> QuerySet[Effect]:
    return Effect.objects.filter(todo_calls__step__todo=todo)


def _evidence_of(todo: Todo) -> Evidence:
    """The evidence of a completed todo: a message of its run in the outbox or on its way, else an effect, else the person
    who did it.
    """
    found = [evidence_of(effect) for effect in _effects_of(todo).filter(state=EffectState.DONE)]
    if todo.taker or not found:
        return Evidence.PERSON
    return next((one for one in PENDING if one in found), found[-1])


@contextmanager
def hold_back(conversation_id: UUID) -> Iterator[None]:
    """Lock a todo's conversation for a transaction that may end one of its effects, so that no job is needed."""
    with open_log(conversation_id) as log, told_to(log):
        yield


@contextmanager
def told_to(log: ConversationLog) -> Iterator[None]:
    """Write what becomes of the conversation's todos to this open log, in the same commit."""
    before = _held_log.set(log)
    try:
        yield
    finally:
        _held_log.reset(before)


def on_effect_changed(todo: Todo, effect: Effect) -> None:
    """Tell the conversation, now or by a job, that an effect run by a todo changed state.

    The receipt of a completed todo's message settles the promise that the todo stands in for.
    """
    is_completed = todo.status == TodoStatus.COMPLETED and todo.source == TodoSource.PROMISE and not todo.taker
    if is_completed and todo.promise_id is not None and effect.receipt:
        _settle_by_receipt(todo, todo.promise_id, effect)
    if (log := _log_if_held(todo)) is not None:
        _tell_effect(log, effect, state=EffectState(effect.state))
    else:
        _queue(todo, f"effect:{effect.pk}:{effect.state}:{effect.attempts}")


def on_promise_answered(promise: Promise) -> None:
    """Queue a job that cancels the todos still awaiting approval, because a person answered the promise.

    They cannot be cancelled here: a todo is locked before its promise, and the caller holds the promise.
    """
    if Todo.objects.filter(promise=promise, status__in=STOPPABLE).exists():
        _enqueue(promise, promise.conversation_id, f"promise:{promise.pk}:{promise.state}")


async def run_todo_events(job: ClaimedJob) -> None:
    """Write one change to the conversation's log, and tell the agent if it matters."""
    await in_db(_tell, job)


def _tell(job: ClaimedJob) -> None:
    _, kind, subject, *words = job.key.split(":")
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        if kind == "promise":
            _cancel_todos(Promise.objects.get(pk=UUID(subject)))
        elif kind == "effect":
            _tell_effect(log, Effect.objects.get(pk=UUID(subject)), state=EffectState(words[0]))
        else:
            _tell_todo(
                log,
                Todo.objects.select_related("effect", "promise").get(pk=UUID(subject)),
                what=words[0],
                status=words[1],
            )


def _tell_effect(log: ConversationLog, effect: Effect, *, state: EffectState) -> None:
    log.add_event(f"effect_{state}", payload=effect_payload(effect), type=EventType.EFFECT)
    if effect.origin not in AGENT_ORIGINS or effect.state != state or state not in FINISHED:
        return
    if state == EffectState.UNKNOWN and effect.receipt == ReceiptState.UNKNOWN:
        # The customer was told that it was sent. Staff is asked whether it arrived.
        return
    is_event = effect.definition.get("action", {}).get("type") == ActionType.SEND_EVENT
    if state == EffectState.DONE and is_event and effect.origin == EffectOrigin.COMMITMENT:
        # The tool's own event, which is written before it begins where no approval is asked.
        log.add_event(effect.tool, payload={"effect": str(effect.pk), "arguments": effect.arguments})
    if not any(tells(row) for row in effect.after_actions.exclude(state=AfterActionState.SKIPPED)):
        _tell_end(log, effect)


def _tell_end(log: ConversationLog, effect: Effect) -> None:
    """Tell the agent how the effect ended.

    For a tool the agent called itself, its last news was that an approval is pending or given: it speaks proactively.
    """
    if effect.origin == EffectOrigin.TURN:
        about = {"effect": str(effect.pk)}
        say_proactively(log, sentence_of(effect), about, instruction=instruction_about(effect))
    else:
        tell_end(log, effect)


def _tell_todo(log: ConversationLog, todo: Todo, *, what: str, status: str) -> None:
    payload = {"todo": str(todo.pk), "what": what, "status": status, "description": todo.description}
    log.add_event("todo_changed", payload=payload)
    if status != todo.status:
        return
    if todo.effect is not None and todo.effect.state == EffectState.CANCELLED and status in REFUSED:
        log.add_event("effect_cancelled", payload=effect_payload(todo.effect), type=EventType.EFFECT)
        _tell_end(log, todo.effect)
    elif todo.source == TodoSource.PROMISE and status in REFUSED and _ended_promise(todo):
        text = PROMISE_CANCELLED.format(quote=todo.quote, reason=STATUS_REASONS[TodoStatus(status)])
        say_proactively(log, text, {"todo": str(todo.pk)}, source=UrgentSource.BUSINESS)


def _ended_promise(todo: Todo) -> bool:
    """True if this todo ended the promise, rather than an earlier decision."""
    return todo.promise is not None and todo.promise.reason == _reason(todo)


def _cancel_todos(promise: Promise) -> None:
    for todo in Todo.objects.filter(promise=promise, status__in=STOPPABLE):
        with suppress(WrongState):  # already ended by someone else
            cancel_todo(todo.pk, actor=CLOCK, reason=promise.reason or "Its promise is answered.")


def _cancel_effect(effect: Effect, *, reason: str, status: TodoStatus) -> None:
    """Cancel an effect that was never approved. Its promise is broken if the approval expired, else withdrawn.

    The agent is told the status. The reason is for staff.
    """
    if status is TodoStatus.EXPIRED and effect.state == EffectState.PLANNED:
        break_promises(effect, reason=reason)
    told = ledger.NOT_DONE.format(tool=effect.tool, why=STATUS_REASONS[status])
    if ledger.cancel(effect, reason=reason, told=told):
        settle_promises(effect)


def _reason(todo: Todo) -> str:
    """The reason the todo ended, as a sentence for staff."""
    said = STATUS_REASONS.get(TodoStatus(todo.status), "")
    return " ".join(dict.fromkeys(part for part in (said, todo.reason) if part))[:LONGEST_REASON]


def _log_if_held(todo: Todo) -> ConversationLog | None:
    """The log of the todo's conversation, if the running transaction holds it."""
    log = _held_log.get()
    return log if log is not None and log.conversation.pk == todo.conversation_id else None


def _queue(todo: Todo, change: str, *, delay: timedelta = timedelta()) -> None:
    if todo.conversation_id is not None:
        _enqueue(todo, todo.conversation_id, change, delay=delay)


def _enqueue(about: Todo | Promise, conversation_id: UUID, change: str, *, delay: timedelta = timedelta()) -> None:
    request = JobRequest(
        lane=LANE,
        project_id=about.project_id,
        subject_id=conversation_id,
        ordinal=0,
        key=f"{LANE}:{change}",
        run_after=timezone.now() + delay if delay else None,
    )
    enqueue([request])
