"""The virtual environment: filled once, again when the pins change, in turns."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from config.runner import install
from tests.runner.conftest import eventually, is_running

ROOT = Path(__file__).resolve().parents[2]
# Stands for uv: notes what it was asked for, and how many of it ran at a time.
UV = """#!/bin/sh
mkdir "$0.running" || echo overlap >>"$0.calls"
echo "$@" >>"$0.calls"
rmdir "$0.running"
exit "$(cat "$0.exit")"
"""


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two requirements files and an installer that only takes notes."""
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text(f"# {name}\n")
    program = tmp_path / "path" / "uv"
    program.parent.mkdir()
    program.write_text(UV)
    program.chmod(0o755)
    Path(f"{program}.exit").write_text("0")
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(install, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    monkeypatch.setattr(install, "STAMP", tmp_path / ".venv" / "makegood-installed.json")
    return program


@pytest.fixture
def calls(uv: Path) -> Callable[[], list[str]]:
    return lambda: Path(f"{uv}.calls").read_text().splitlines()


def test_only_hashed_requirements_are_installed(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    assert "--require-hashes" in calls()[0].split()


def test_a_second_run_installs_nothing(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    install.install("requirements.txt")
    assert len(calls()) == 1


def test_an_environment_for_tests_serves_as_well(calls: Callable[[], list[str]]) -> None:
    install.install("requirements-dev.txt")
    install.install("requirements.txt")
    assert len(calls()) == 1


def test_an_environment_for_serving_is_filled_up_for_tests(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    install.install("requirements-dev.txt")
    assert len(calls()) == 2


def test_changed_pins_are_installed(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    (install.ROOT / "requirements.txt").write_text("# other pins\n")
    install.install("requirements.txt")
    assert len(calls()) == 2


def test_a_broken_environment_is_made_again(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    install.PYTHON.unlink()
    install.install("requirements.txt")
    assert len(calls()) == 2
    assert install.PYTHON.exists()


def test_a_failed_installation_is_one_sentence_and_is_tried_again(uv: Path, calls: Callable[[], list[str]]) -> None:
    Path(f"{uv}.exit").write_text("1")
    with pytest.raises(install.InstallError, match="failed; its last lines above say why"):
        install.install("requirements.txt")
    Path(f"{uv}.exit").write_text("0")
    install.install("requirements.txt")
    assert len(calls()) == 2


def test_a_stopped_installation_takes_the_installer_with_it(uv: Path) -> None:
    uv.write_text('#!/bin/sh\necho $$ >"$0.calls"\nexec sleep 600\n')
    config = install.ROOT / "config" / "runner"
    config.mkdir(parents=True)
    shutil.copy(ROOT / "config" / "runner" / "install.py", config)
    process = subprocess.Popen([sys.executable, config / "install.py", "requirements.txt"])
    noted = Path(f"{uv}.calls")
    eventually(lambda: noted.exists() and noted.read_text())
    process.terminate()
    assert process.wait(10) == 128 + signal.SIGTERM
    assert not is_running(int(noted.read_text()))


def test_without_uv_the_environment_gets_pip(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    monkeypatch.setattr(install, "PYTHON", Path(sys.executable))
    assert install._installer()[:3] == [sys.executable, "-m", "pip"]
