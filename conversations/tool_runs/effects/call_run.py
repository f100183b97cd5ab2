"""The run of an effect that a model called and reads the result of: nothing is retried while it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conversations.tool_runs.effects.conversation_run import ConversationRun
from jobs.enqueue import enqueue
from tools.engine import ledger
from tools.engine.definition import ActionType, Method, RetryPolicy
from tools.engine.execution.effect_run import Change
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.outcome_policy import NextStep, may_have_happened
from tools.engine.execution.run import definition_of
from tools.models import AfterAction, AfterActionState

# The agent reports a failure at once.
NEXT_STEPS: Mapping[Ending, NextStep] = {
    Ending.DONE: NextStep.DONE,
    Ending.FAILED: NextStep.FAILED,
    Ending.NOT_SENT: NextStep.FAILED,
    Ending.UNKNOWN: NextStep.UNKNOWN,
    Ending.LATER: NextStep.UNKNOWN,
}
AWAITS_APPROVAL = (
    "A colleague has to approve this first and has been asked. Tell the customer so, and never that it was done."
)
ALLOWED = "This is allowed by the business and being done now. Say so, and never that it was done already."


class CallRun(ConversationRun):
    """An effect that the model of a live session called."""

    def next_step(self, outcome: Outcome) -> NextStep:
        """A look-up never ends unknown: it failed. Anything else never ends failed if an attempt may have done it."""
        step = NEXT_STEPS[outcome.ending]
        if self._is_look_up():
            return NextStep.FAILED if step is NextStep.UNKNOWN else step
        is_uncertain = may_have_happened(self.effect, outcome)
        return NextStep.UNKNOWN if step is NextStep.FAILED and is_uncertain else step

    def _is_look_up(self) -> bool:
        """True if the effect changes nothing outside. A webhook that may be repeated does, unless it is a GET."""
        if self.effect.delivery != RetryPolicy.IDEMPOTENT or self.effect.repeat_key:
            return False
        action = definition_of(self.effect).action
        return action.type is not ActionType.SEND_WEBHOOK or action.webhook.method is Method.GET

    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        super().announce(change, after_actions=after_actions)
        if any(row.state == AfterActionState.PLANNED for row in after_actions):
            # In the effects' lane, so that the answer does not wait for them.
            enqueue([ledger.job_for(self.effect, reason="after")])
