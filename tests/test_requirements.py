"""docs/requirements.md is current, and the command detects when it isn't."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.requirements import PAGE, find_problems, find_uncovered, marked_rows, read_areas, read_coverage, render

AREAS = {"Payments": {"P01": "A payment is made once.", "P02": "A refund is approved."}}
MODULE = """\
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.requirement("P01")]


@pytest.mark.requirement("P01", "P02")
async def test_both(): ...


def test_one(): ...


@pytest.mark.requirement("P03")
def helper(): ...
"""


def test_the_page_is_current() -> None:
    areas, coverage = read_areas(), read_coverage()
    assert find_problems(areas, coverage, page=PAGE.read_text()) == []


def test_every_row_has_a_test() -> None:
    assert find_uncovered(read_areas(), read_coverage()) == []


def test_every_row_belongs_to_one_area() -> None:
    rows = [row for area in read_areas().values() for row in area]
    assert len(rows) == len(set(rows))


def test_markers_of_functions_and_modules_are_counted() -> None:
    assert sorted(marked_rows(ast.parse(MODULE))) == ["P01", "P01", "P02"]


def test_files_are_counted_by_row(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "test_paying.py").write_text(MODULE)
    (tmp_path / "shop" / "paying.py").write_text(MODULE)
    coverage = read_coverage(tmp_path)
    assert coverage == {"P01": {"shop/test_paying.py": 2}, "P02": {"shop/test_paying.py": 1}}
    assert "| P01 | A payment is made once. | [shop/test_paying.py](../tests/shop/test_paying.py) 2 |" in render(
        AREAS, coverage
    )


def test_an_unknown_row_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "test_paying.py").write_text(MODULE.replace("P02", "P99"))
    coverage = read_coverage(tmp_path)
    problems = find_problems(AREAS, coverage, page=render(AREAS, coverage))
    assert [("P99" in problem, "test_paying.py" in problem) for problem in problems] == [(True, True)]
    assert find_uncovered(AREAS, coverage) == ["P02"]


def test_an_outdated_page_is_a_problem() -> None:
    assert len(find_problems(AREAS, {}, page=render(AREAS, {}) + "\n")) == 1
