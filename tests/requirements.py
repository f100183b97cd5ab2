"""Writes docs/requirements.md, which lists each requirement with the tests that cover it.

A test names its rows with `@pytest.mark.requirement("N45")`, a whole module with `pytestmark`. The rows and their sentences are
in `tests/requirements.toml`. `python -m tests.requirements` writes the page; with `--check` it fails if the page is out of date.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROWS, PAGE = TESTS / "requirements.toml", TESTS.parent / "docs" / "requirements.md"
MARKER = "pytest.mark.requirement"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
INTRODUCTION = """\
# Requirements

What Makegood has to do, and the tests that cover it. A test names its rows with `@pytest.mark.requirement`.
`python -m tests.requirements` makes this page from `tests/requirements.toml` and the markers; don't edit it by hand.
"""

Coverage = dict[str, Counter[str]]
"""The number of marked test functions by row and file. Files are relative to `tests/`."""


def read_areas() -> dict[str, dict[str, str]]:
    """The requirements: sentences by row, by area."""
    return tomllib.loads(ROWS.read_text())


def read_coverage(tests: Path = TESTS) -> Coverage:
    """Collect the markers of all test modules, without importing them."""
    coverage: Coverage = {}
    for path in sorted(tests.rglob("test_*.py")):
        text = path.read_text()
        for row in marked_rows(ast.parse(text)) if MARKER in text else ():
            coverage.setdefault(row, Counter())[path.relative_to(tests).as_posix()] += 1
    return coverage


def marked_rows(module: ast.Module) -> Iterator[str]:
    """The rows that a module's tests cover, once for each test and row."""
    of_module = {row for node in module.body if _is_pytestmark(node) for row in _rows_in(node)}
    for node in ast.walk(module):
        if isinstance(node, FUNCTIONS) and node.name.startswith("test_"):
            yield from of_module.union(*map(_rows_in, node.decorator_list))


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"


def _is_marker(called: ast.expr) -> bool:
    """True for the marker's name. Writing each name out takes long."""
    return isinstance(called, ast.Attribute) and called.attr == "requirement" and ast.unparse(called) == MARKER


def _rows_in(node: ast.AST) -> set[str]:
    """The arguments of the requirement markers within a node."""
    calls = [call for call in ast.walk(node) if isinstance(call, ast.Call) and _is_marker(call.func)]
    return {ast.literal_eval(row) for call in calls for row in call.args}


def render(areas: dict[str, dict[str, str]], coverage: Coverage) -> str:
    parts = [INTRODUCTION]
    for area, rows in areas.items():
        lines = [_line(row, sentence, coverage.get(row, Counter())) for row, sentence in rows.items()]
        parts.append("\n".join([f"## {area}\n", "| Row | Requirement | Tests |", "|---|---|---|", *lines, ""]))
    return "\n".join(parts)


def _line(row: str, sentence: str, files: Counter[str]) -> str:
    links = ", ".join(f"[{file}](../tests/{file}) {count}" for file, count in sorted(files.items()))
    return f"| {row} | {sentence} | {links or 'none'} |"


def find_problems(areas: dict[str, dict[str, str]], coverage: Coverage, *, page: str) -> list[str]:
    """Sentences about markers without a row, and about a page that is out of date."""
    known = {row for rows in areas.values() for row in rows}
    unknown = [(row, file) for row, files in coverage.items() for file in files if row not in known]
    problems = [f"tests/{file} names the row {row}, which {ROWS.name} doesn't have." for row, file in sorted(unknown)]
    if page != render(areas, coverage):
        problems.append("docs/requirements.md is out of date. Run: python -m tests.requirements")
    return problems


def find_uncovered(areas: dict[str, dict[str, str]], coverage: Coverage) -> list[str]:
    return [row for rows in areas.values() for row in rows if row not in coverage]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.requirements", description="Writes docs/requirements.md.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if the page is out of date")
    is_check = parser.parse_args().check
    areas, coverage = read_areas(), read_coverage()
    if not is_check:
        PAGE.write_text(render(areas, coverage))
    problems = find_problems(areas, coverage, page=PAGE.read_text() if PAGE.exists() else "")
    uncovered = find_uncovered(areas, coverage)
    print(*problems, f"Rows without a test: {', '.join(uncovered) or 'none'}", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
