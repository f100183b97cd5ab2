"""The virtual environment: installed once, updated when the pins change, one installer at a time."""

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
# A fake uv that records its arguments, and how many of it run at a time.
UV = """#!/bin/sh
cat "$0.says" 2>/dev/null
mkdir "$0.running" || echo overlap >>"$0.calls"
echo "$@" >>"$0.calls"
rmdir "$0.running"
exit "$(cat "$0.exit")"
"""


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two requirements files and the fake uv."""
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text(f"# {name}\n")
    program = tmp_path / "path" / "uv"
    program.parent.mkdir()
    program.write_text(UV)
    program.chmod(0o755)
    Path(f"{program}.exit").write_text("0")
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.delenv("MAKEGOOD_DATA", raising=False)
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


def test_an_environment_for_tests_can_serve_too(calls: Callable[[], list[str]]) -> None:
    install.install("requirements-dev.txt")
    install.install("requirements.txt")
    assert len(calls()) == 1


def test_an_environment_for_serving_is_completed_for_tests(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    install.install("requirements-dev.txt")
    assert len(calls()) == 2


def test_changed_pins_are_installed(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    (install.ROOT / "requirements.txt").write_text("# other pins\n")
    install.install("requirements.txt")
    assert len(calls()) == 2


def test_a_broken_environment_is_recreated(calls: Callable[[], list[str]]) -> None:
    install.install("requirements.txt")
    install.PYTHON.unlink()
    install.install("requirements.txt")
    assert len(calls()) == 2
    assert install.PYTHON.exists()


def test_a_failed_installation_is_reported_and_retried(uv: Path, calls: Callable[[], list[str]]) -> None:
    Path(f"{uv}.exit").write_text("1")
    with pytest.raises(install.InstallError, match=r"failed: the last lines of .*install\.log above say why"):
        install.install("requirements.txt")
    Path(f"{uv}.exit").write_text("0")
    install.install("requirements.txt")
    assert len(calls()) == 2


def test_stopping_an_installation_stops_the_installer(uv: Path) -> None:
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
    assert install._installer(install._new_log())[:3] == [sys.executable, "-m", "pip"]


def test_the_installers_log_goes_to_a_file(uv: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path(f"{uv}.says").write_text("many lines\n" * 200)
    install.install("requirements.txt")
    shown = capfd.readouterr()
    assert "many lines" not in shown.out + shown.err
    assert (install.ROOT / ".data" / "install.log").read_text() == "many lines\n" * 200


def test_a_failure_shows_the_last_lines_of_the_log(uv: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path(f"{uv}.says").write_text("".join(f"line {number}\n" for number in range(200)))
    Path(f"{uv}.exit").write_text("1")
    with pytest.raises(install.InstallError):
        install.install("requirements.txt")
    shown = [line for line in capfd.readouterr().err.splitlines() if line.startswith("line ")]
    assert shown == [f"line {number}" for number in range(180, 200)]


def test_the_log_lies_in_the_data_directory(uv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_DATA", str(tmp_path / "elsewhere"))
    install.install("requirements.txt")
    assert (tmp_path / "elsewhere" / "install.log").exists()
    assert (tmp_path / "elsewhere").stat().st_mode & 0o066 == 0


def test_a_data_directory_that_is_a_file_is_reported_in_one_sentence(uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_DATA", str(uv))
    with pytest.raises(install.InstallError, match="set MAKEGOOD_DATA to another directory"):
        install.install("requirements.txt")


@pytest.fixture
def looks(uv: Path) -> Callable[[str], install.Step]:
    """The progress of installing two packages, for a given log of pip."""
    (install.ROOT / "requirements.txt").write_text("One.Word==1.0 \\\n    --hash=sha256:0\ntwo-words==2.0\n")
    log = install._new_log()

    def look(text: str) -> install.Step:
        log.write_text(text)
        pins = install.pinned("requirements.txt")
        step = install.Step("Installing packages", total=len(pins), is_terminal=False)
        install._look(step, pins=pins, log=log)
        return step

    return look


def test_downloads_are_counted_before_installation(looks: Callable[[str], install.Step]) -> None:
    log = (
        "Here it is\nInstalling collected packages: pip\nCollecting One.Word==1.0 (from -r requirements.txt (line 1))\n"
    )
    step = looks(log)
    assert (step.what, step.done, step.total) == ("Downloading packages", 1, 2)


def test_only_packages_of_the_pinned_version_are_counted(looks: Callable[[str], install.Step]) -> None:
    for name in ("one_word-1.0", "two_words-1.9", "other-1.0"):
        (install.VENV / "lib" / "python3.11" / "site-packages" / f"{name}.dist-info").mkdir(parents=True)
    step = looks(
        "Installing collected packages: pip\nProcessing one.whl (from -r requirements.txt (line 1))\n"
        "Installing collected packages: two-words, One.Word\n"
    )
    assert (step.what, step.done, step.total) == ("Installing packages", 1, 2)


def test_the_last_step_compiles_the_packages(looks: Callable[[str], install.Step]) -> None:
    for name in ("one_word-1.0", "two_words-2.0"):
        (install.VENV / "lib" / "python3.11" / "site-packages" / f"{name}.dist-info").mkdir(parents=True)
    assert looks("Installed 2 packages\n").what == "Compiling packages"


def test_progress_is_updated_in_place_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    step = install.Step("Installing packages", total=2, is_terminal=True)
    step.show(done=1)
    step.end(is_done=True)
    lines = capsys.readouterr().err.split("\r\x1b[K")
    assert [line.split("  (")[0] for line in lines] == ["", "Installing packages  1/2", "Installing packages  2/2"]
    assert [line.count("\n") for line in lines] == [0, 0, 1]


def test_progress_is_printed_at_intervals_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    step = install.Step("Installing packages", total=9, is_terminal=False)
    for done in range(9):
        step.show(done=done)
    step.end(is_done=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("  (")[0] for line in lines] == ["Installing packages  0/9", "Installing packages  9/9"]
