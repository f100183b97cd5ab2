"""The runner of effects, the only code that moves an effect from its plan to its end.

    plan → rules → repeat? → limit? → approval? → sending → execute → settle → after-actions

An `EffectRun` is one effect inside one transaction that has locked what the effect belongs to. Execution happens between
two such transactions, in `execution.run`. Where an effect comes from decides only the hooks: who approves it, who is
told, and which job continues it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from enum import Enum

from pydantic import ValidationError

from tools.engine import ledger, receipts
from tools.engine.definition import RetryPolicy
from tools.engine.execution.after_actions import plan_after_actions
from tools.engine.execution.callback import callback_hash
from tools.engine.execution.limits import find_limit
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import (
    MAX_ATTEMPTS,
    WORKER_DIED,
    NextStep,
    may_have_happened,
    next_attempt_at,
    next_step,
)
from tools.engine.execution.rules import Refusal, RuleInput, find_refusal
from tools.engine.execution.run import definition_of
from tools.engine.promises import settle_promises
from tools.engine.receipts import ReceiptReport
from tools.models import AfterAction, Effect, EffectState, ReceiptState

_STATES = {NextStep.DONE: EffectState.DONE, NextStep.FAILED: EffectState.FAILED, NextStep.UNKNOWN: EffectState.UNKNOWN}


class Start(Enum):
    """The decision about an attempt.

    READY: `sending` is stored; execute after the commit. REPEAT: nothing is stored; ask whether the customer wants it
    again, then begin with the answer. WAITING: a person has been asked to approve it. OVER: it ended.
    """

    READY = "ready"
    REPEAT = "repeat"
    WAITING = "waiting"
    OVER = "over"


class Change(Enum):
    """A change of an effect that others are told about."""

    ENDED = "ended"
    HELD = "held"
    CANCELLED = "cancelled"
    RETRYING = "retrying"
    ACCEPTED = "accepted"
    RECEIPT = "receipt"


class EffectRun(ABC):
    """One effect in a transaction that holds the lock of what it belongs to. `now` is the database's time."""

    def __init__(self, effect: Effect, *, now: datetime) -> None:
        self.effect = effect
        self.now = now

    @abstractmethod
    def rule_input(self) -> RuleInput | None:
        """The input of the rules; None for an effect that no rule concerns."""

    @abstractmethod
    def find_repeated(self) -> Effect | None:
        """The effect that this one repeats."""

    @abstractmethod
    def announce(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        """Publish the change to the conversation or the todo. The promises are settled already."""

    @abstractmethod
    def queue_attempt(self, due_at: datetime) -> None:
        """Queue the job of the next attempt."""

    @abstractmethod
    def queue_callback_check(self, due_at: datetime) -> None:
        """Queue the job that checks whether the callback came."""

    def is_repeat_asked_for(self, earlier: Effect) -> bool:
        """True if the customer may have asked for the effect once more, so that a model has to be asked."""
        return False

    def is_approved(self, earlier: Effect) -> bool:
        """True if a planned effect that this one repeats needs no further approval."""
        return False

    def needs_approval(self) -> bool:
        """True if a person has to approve the effect before its first attempt."""
        return ledger.needs_approval(self.effect)

    def ask_for_approval(self) -> None:
        """Ask a person to approve the effect."""
        raise NotImplementedError

    def _find_refusal(self, read: RuleInput | None) -> Refusal | None:
        """The rule that refuses the effect now, or None."""
        if read is None:
            return None
        refusal = find_refusal(read)
        if refusal is None and self.effect.state == EffectState.PLANNED and read.needs_approval:
            ledger.require_approval(self.effect)
        return refusal

    def begin(self, *, is_repeat_wanted: bool | None = None) -> Start:
        """Decide about the next attempt, and store `sending` if it may be made.

        `is_repeat_wanted` is the answer to REPEAT, None before it was asked.
        """
        effect = self.effect
        if effect.state not in ledger.OPEN:
            return Start.OVER
        if self._is_abandoned():
            self.fail(effect.error or WORKER_DIED)
            return Start.OVER
        read = self.rule_input()
        if refusal := self._find_refusal(read):
            self.refuse(refusal)
            return Start.OVER
        if effect.state == EffectState.PLANNED and (stopped := self._stop(read, is_repeat_wanted)) is not None:
            return stopped
        is_begun = ledger.begin_sending(effect, callback_hash=callback_hash(effect, definition_of(effect)))
        return Start.READY if is_begun else Start.OVER

    def refuse(self, refusal: Refusal) -> None:
        """End the effect because a rule refuses it."""
        if self.effect.state == EffectState.SENDING:
            self.fail(refusal.reason, told=refusal.told)
        elif refusal.is_withdrawal:
            self.cancel(refusal.reason)
        else:
            self.end(Outcome.failed(refusal.reason, told=refusal.told), state=EffectState.FAILED)

    def settle(self, outcome: Outcome) -> None:
        """Store an attempt's outcome with all its consequences. An effect that has ended does not change."""
        step = self.next_step(outcome)
        if step is NextStep.AGAIN:
            self._try_again(outcome)
        elif step is NextStep.LATER:
            self._wait_for_callback(outcome)
        else:
            self.end(outcome, state=_STATES[step])

    def fail(self, reason: str, *, told: str = "") -> None:
        """End an effect that cannot be continued: as unknown if it may have happened, else as failed.

        `told` replaces the reason in what the agent is told about a failed one.
        """
        may_have = self.effect.state == EffectState.SENDING or self.effect.is_uncertain
        self.end(Outcome.failed(reason, told=told), state=EffectState.UNKNOWN if may_have else EffectState.FAILED)

    def cancel(self, reason: str) -> bool:
        """Cancel a planned effect. Return False if it was started or is over."""
        if not ledger.cancel(self.effect, reason=reason):
            return False
        self.changed(Change.CANCELLED)
        return True

    def end(self, outcome: Outcome, *, state: EffectState) -> bool:
        """End the effect in `state`, with all its consequences. Return False if it had ended already."""
        if not ledger.store_outcome(self.effect, outcome, state=state):
            return False
        if outcome.receipt is not None and state == EffectState.DONE:
            receipts.expect(self.effect, outcome.receipt)
        receipts.obey(self.effect)
        self.changed(Change.ENDED, after_actions=self._plan_after_actions())
        return True

    def report(self, report: ReceiptReport) -> bool:
        """Move the receipt of the effect's message forward, with all its consequences.

        Return False for a report that changes nothing. While an attempt is made, the report waits for its end.
        """
        if not receipts.advance(self.effect, report):
            return False
        is_new_end = receipts.obey(self.effect)
        if self.effect.state in ledger.OPEN:
            return True
        # A receipt that never came is a matter of staff: the customer was told that it was sent, and it was.
        if is_new_end and report.state != ReceiptState.UNKNOWN:
            self.changed(Change.ENDED, after_actions=self._plan_after_actions())
        else:
            self.changed(Change.RECEIPT)
        return True

    def changed(self, change: Change, *, after_actions: Sequence[AfterAction] = ()) -> None:
        """Settle the effect's promises, and announce the change."""
        settle_promises(self.effect)
        self.announce(change, after_actions=after_actions)

    def next_step(self, outcome: Outcome) -> NextStep:
        """The next step after an attempt."""
        return next_step(self.effect, outcome, now=self.now)

    def _is_abandoned(self) -> bool:
        """True if a worker died during an attempt that can't be repeated."""
        effect = self.effect
        can_repeat = effect.delivery != RetryPolicy.ONCE and effect.attempts < MAX_ATTEMPTS
        return effect.state == EffectState.SENDING and not can_repeat

    def _stop(self, read: RuleInput | None, is_repeat_wanted: bool | None) -> Start | None:
        """Hold a repeat, fail an effect over its limit, or ask for approval. Return None if nothing stops the effect."""
        effect = self.effect
        earlier = None if effect.resolved_at is not None or is_repeat_wanted else self.find_repeated()
        if earlier is not None:
            if is_repeat_wanted is None and self.is_repeat_asked_for(earlier):
                return Start.REPEAT
            if ledger.hold_back(effect, earlier, is_allowed=self.is_approved(earlier)):
                self.changed(Change.HELD)
            return Start.OVER
        if read is not None:
            effect.visitor = read.visitor_limited
        if reached := find_limit(effect, policy=read.limits if read is not None else None):
            self.end(Outcome.failed(reached.reason, told=reached.told), state=EffectState.FAILED)
            return Start.OVER
        if self.needs_approval():
            self.ask_for_approval()
            return Start.WAITING
        return None

    def _try_again(self, outcome: Outcome) -> None:
        due_at = next_attempt_at(self.effect, outcome, now=self.now) or self.now
        if ledger.requeue(self.effect, outcome, is_uncertain=may_have_happened(self.effect, outcome)):
            self.queue_attempt(due_at)
            self.changed(Change.RETRYING)

    def _wait_for_callback(self, outcome: Outcome) -> None:
        if ledger.mark_accepted(self.effect, outcome):
            self.queue_callback_check(self.now + ledger.CALLBACK_TIMEOUT)
            self.changed(Change.ACCEPTED)

    def _plan_after_actions(self) -> Sequence[AfterAction]:
        """Plan the after-actions of an effect whose outcome is known, once."""
        if self.effect.state == EffectState.UNKNOWN or not self.effect.definition.get("after_actions"):
            return ()
        try:
            definition = definition_of(self.effect)
        except ValidationError:
            return ()
        if AfterAction.objects.filter(effect=self.effect).exists():
            return ()
        return plan_after_actions(self.effect, definition)
