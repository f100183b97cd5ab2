"""Random scenarios."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from tests.laws.steps import (
    SENTENCES,
    UNSERVED,
    Answer,
    Call,
    CallBack,
    Connect,
    Consent,
    Decide,
    Exchange,
    Pass,
    Plan,
    Reading,
    Release,
    RequireApproval,
    Resolve,
    Scenario,
    Step,
    Switch,
    Weather,
    Words,
    Work,
)
from tests.laws.world import CALLED_TEXT, CUSTOM, TEXT
from tools.models import EffectState

PROMISED = (*CUSTOM, TEXT)
CALLED = (*CUSTOM, CALLED_TEXT)
TURN_CRASHES = (
    "turn.claimed",
    "turn.llm_done_pre_commit",
    "hop.llm_done_pre_commit",
    "hop.sending_pre_bytes",
    "effect.bytes_out",
    "hop.response_pre_commit",
    "hop.settled_pre_next",
    "lane.claimed",
    "lane.llm_done_pre_commit",
    "lane.committed",
)
WORK_CRASHES = (
    "lane.claimed",
    "effect.planned",
    "effect.sending_pre_bytes",
    "effect.bytes_out",
    "effect.response_pre_commit",
    "effect.committed_pre_after_actions",
    "todo.claimed",
    "todo.step_committed",
    "todo.last_step_pre_final",
)
NO_CRASH = st.just("")
INDEX = st.integers(0, 3)
STEPS = 9


def _crash(labels: tuple[str, ...]) -> st.SearchStrategy[str]:
    return NO_CRASH | NO_CRASH | st.sampled_from(labels)


def readings() -> st.SearchStrategy[Reading]:
    words = st.just("true") | st.sampled_from(get_args(Words))
    return st.builds(Reading, tool=st.sampled_from(PROMISED), words=words)


def exchanges() -> st.SearchStrategy[Step]:
    """Promises that are detected, in the main, and verdicts without words."""
    promises = st.lists(st.sampled_from(PROMISED), max_size=3, unique=True)
    return st.builds(
        lambda said, detected, others, **more: Exchange(
            says=(*said, *(one for one in more["unserved"] if one == UNSERVED)),
            readings=(*(Reading(tool) for tool in said if detected), *others),
            **more,
        ),
        said=promises,
        detected=st.booleans() | st.just(True),
        others=st.lists(readings(), max_size=2).map(tuple),
        calls=st.lists(st.sampled_from(CALLED), max_size=2).map(tuple),
        unserved=st.lists(st.sampled_from((UNSERVED, *SENTENCES.values())), max_size=2).map(tuple),
        dies_at=_crash(TURN_CRASHES),
    )


def steps() -> st.SearchStrategy[Step]:
    work = st.builds(Work, dies_at=_crash(WORK_CRASHES), is_hurried=st.booleans())
    decisions = st.builds(Decide, verb=st.sampled_from(("approve", "approve", "reject", "cancel", "by_hand")), index=INDEX)
    return st.one_of(
        exchanges(),
        exchanges(),
        work,
        work,
        st.builds(
            Call, tool=st.sampled_from(CALLED), number=st.integers(1, 2), dies_at=_crash(("effect.bytes_out",))
        ),
        st.builds(Plan, tool=st.sampled_from(PROMISED)),
        decisions,
        decisions,
        st.builds(Resolve, happened=st.booleans(), index=INDEX),
        st.builds(Release, of=st.sampled_from((EffectState.HELD, EffectState.DONE)), index=INDEX),
        st.builds(CallBack, error=st.sampled_from(("", "", "No.")), has_token=st.booleans() | st.just(True), index=INDEX),
        st.builds(Answer, is_kept=st.booleans(), index=INDEX),
        st.builds(Switch, tool=st.sampled_from(PROMISED), is_open=st.booleans()),
        st.builds(Consent, is_given=st.booleans()),
        st.builds(RequireApproval, is_required=st.booleans()),
        st.builds(Connect),
        st.builds(Weather, answer=st.sampled_from(("ok", "accepted", "bad", "busy", "broken", "dropped"))),
        st.builds(Pass, minutes=st.sampled_from((1, 4, 30, 90, 1_500))),
    )


def scenarios() -> st.SearchStrategy[Scenario]:
    return st.lists(steps(), min_size=2, max_size=STEPS)
