"""What a conversation learns of its todos: what becomes of effects and promises at once, its log and the agent right after.

A todo is locked by whoever changes it, and a conversation is always locked before what is about it. So the change itself
settles effects and promises, and queues a job, which then locks the conversation. A run that ends an effect locks the
conversation before its todo (`hold_back`), and writes all of it into its log in the same commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from uuid import UUID

from conversations.followups.proactive import say_proactively
from conversations.live.event_log import ConversationLog, job_log, open_log
from conversations.models.event import EventType
from conversations.tool_runs.effects.outcome_events import sentence_of, tell_end
from jobs.enqueue import JobRequest, enqueue
from jobs.errors import WrongState
from jobs.lanes import ClaimedJob
from jobs.models import State
from tenancy.threads import in_db
from todos.content.lifecycle import CLOCK
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import cancel_todo
from tools.engine import ledger
from tools.engine.definition import ActionType
from tools.engine.execution.after_actions import tells
from tools.engine.presenters import effect_payload
from tools.engine.promises import break_promises, close_promise, identical_promises, note_made_good, settle_promises
from tools.models import AfterActionState, Effect, EffectOrigin, EffectState, Promise, PromiseState

LANE = "todo_news"
# What the agent arranged in the conversation: promised, or called while it answered.
ARRANGED = (EffectOrigin.COMMITMENT, EffectOrigin.TURN)
OVER = frozenset({EffectState.DONE, EffectState.FAILED, EffectState.UNKNOWN})
REFUSED = frozenset({TodoStatus.REJECTED, TodoStatus.CANCELLED, TodoStatus.EXPIRED})
# What a person's word on a promise still stops: a todo that runs goes on.
STOPPABLE = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)
# What the end of a todo means for the promise that it was made for, because no tool could keep it.
ENDS = {
    TodoStatus.COMPLETED: PromiseState.KEPT,
    TodoStatus.REJECTED: PromiseState.WITHDRAWN,
    TodoStatus.CANCELLED: PromiseState.WITHDRAWN,
    TodoStatus.EXPIRED: PromiseState.BROKEN,
    TodoStatus.FAILED: PromiseState.BROKEN,
}
WORDS = {
    TodoStatus.COMPLETED: "A colleague saw to it.",
    TodoStatus.REJECTED: "A colleague decided against it.",
    TodoStatus.CANCELLED: "A colleague took it back.",
    TodoStatus.EXPIRED: "Nobody approved it in time.",
    TodoStatus.FAILED: "It was tried, and failed.",
}
LONGEST_REASON = 300
TOLD = "“{quote}” will not happen as you promised. {reason} Tell the customer so, and don't promise it again."

# The log of the conversation that the running transaction holds.
_held: ContextVar[ConversationLog | None] = ContextVar("_held", default=None)


def on_todo_changed(todo: Todo, what: str) -> None:
    """A todo's history has a new entry: settle what hung on it, and tell the conversation, or queue what it learns."""
    status = TodoStatus(todo.status)
    if status in REFUSED and todo.effect is not None:
        _refuse(todo.effect, reason=_reason(todo), is_late=status is TodoStatus.EXPIRED)
    elif status is TodoStatus.COMPLETED and todo.source == TodoSource.MAKE_GOOD and todo.promise_id is not None:
        note_made_good(todo.promise_id)
    elif status in ENDS and todo.source == TodoSource.PROMISE and todo.promise_id is not None:
        for promise_id in identical_promises(todo.promise_id):
            close_promise(promise_id, state=ENDS[status], reason=_reason(todo))
    if (log := _held_of(todo)) is not None:
        _tell_todo(log, todo, what=what, status=status)
    else:
        _queue(todo, f"todo:{todo.pk}:{what}:{status}:{todo.version}")


@contextmanager
def hold_back(conversation_id: UUID) -> Iterator[None]:
    """Lock the conversation of a todo for a transaction that may end one of its effects: what then happens needs no job."""
    with open_log(conversation_id) as log:
        before = _held.set(log)
        try:
            yield
        finally:
            _held.reset(before)


