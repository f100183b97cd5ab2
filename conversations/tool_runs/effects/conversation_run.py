"""The run of an effect in a conversation: its log says every change, and the agent is told the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from conversations.channels.receipts import catch_up
from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog
from conversations.models import WaitOutcome
from conversations.models.event import EventType
from conversations.tool_runs.effects import approval
from conversations.tool_runs.effects.effect_context import has_customer_written_between
from conversations.tool_runs.effects.outcome_events import CALLBACK, definition_or_none, tell_end
from conversations.turns.channel_signals import apply_signal
from jobs.enqueue import enqueue
from projects.models import Project
from tools.engine import ledger
from tools.engine.definition import ActionType
from tools.engine.execution.after_actions import tells
from tools.engine.execution.deduplication import find_recent_duplicate
from tools.engine.execution.effect_run import Change, EffectRun
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.rules import RuleInput
from tools.engine.presenters import effect_payload
from tools.models import AfterAction, AfterActionState, Effect, EffectState

SPOKEN_AGAIN = "The customer spoke again after the goodbye."
EVENTS: Mapping[Change, str] = {
    Change.RETRYING: "effect_retrying",
    Change.ACCEPTED: "effect_accepted",
    Change.RECEIPT: "effect_receipt",
}


class ConversationRun(EffectRun):
    """An effect that a promise of the agent led to, in the conversation whose log is open."""

    def __init__(self, log: ConversationLog, effect: Effect, *, project: Project | None = None) -> None:
        super().__init__(effect, now=log.now)
        self.log = log
        self.project = project or log.conversation.project

    def rule_input(self) -> RuleInput:
        conversation = self.log.conversation
        return RuleInput(self.effect, self.project, conversation.channel, conversation.persona_id, conversation.visitor)

    def find_repeated(self) -> Effect | None:
        return find_recent_duplicate(self.effect) or approval.find_awaiting_approval(self.effect)

    def is_repeat_asked_for(self, earlier: Effect) -> bool:
        return has_customer_written_between(self.effect, earlier)

    def is_approved(self, earlier: Effect) -> bool:
        return earlier.state == EffectState.PLANNED and approval.is_approved(earlier)

    def ask_for_approval(self) -> None:
        approval.ask_for_approval(self.log, self.effect)

    def queue_attempt(self, due_at: datetime) -> None:
        enqueue([ledger.retry_job(self.effect, run_after=due_at)])

    def queue_callback_check(self, due_at: datetime) -> None:
        reason = f"{CALLBACK}:{self.effect.attempts}"
        enqueue([ledger.job_for(self.effect, reason=reason, run_after=due_at)])

    def end(self, outcome: Outcome, *, state: EffectState) -> bool:
        """End the effect, and obey its signal to the channel. A signal that comes too late cancels it."""
        signal, effect = outcome.signal, self.effect
        if signal is not None and not apply_signal(self.log, signal, turn_id=effect.turn_id, result=outcome.result):
            outcome, state = Outcome.failed(SPOKEN_AGAIN), EffectState.CANCELLED
        is_new = super().end(outcome, state=state)
        if is_new and outcome.receipt is not None:
            catch_up(self)
        return is_new

    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        effect = self.effect
        idn = EVENTS.get(change, f"effect_{effect.state}")
        self.log.add_event(idn, payload=effect_payload(effect), type=EventType.EFFECT)
        if change is Change.HELD:
            end_wait(self.log, effect.pk, outcome=WaitOutcome.RESULT, told=effect.told)
        elif change is Change.CANCELLED:
            tell_end(self.log, effect)
        elif change is Change.ENDED:
            self._tell_end(after_actions)

    def _tell_end(self, after_actions: Sequence[AfterAction]) -> None:
        if self.effect.state == EffectState.CANCELLED:
            end_wait(self.log, self.effect.pk, outcome=WaitOutcome.FAILURE, told=SPOKEN_AGAIN)
        elif not any(self._will_tell(row) for row in after_actions):
            tell_end(self.log, self.effect)

    def _will_tell(self, row: AfterAction) -> bool:
        """True if an after-action will tell the agent the end. A tool that is itself a message needs no second one."""
        definition = definition_or_none(self.effect)
        is_message = definition is not None and definition.action.type is ActionType.SEND_URGENT_MESSAGE
        will_tell = tells(row) and row.state == AfterActionState.PLANNED
        return will_tell and not (is_message and row.options.get("message"))
