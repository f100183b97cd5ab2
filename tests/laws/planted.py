"""Plausible bugs, planted into this process to verify that the checker finds each of them in a short scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.db.models import Q

from console.promises import metrics
from conversations.promises import apply_verdicts
from tests.laws.steps import (
    SENTENCES,
    UNSERVED,
    Call,
    Connect,
    Consent,
    Decide,
    Exchange,
    Plan,
    Reading,
    Scenario,
    Subscribe,
    Switch,
    Weather,
    Work,
)
from tests.laws.world import CREW, KITCHEN, REFUND, TEXT, WISH
from tools.engine import promises, verdicts
from tools.engine.analysis.exchange import Detections
from tools.engine.execution import effect_run, rules, run
from tools.engine.execution.effect_run import EffectRun
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.skills.detect import Unserved
from tools.models import Effect, EffectState, Evidence


@dataclass(frozen=True)
class Bug:
    """A bug, the sentence that it breaks, and a scenario in which it does."""

    breaks: str
    plant: Callable[[pytest.MonkeyPatch], None]
    scenario: Scenario


def promised(*tools: str, **more: Any) -> Exchange:
    return Exchange(says=tools, readings=tuple(Reading(tool) for tool in tools), **more)


def without_rule(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    left: Sequence[Any] = [check for check in rules.CHECKS if check.__name__ != name]
    assert len(left) == len(rules.CHECKS) - 1
    return lambda patch: patch.setattr(rules, "CHECKS", left)


def quotes_unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(verdicts, "_with_words", lambda judgement, *, exchange: judgement)


def approval_skipped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EffectRun, "needs_approval", lambda run: False)


def done_is_evidence(patch: pytest.MonkeyPatch) -> None:
    def evidence_of(effect: Effect) -> Evidence:
        return Evidence.EFFECT if effect.state == EffectState.DONE else Evidence.NONE

    patch.setattr(promises, "evidence_of", evidence_of)


def accepted_is_done(patch: pytest.MonkeyPatch) -> None:
    def end(run: EffectRun, outcome: Outcome) -> None:
        run.end(Outcome.done("", adapter=outcome.adapter), state=EffectState.DONE)

    patch.setattr(EffectRun, "_wait_for_callback", end)


def unheard_is_done(patch: pytest.MonkeyPatch) -> None:
    async def deliver(*_: Any) -> Outcome:
        return Outcome.done("It was passed on.", adapter="event")

    patch.setattr(apply_verdicts, "without_subscriber", lambda *_: set())
    patch.setattr(run, "deliver_event", deliver)


def lost_answer_is_success(patch: pytest.MonkeyPatch) -> None:
    judge = effect_run.next_step

    def next_step(effect: Effect, outcome: Outcome, **more: Any) -> Any:
        return judge(effect, Outcome.done("") if outcome.ending is Ending.UNKNOWN else outcome, **more)

    patch.setattr(effect_run, "next_step", next_step)


def dead_attempt_is_repeated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(EffectRun, "_is_abandoned", lambda run: False)


def deadlines_never_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(promises, "_break_overdue", lambda: None)


def effects_without_jobs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(apply_verdicts, "enqueue", lambda requests: None)


def served_counts_as_unserved(patch: pytest.MonkeyPatch) -> None:
    def unserved(found: Detections, answer: str, **_: Any) -> list[Unserved]:
        return list(found.without_history.unserved) if found.without_history else []

    patch.setattr(Detections, "unserved", unserved)


def not_sent_is_in_the_share(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(metrics, "NOT_SENT", Q(pk=None))
    # Compiled once, and so before the bug.
    patch.setattr(metrics, "_TOTALS", metrics._totals())


BUGS = {
    "consent is not asked for": Bug(
        "rules", without_rule("_consent"), [Connect(), promised(TEXT), Consent(is_given=False), Work()]
    ),
    "a todo does not ask for consent": Bug(
        "rules",
        without_rule("_consent"),
        [Connect(), Plan(TEXT), Decide("approve"), Consent(is_given=False), Work()],
    ),
    "gates are not asked": Bug("rules", without_rule("_gate"), [promised(CREW), Switch(CREW, is_open=False), Work()]),
    "approval is skipped": Bug("rules", approval_skipped, [promised(REFUND), Work()]),
    "approval is skipped in a turn": Bug("rules", approval_skipped, [Exchange(calls=(REFUND,))]),
    "approval is skipped in a call": Bug("rules", approval_skipped, [Call(REFUND)]),
    "an attempt of a dead worker is repeated": Bug(
        "rules", dead_attempt_is_repeated, [promised(CREW), Work(dies_at="effect.response_pre_commit"), Work()]
    ),
    "quotes are not checked": Bug("words", quotes_unchecked, [Exchange(readings=(Reading(CREW, "invented"),))]),
    "verdicts without a quote fire": Bug("words", quotes_unchecked, [Exchange(readings=(Reading(KITCHEN, "empty"),))]),
    "the outbox keeps promises": Bug("evidence", done_is_evidence, [promised(TEXT), Work()]),
    "an event that was only accepted keeps promises": Bug(
        "evidence", accepted_is_done, [Subscribe(), Weather("accepted"), promised(WISH), Work()]
    ),
    "an event without a subscriber is done": Bug("evidence", unheard_is_done, [promised(WISH), Work()]),
    "a lost answer is a success": Bug("evidence", lost_answer_is_success, [Weather("dropped"), promised(CREW), Work()]),
    "deadlines never end": Bug(
        "end", deadlines_never_end, [Weather("dropped"), promised(CREW, unserved=(UNSERVED,)), Work()]
    ),
    "effects have no job": Bug("end", effects_without_jobs, [promised(CREW)]),
    "a served promise is also unserved": Bug(
        "count", served_counts_as_unserved, [promised(CREW, unserved=(SENTENCES[CREW],))]
    ),
    "what was not sent is in the share": Bug("count", not_sent_is_in_the_share, [promised(TEXT), Work()]),
}
