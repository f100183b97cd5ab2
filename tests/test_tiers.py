"""`bin/test` alone runs a part of the suite, in which each room has tests; CI runs all of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.durations import is_there, long_tests
from tests.services import shares_tests_out
from tests.test_architecture import APART, FLOORS

ROOT = Path(__file__).resolve().parents[1]
# Tests of `config` stand in folders of what it starts and answers.
FOLDERS = {*FLOORS, APART, "runner", "laws"} - {"config"}
SHARED = "-n 3 --dist loadfile --no-loadscope-reorder"
Ask = Callable[..., str]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The arguments that bin/test gives to pytest, in a tree with one test."""
    monkeypatch.delenv("MAKEGOOD_TEST_PROCESSES", raising=False)
    for folder in ("bin", "config/runner", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "bin" / "test", tmp_path / "bin")
    (tmp_path / "tests" / "test_one.py").touch()
    (tmp_path / "config" / "runner" / "python.sh").write_text(
        f'root={tmp_path}\ninstall_and_run() {{ shift 3; printf "%s" "$*"; }}\n'
    )
    command = ["sh", str(tmp_path / "bin" / "test")]
    return lambda *words: subprocess.run([*command, *words], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ([], f"-m not slow and not whole {SHARED}"),
        (["-x"], "-m not slow and not whole -x"),
        (["--all"], f"-m not slow {SHARED}"),
        (["--slow"], SHARED),
        (["--all", "--slow"], SHARED),
        (["tests/test_one.py"], "-m not slow tests/test_one.py"),
        (["-q", "tests/test_one.py::test_it[a]"], "-m not slow -q tests/test_one.py::test_it[a]"),
        (["--slow", "tests"], "tests"),
        (["-k", "passkeys"], "-m not slow -k passkeys"),
        (["-m", "browser", "tests"], "-m browser tests"),
    ],
)
def test_the_arguments_decide_the_tier(words: list[str], given: str, ask: Ask) -> None:
    assert ask(*words) == given


def test_ci_runs_all_tiers() -> None:
    assert 'bin/test --all "$@"' in (ROOT / ".ci" / "run").read_text()
    assert re.search(r"- run: \.ci/run$", (ROOT / ".github" / "workflows" / "ci.yml").read_text(), re.MULTILINE)


def test_a_removed_test_leaves_the_list() -> None:
    assert is_there("tests/test_tiers.py::test_ci_runs_all_tiers")
    assert not is_there("tests/test_tiers.py::test_that_was_removed")
    assert not is_there("tests/test_of_no_file.py::test_ci_runs_all_tiers")


def test_the_shortest_test_of_a_file_is_never_long() -> None:
    seconds = {"a.py::one": 9.0, "a.py::two[x]": 0.1, "a.py::two[y]": 8.0, "b.py::three": 0.9, "b.py::four": 0.2}
    before = frozenset({"a.py::two", "c.py::five"})
    assert long_tests(seconds, before) == {"a.py::one", "b.py::three", "c.py::five"}


@pytest.mark.whole
def test_every_room_has_tests_in_the_quick_tier() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow and not whole", "tests"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.split("/")[1] for line in listed.splitlines() if line.startswith("tests/")} >= FOLDERS


@pytest.mark.parametrize(
    ("arguments", "does"),
    [
        ("-n3", True),
        ("-n auto", True),
        ("--numprocesses=10", True),
        ("-n0", False),
        ("-n 0", False),
        ("-q tests/-n", False),
    ],
)
def test_only_a_run_in_several_processes_has_a_controller(arguments: str, does: bool) -> None:
    """The controller starts no servers, and `-n 0` has none."""
    assert shares_tests_out(arguments.split()) is does
