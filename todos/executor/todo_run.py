"""The run of an effect that a todo carries out: its call gets the result, and its conversation is told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jobs.enqueue import enqueue
from todos.approvals.job_keys import queue_callback_check, queue_retry
from todos.content.versions import time_of
from todos.executor.repeats import find_repeated
from todos.executor.results import end_call
from todos.hooks import effect_changed
from todos.models import Todo, TodoCall
from tools.engine import ledger
from tools.engine.definition import AfterActionType
from tools.engine.execution.after_actions import end_after_action
from tools.engine.execution.effect_run import Change, EffectRun
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.rules import RuleInput
from tools.models import AfterAction, AfterActionState, Effect, EffectState

NO_CONVERSATION = "The todo has no conversation."
NO_CUSTOMER = "The todo has no customer."
OPEN_CHANGES = (Change.RETRYING, Change.ACCEPTED, Change.RECEIPT)


class TodoRun(EffectRun):
    """The effect of a todo's call. The todo is locked, and so is its conversation if it has one."""

    def __init__(self, todo: Todo, call: TodoCall) -> None:
        super().__init__(effect_of(call), now=time_of(todo))
        self.todo = todo
        self.call = call

    def rule_input(self) -> RuleInput:
        return RuleInput(self.effect, self.todo.project, None, self.todo.persona_id)

    def needs_approval(self) -> bool:
        """False: the todo is the approval, and it was checked in this transaction."""
        return False

    def find_repeated(self) -> Effect | None:
        return find_repeated(self.todo, self.call.step.approval, self.effect)

    def queue_attempt(self, due_at: datetime) -> None:
        queue_retry(self.todo, self.call.step.approval, self.effect, at=due_at)

    def queue_callback_check(self, due_at: datetime) -> None:
        queue_callback_check(self.todo, self.call.step.approval, self.effect, at=due_at)

    def end(self, outcome: Outcome, *, state: EffectState) -> bool:
        """End the effect, and the call with it, also if the effect had ended already."""
        is_new = super().end(outcome, state=state)
        if not is_new and self.call.finished_at is None:
            self.close()
        return is_new

    def close(self) -> None:
        """Give the call the result of its ended effect, and tell the conversation."""
        self.changed(Change.ENDED)

    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        if change not in OPEN_CHANGES:
            end_call(self.todo, self.call, self.effect)
        effect_changed.send(self.todo, self.effect)
        self._queue_after_actions(after_actions)

    def _queue_after_actions(self, rows: Sequence[AfterAction]) -> None:
        """Queue the after-actions in their own lane. Without a conversation, only the customer's fields can be set."""
        if not rows:
            return
        if self.effect.conversation_id is not None:
            enqueue([ledger.job_for(self.effect, reason="after")])
        elif [row for row in rows if not self._is_skipped(row)]:
            enqueue([ledger.after_actions_job(self.effect)])

    def _is_skipped(self, row: AfterAction) -> bool:
        """True if an after-action without a conversation has nothing to change; its reason is stored."""
        if row.type != AfterActionType.SET_PERSONA_ATTRIBUTE:
            end_after_action(row, AfterActionState.SKIPPED, error=NO_CONVERSATION)
        elif self.todo.persona_id is None:
            end_after_action(row, AfterActionState.SKIPPED, error=NO_CUSTOMER)
        else:
            return row.state == AfterActionState.SKIPPED
        return True


def effect_of(call: TodoCall) -> Effect:
    """The effect of a call that was not refused. Raises ValueError."""
    effect: Effect | None = call.effect
    if effect is None:
        raise ValueError("This call was refused; it has no effect.")
    return effect
