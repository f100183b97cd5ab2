"""The evaluation set: size, spread, and a held-out third determined by the id alone."""

from __future__ import annotations

from collections import Counter

import pytest

from tools.engine.definition import Trigger
from tools.engine.registry import builtin_tools
from tools.evaluation.builtins import builtin_tools_for
from tools.evaluation.cases import FIRED, OUTCOMES, BadCase, Case, Part, languages, load_cases, part_of

CASES = load_cases()
ENGLISH = [case for case in CASES if case.language == "en"]
# The five exclusion rules of the specification.
EXCLUSION_RULES = ("in_progress", "completed", "future_step", "offer", "subject")
# A goodbye can't be in progress.
IMPOSSIBLE = {("end_conversation_tool", "in_progress")}

# What is found in the agent's answers; tools for todos alone aren't.
COMMITMENT = {name for name, tool in builtin_tools().items() if Trigger.COMMITMENT in tool.moments}
by_tool = pytest.mark.parametrize("tool", sorted(COMMITMENT))


def test_the_set_is_large_enough() -> None:
    assert len(CASES) >= 450
    assert len(ENGLISH) >= 400


def test_the_set_has_english_and_three_other_languages() -> None:
    assert languages()[0] == "en"
    assert len(languages()) >= 4
    assert min(Counter(case.language for case in CASES).values()) >= 40


def test_ids_and_answers_are_unique() -> None:
    assert len({case.id for case in CASES}) == len({(case.language, case.answer) for case in CASES}) == len(CASES)


def test_a_third_is_held_out_in_english() -> None:
    held_out = sum(case.part is Part.HELD_OUT for case in ENGLISH)
    assert 0.28 < held_out / len(ENGLISH) < 0.39


def test_the_hash_of_the_id_determines_the_part() -> None:
    assert [part_of(f"en-{number:03}") for number in (1, 2)] == [Part.SEEN, Part.HELD_OUT]


@by_tool
def test_each_tool_fires_several_times(tool: str) -> None:
    assert sum(case.expect.get(tool) == FIRED for case in ENGLISH) >= 8


@pytest.mark.parametrize("rule", EXCLUSION_RULES)
def test_each_exclusion_rule_holds_back_each_tool(rule: str) -> None:
    held_back = {tool for case in ENGLISH for tool, outcome in case.expect.items() if outcome == rule}
    assert COMMITMENT - held_back == {tool for tool, one in IMPOSSIBLE if one == rule}


@by_tool
def test_each_tool_is_held_back_by_negation_and_quotation(tool: str) -> None:
    assert {"negation", "quotation"} <= {case.expect.get(tool) for case in ENGLISH}


@pytest.mark.parametrize("language", languages())
def test_each_language_has_every_outcome_and_tool(language: str) -> None:
    cases = [case for case in CASES if case.language == language]
    assert {outcome for case in cases for outcome in case.expect.values()} == set(OUTCOMES)
    assert {tool for case in cases for tool in case.expect} == COMMITMENT


def test_many_answers_promise_two_things() -> None:
    assert sum(len(case.expects_to_fire) > 1 for case in ENGLISH) >= 10


def test_many_answers_mention_a_tool_without_firing_it() -> None:
    assert sum(not case.expect for case in ENGLISH) >= 30


def test_expected_tools_are_offered_on_the_channel() -> None:
    offered = {case.channel: {tool.name for tool in builtin_tools_for(case) if tool.is_offered} for case in CASES}
    assert all(case.expects_to_fire <= offered[case.channel] for case in CASES)
    assert offered["phone"] == COMMITMENT


def test_an_unknown_outcome_is_refused() -> None:
    with pytest.raises(ValueError, match="'maybe' is none of"):
        Case.model_validate({**ENGLISH[0].model_dump(), "expect": {"send_sms_tool": "maybe"}})


def test_a_language_without_a_set_is_refused() -> None:
    with pytest.raises(BadCase, match="no set for xx"):
        load_cases(["xx"])
