"""The count of the files that a message enters sees the whole way."""

from __future__ import annotations

import pytest

from bench.files import entered_files, report, small_files
from jobs.lanes import lanes

# A way through fewer files isn't whole; one through more is no single way.
SANE = range(60, 200)
ON_THE_WAY = ("reply", "observer", "thoughts", "tool_caller", "effect")


@pytest.fixture(scope="module")
def entered() -> dict[str, set[str]]:
    return entered_files()


pytestmark = pytest.mark.slow


def test_the_number_of_files_is_sane(entered: dict[str, set[str]]) -> None:
    assert len(entered) in SANE


def test_every_lane_of_the_turn_is_entered(entered: dict[str, set[str]]) -> None:
    handlers = {lane.handler.__name__ for lane in lanes() if lane.name in ON_THE_WAY}
    assert len(handlers) == len(ON_THE_WAY)
    assert handlers <= set().union(*entered.values())


def test_web_is_watched_too(entered: dict[str, set[str]]) -> None:
    assert "Messages.post" in set().union(*entered.values())


def test_only_files_of_the_product_are_counted(entered: dict[str, set[str]]) -> None:
    assert {path.split("/")[0] for path in entered} & {".venv", "tests", "bench"} == set()


def test_the_report_names_every_file_once(entered: dict[str, set[str]]) -> None:
    lines = "\n".join(report(entered)).splitlines()
    assert sorted(line.split()[0] for line in lines if line.startswith("  ")) == sorted(entered)


def test_small_files_are_among_those_entered(entered: dict[str, set[str]]) -> None:
    small = [line.split()[0] for line in small_files(entered)]
    assert small
    assert set(small) <= set(entered)
