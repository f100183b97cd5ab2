"""The score, on cases made by hand."""

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


def test_what_nobody_claimed_has_no_precision() -> None:
    counted = tally([MISSED])
    assert counted.precision is None
    assert counted.recall == 0


@pytest.mark.parametrize(("threshold", "holds"), [(0.6, True), (0.61, False)])
def test_the_lower_figure_decides(threshold: float, holds: bool) -> None:
    assert Tally(right=3, wrong=1, missed=2).holds(threshold) is holds


def test_a_tool_that_fires_unasked_is_wrong() -> None:
    assert tally([read({}, {SMS: "fired"})]) == Tally(wrong=1)


def test_a_rule_for_a_tool_left_open_is_no_mistake() -> None:
    assert tally_by_rule([read({}, {SMS: "offer"})])["offer"] == Tally()


def test_rules_are_counted_both_ways() -> None:
    by_rule = tally_by_rule([read({SMS: "offer"}, {SMS: "negation"})])
    assert (by_rule["offer"], by_rule["negation"]) == (Tally(missed=1), Tally(wrong=1))


def test_tools_are_counted_apart() -> None:
    assert tally_by_tool([RIGHT, WRONG]) == {MAIL: Tally(wrong=1), SMS: Tally(right=1)}


def test_languages_are_counted_apart() -> None:
    german = read({SMS: "fired"}, {}, language="de")
    assert tally_by([RIGHT, german], lambda case: case.language) == {"en": Tally(right=1), "de": Tally(missed=1)}


def test_table_shows_a_figure_that_cannot_be_had_as_a_dash() -> None:
    assert "| fired | 0 | 0 | 1 | – | 0.000 |" in table([MISSED])


def test_held_out_misses_are_counted_and_never_told() -> None:
    hidden = read({SMS: "fired"}, {}, part=Part.HELD_OUT)
    told = misses([MISSED, hidden])
    assert len(told) == 2
    assert told[-1] == "and 1 of the held-out part"