def on_effect_changed(todo: Todo, effect: Effect) -> None:
    """An effect that a todo runs went over into another state, and its promises with it: the conversation learns of it."""
    if (log := _held_of(todo)) is not None:
        _tell_effect(log, effect, state=EffectState(effect.state))
    else:
        _queue(todo, f"effect:{effect.pk}:{effect.state}:{effect.attempts}")


def on_promise_answered(promise: Promise) -> None:
    """A person has answered a promise: what was still to be approved for it is taken back, by the job.

    Not here: a todo is locked before its promise, and the promise is ours already.
    """
    if Todo.objects.filter(promise=promise, status__in=STOPPABLE).exists():
        _enqueue(promise, promise.conversation_id, f"promise:{promise.pk}:{promise.state}")


async def run_todo_news(job: ClaimedJob) -> None:
    """Write one piece of news into the conversation's log, and tell the agent where it matters."""
    await in_db(_tell, job)


def _tell(job: ClaimedJob) -> None:
    _, kind, subject, *words = job.key.split(":")
    with job_log(job, job.subject_id, finish=State.DONE) as log:
        if kind == "promise":
            _take_back(Promise.objects.get(pk=UUID(subject)))
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
    if effect.origin not in ARRANGED or effect.state != state or state not in OVER:
        return
    is_event = effect.definition.get("action", {}).get("type") == ActionType.SEND_EVENT
    if state == EffectState.DONE and is_event and effect.origin == EffectOrigin.COMMITMENT:
        # The tool's own event, which is written before it begins where no approval is asked (N44).
        log.add_event(effect.tool, payload={"effect": str(effect.pk), "arguments": effect.arguments})
    if not any(tells(row) for row in effect.after_actions.exclude(state=AfterActionState.SKIPPED)):
        _tell_end(log, effect)


def _tell_end(log: ConversationLog, effect: Effect) -> None:
    """What the agent called itself it was told a yes is awaited for, or given, and nothing since: it says now what came of it."""
    if effect.origin == EffectOrigin.TURN:
        say_proactively(log, sentence_of(effect), {"effect": str(effect.pk)})
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
    elif todo.source == TodoSource.PROMISE and status in REFUSED and _has_ended_its_promise(todo):
        say_proactively(log, TOLD.format(quote=todo.quote, reason=_reason(todo)), {"todo": str(todo.pk)})


def _has_ended_its_promise(todo: Todo) -> bool:
    """Whether the promise ended with the todo, and not before, by somebody's word."""
    return todo.promise is not None and todo.promise.reason == _reason(todo)


def _take_back(promise: Promise) -> None:
    for todo in Todo.objects.filter(promise=promise, status__in=STOPPABLE):
        with suppress(WrongState):  # somebody was faster
            cancel_todo(todo.pk, actor=CLOCK, reason=promise.reason or "Its promise is answered.")


def _refuse(effect: Effect, *, reason: str, is_late: bool) -> None:
    """What was never approved is not done; a promise for which nobody decided in time is broken, any other withdrawn."""
    if is_late and effect.state == EffectState.PLANNED:
        break_promises(effect, reason=reason)
    if ledger.cancel(effect, reason=reason):
        settle_promises(effect)


def _reason(todo: Todo) -> str:
    """Why it ended so, in words."""
    said = WORDS.get(TodoStatus(todo.status), "")
    return " ".join(dict.fromkeys(part for part in (said, todo.reason) if part))[:LONGEST_REASON]


def _held_of(todo: Todo) -> ConversationLog | None:
    """The log of the todo's conversation, if the running transaction holds it."""
    log = _held.get()
    return log if log is not None and log.conversation.pk == todo.conversation_id else None


def _queue(todo: Todo, news: str) -> None:
    if todo.conversation_id is not None:
        _enqueue(todo, todo.conversation_id, news)


def _enqueue(about: Todo | Promise, conversation_id: UUID, news: str) -> None:
    request = JobRequest(
        lane=LANE, project_id=about.project_id, subject_id=conversation_id, ordinal=0, key=f"{LANE}:{news}"
    )
    enqueue([request])
