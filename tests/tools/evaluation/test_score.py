"""The score, on handmade cases."""

from __future__ import annotations

import pytest

from tools.evaluation.cases import Case, Part
from tools.evaluation.report import misses, table
from tools.evaluation.score import CaseReading, Tally, tally, tally_by, tally_by_rule, tally_by_tool

SMS, MAIL = "send_sms_tool", "send_email_tool"


def read(expect: dict[str, str], found: dict[str, str], *, language: str = "en", part: Part = Part.SEEN) -> CaseReading:
    case = Case(id="x-1", language=language, part=part, channel="chat", answer="I'll text it.", expect=expect)
    return CaseReading(case=case, outcomes=found)


RIGHT = read({SMS: "fired"}, {SMS: "fired"})
MISSED = read({SMS: "fired"}, {SMS: "offer"})
WRONG = read({MAIL: "offer"}, {MAIL: "fired"})


def test_fired_tools_are_counted() -> None:
    assert tally([RIGHT, MISSED, WRONG]) == Tally(right=1, wrong=1, missed=1)


def test_precision_and_recall() -> None:
    counted = Tally(right=3, wrong=1, missed=2)
    assert (counted.precision, counted.recall) == (0.75, 0.6)


def test_precision_is_undefined_without_claims() -> None:
    counted = tally([MISSED])
    assert counted.precision is None
    assert counted.recall == 0


@pytest.mark.parametrize(("threshold", "holds"), [(0.6, True), (0.61, False)])
def test_the_lower_figure_decides(threshold: float, holds: bool) -> None:
    assert Tally(right=3, wrong=1, missed=2).holds(threshold) is holds


def test_an_unexpected_tool_is_a_false_positive() -> None:
    assert tally([read({}, {SMS: "fired"})]) == Tally(wrong=1)


def test_a_rule_for_an_unlabeled_tool_is_not_counted() -> None:
    assert tally_by_rule([read({}, {SMS: "offer"})])["offer"] == Tally()


def test_rules_are_counted_both_ways() -> None:
    by_rule = tally_by_rule([read({SMS: "offer"}, {SMS: "negation"})])
    assert (by_rule["offer"], by_rule["negation"]) == (Tally(missed=1), Tally(wrong=1))


def test_tools_are_counted_separately() -> None:
    assert tally_by_tool([RIGHT, WRONG]) == {MAIL: Tally(wrong=1), SMS: Tally(right=1)}


def test_languages_are_counted_separately() -> None:
    german = read({SMS: "fired"}, {}, language="de")
    assert tally_by([RIGHT, german], lambda case: case.language) == {"en": Tally(right=1), "de": Tally(missed=1)}


def test_an_undefined_figure_is_shown_as_a_dash() -> None:
    assert "| fired | 0 | 0 | 1 | – | 0.000 |" in table([MISSED])


def test_held_out_misses_are_only_counted() -> None:
    hidden = read({SMS: "fired"}, {}, part=Part.HELD_OUT)
    told = misses([MISSED, hidden])
    assert len(told) == 2
    assert told[-1] == "and 1 of the held-out part"
