"""The run of an effect that a model called and reads the result of: nothing is retried while it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conversations.tool_runs.effects.conversation_run import ConversationRun
from jobs.enqueue import enqueue
from tools.engine import ledger
from tools.engine.definition import RetryPolicy
from tools.engine.execution.effect_run import Change
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.outcome_policy import NextStep
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
        """A read-only tool never ends unknown: it failed."""
        step = NEXT_STEPS[outcome.ending]
        is_harmless = self.effect.delivery == RetryPolicy.IDEMPOTENT and not self.effect.repeat_key
        return NextStep.FAILED if step is NextStep.UNKNOWN and is_harmless else step

    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        super().announce(change, after_actions=after_actions)
        if any(row.state == AfterActionState.PLANNED for row in after_actions):
            # In the effects' lane, so that the answer does not wait for them.
            enqueue([ledger.job_for(self.effect, reason="after")])
