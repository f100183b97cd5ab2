"""Random scenarios."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from tests.laws.steps import (
    SENTENCES,
    UNSERVED,
    Acknowledge,
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
    Subscribe,
    Switch,
    Weather,
    Words,
    Work,
)
from tests.laws.world import CALLED_TEXT, CUSTOM, TEXT
from tools.models import EffectState

PROMISED = (*CUSTOM, TEXT)
CALLED = (*CUSTOM, CALLED_TEXT)
WEATHER = ("ok", "accepted", "bad", "busy", "broken", "dropped")
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
INDEX = st.integers(0, 2)


def seldom(labels: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(("",) * len(labels) + labels)


def readings() -> st.SearchStrategy[Reading]:
    return st.builds(Reading, tool=st.sampled_from(PROMISED), words=st.sampled_from(get_args(Words)))


@st.composite
def exchanges(draw: st.DrawFn) -> Step:
    """The agent's promises, most of which are detected, and verdicts that rest on nothing."""
    said = draw(st.lists(st.sampled_from(PROMISED), min_size=1, max_size=3, unique=True))
    unserved = draw(st.lists(st.sampled_from((UNSERVED, *SENTENCES.values())), max_size=2))
    is_read = draw(st.sampled_from((True, True, True, False)))
    found = [Reading(tool, draw(st.sampled_from(("true", "true", "twice")))) for tool in said if is_read]
    return Exchange(
        says=(*said, *(one for one in unserved if one == UNSERVED)),
        readings=(*found, *draw(st.lists(readings(), max_size=2))),
        calls=tuple(draw(st.lists(st.sampled_from(CALLED), max_size=2))),
        unserved=tuple(unserved),
        is_again=draw(st.booleans()),
        dies_at=draw(seldom(TURN_CRASHES)),
    )


def calls() -> st.SearchStrategy[Step]:
    return st.builds(
        Call, tool=st.sampled_from(CALLED), number=st.integers(1, 2), dies_at=seldom(("effect.bytes_out",))
    )


def rules() -> st.SearchStrategy[Step]:
    """Changes of the rules and of the world."""
    return st.one_of(
        st.builds(Switch, tool=st.sampled_from(PROMISED), is_open=st.booleans()),
        st.builds(Consent, is_given=st.booleans()),
        st.builds(RequireApproval, is_required=st.booleans()),
        st.builds(Weather, answer=st.sampled_from(WEATHER)),
    )


def decisions() -> st.SearchStrategy[Step]:
    """Decisions of staff, late results, and time."""
    return st.one_of(
        st.builds(Decide, verb=st.sampled_from(("approve", "approve", "reject", "cancel", "by_hand")), index=INDEX),
        st.builds(Resolve, happened=st.booleans(), index=INDEX),
        st.builds(Release, of=st.sampled_from((EffectState.HELD, EffectState.DONE)), index=INDEX),
        st.builds(
            CallBack, error=st.sampled_from(("", "", "No.")), has_token=st.sampled_from((True, False)), index=INDEX
        ),
        st.builds(Acknowledge, index=INDEX),
        st.builds(Answer, is_kept=st.booleans(), index=INDEX),
        st.builds(Pass, minutes=st.sampled_from((1, 4, 30, 90, 1_500))),
    )


def work() -> st.SearchStrategy[Step]:
    return st.builds(Work, dies_at=seldom(WORK_CRASHES), is_hurried=st.booleans())


@st.composite
def an_act(draw: st.DrawFn) -> Scenario:
    """Something is started, maybe under new rules, and then worked on, maybe under others."""
    plan = st.builds(Plan, tool=st.sampled_from(PROMISED))
    cause = draw(st.one_of(exchanges(), exchanges(), calls(), plan))
    approved = [Decide("approve", 0)] if isinstance(cause, Plan) and draw(st.booleans()) else []
    before, after = (draw(st.lists(rules(), max_size=1)) for _ in range(2))
    worked = draw(st.sampled_from((True, True, False)))
    return [
        *before,
        cause,
        *approved,
        *after,
        *([draw(work())] if worked else []),
        *draw(st.lists(decisions(), max_size=2)),
    ]


@st.composite
def scenarios(draw: st.DrawFn, *, acts: int) -> Scenario:
    """Some acts in which much may go wrong, with or without a provider for texts and a subscriber of events."""
    connected = [step for step in (Connect(), Subscribe()) if draw(st.booleans())]
    return [*connected, *(step for part in draw(st.lists(an_act(), min_size=2, max_size=acts)) for step in part)]
