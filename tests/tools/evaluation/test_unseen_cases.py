"""The sets of answers that were written without knowledge of the offline model's grammar."""

from __future__ import annotations

import pytest

from tools.engine.definition import Trigger
from tools.engine.registry import builtin_tools
from tools.evaluation.builtins import builtin_tools_for
from tools.evaluation.cases import OUTCOMES, BadCase, Part, load_cases
from tools.evaluation.unseen_cases import UnseenSet, load_unseen

FIRST, SECOND = load_unseen(UnseenSet.FIRST), load_unseen(UnseenSet.SECOND)
COMMITMENT = {name for name, tool in builtin_tools().items() if Trigger.COMMITMENT in tool.moments}
each_set = pytest.mark.parametrize("name", list(UnseenSet))


def test_the_sets_are_large_enough() -> None:
    assert len(FIRST) >= 150
    assert len(SECOND) >= 100


def test_no_answer_stands_in_two_sets() -> None:
    cases = [*load_cases(["en"]), *FIRST, *SECOND]
    assert len({case.answer for case in cases}) == len({case.id for case in cases}) == len(cases)


@each_set
def test_each_set_has_every_tool_and_outcome(name: UnseenSet) -> None:
    cases = load_unseen(name)
    assert {tool for case in cases for tool in case.expect} == COMMITMENT
    assert {outcome for case in cases for outcome in case.expect.values()} == set(OUTCOMES)


@each_set
def test_expected_tools_are_offered_on_the_channel(name: UnseenSet) -> None:
    for case in load_unseen(name):
        assert case.expects_to_fire <= {tool.name for tool in builtin_tools_for(case) if tool.is_offered}


def test_only_the_second_set_is_withheld_while_a_grammar_is_improved() -> None:
    assert {case.part for case in FIRST} == {Part.SEEN}
    assert {case.part for case in SECOND} == {Part.HELD_OUT}


def test_a_case_of_the_other_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UnseenSet, "part", Part.KEPT)
    with pytest.raises(BadCase, match=r"first\.jsonl, line 1: first-001"):
        load_unseen(UnseenSet.FIRST)
