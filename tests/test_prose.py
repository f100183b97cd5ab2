"""The English of the code: docstrings that name what they describe, and no codes of a document outside the repository."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_architecture import ROOT, sources

RIDDLE = re.compile(r"(What|Who|Whose|Whom|Whoever|Whatever|Whether|Which|Those)\b")
# Rows and notes of the checklist, as "(N34)" or "(D16, T28)": a test carries its row as a marker.
CODE = re.compile(r"\((?:[NTLWF]\d{2}|[DMSE]\d{1,2})\b[^)\n]*\)")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text


@pytest.fixture(scope="module")
def files() -> list[Path]:
    return list(sources())


def test_docstrings_begin_with_a_noun_or_a_verb(files: list[Path]) -> None:
    riddles = [
        f"{path.relative_to(ROOT)}:{line} {text.splitlines()[0]}"
        for path in files
        for line, text in docstrings(path)
        if RIDDLE.match(text)
    ]
    assert riddles == []


def test_product_code_names_no_checklist_row(files: list[Path]) -> None:
    found = [f"{path.relative_to(ROOT)} {code}" for path in files for code in CODE.findall(path.read_text())]
    assert found == []
