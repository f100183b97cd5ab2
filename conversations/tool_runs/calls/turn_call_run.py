"""The run of an effect that the agent's model called while it answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conversations.live.event_log import ConversationLog
from conversations.models import TurnCall
from conversations.tool_runs.calls.call_results import end_call
from conversations.tool_runs.effects.approval import ask_for_approval
from conversations.tool_runs.effects.call_run import ALLOWED, AWAITS_APPROVAL, CallRun
from projects.models import Project
from tools.engine.execution.effect_run import Change
from tools.engine.execution.outcome import Outcome
from tools.engine.function_calling.results import result_of
from tools.models import AfterAction, EffectState

SUCCESSES = (EffectState.DONE, EffectState.HELD)


class TurnCallRun(CallRun):
    """An effect that the agent's model called while it answered. The call gets its result in the same commit."""

    def __init__(self, log: ConversationLog, call: TurnCall, *, project: Project | None = None) -> None:
        if call.effect is None:
            raise ValueError("This call has no effect.")
        super().__init__(log, call.effect, project=project)
        self.call = call
        self._outcome: Outcome | None = None

    def ask_for_approval(self) -> None:
        is_asked = ask_for_approval(self.log, self.effect)
        end_call(self.log, self.call, AWAITS_APPROVAL if is_asked else ALLOWED, is_error=False)

    def settle(self, outcome: Outcome) -> None:
        """Store the outcome and the call's result. The reply obeys the signal when it is sent; obeying it here would end
        the conversation before the reply.
        """
        self._outcome = outcome
        super().settle(replace(outcome, signal=None))
        self.close()

    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        super().announce(change, after_actions=after_actions)
        self.close()

    def close(self) -> None:
        """Give the call the result of its ended effect, once."""
        if self.call.finished_at is None:
            is_error = self.effect.state not in SUCCESSES
            end_call(self.log, self.call, result_of(self.effect), is_error=is_error, outcome=self._outcome)
