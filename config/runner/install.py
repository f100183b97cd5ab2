"""Creates the virtual environment and installs the pinned, hashed requirements. Standard library only.

bin/serve and bin/test run `python config/runner/install.py requirements.txt [command …]` with the machine's Python 3.11
or newer. It then replaces itself with the command. If the environment already matches the requirements' hash, nothing
is installed. Concurrent runs wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "makegood-installed.json"
# Each file includes the ones listed.
CONTAINS = {
    "requirements-dev.txt": ("requirements.txt", "requirements-traces.txt", "requirements-s3.txt"),
    "requirements-traces.txt": ("requirements.txt",),
    "requirements-s3.txt": ("requirements.txt",),
}
RUN_TIME, WITH_TESTS = "requirements.txt", "requirements-dev.txt"
# Without the pins that a marker limits to some platforms or versions of Python.
PINNED = re.compile(r"^([A-Za-z0-9][^\s=]*)==([^\s;]++)(?! *;)", re.MULTILINE)
# Patterns of pip's log: a package of the file that was found or downloaded, and the line after all of them.
COLLECTED = re.compile(r"^\S.*\(from -r ", re.MULTILINE)
INSTALLING = "\nInstalling collected packages: "
ENDINGS = (signal.SIGINT, signal.SIGTERM)
LOOK_SECONDS = 0.2
# The interval of progress lines without a terminal.
REPEAT_SECONDS = 10.0
LAST_LINES = 20


class InstallError(Exception):
    """The installation failed. The message says what to do."""


def install(requirements: str) -> None:
    """Install what `requirements` (a file name) pins into .venv. Raises InstallError."""
    if is_installed(requirements):
        return
    turn = os.open(ROOT, os.O_RDONLY)
    try:
        _wait_for_turn(turn)
        if not is_installed(requirements):
            _install(requirements)
    finally:
        os.close(turn)


def is_installed(requirements: str) -> bool:
    """True if .venv works and was installed from this version of the file, or of one that includes it."""
    stamps = _stamps()
    files = [requirements, *(name for name, parts in CONTAINS.items() if requirements in parts)]
    # A container has no requirements of the tests.
    return any(name in stamps and stamps[name] == digest(name) for name in files) and _works(PYTHON, "pass")


def digest(requirements: str) -> str:
    """The SHA-256 digest of a requirements file."""
    return hashlib.sha256((ROOT / requirements).read_bytes()).hexdigest()


def _wait_for_turn(turn: int) -> None:
    try:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say("waiting for another copy that is installing")
        fcntl.flock(turn, fcntl.LOCK_EX)


def _install(requirements: str) -> None:
    log = _new_log()
    if not _works(PYTHON, "pass"):
        step = Step("Making the virtual environment")
        _run(sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV), log=log, step=step)
    STAMP.unlink(missing_ok=True)
    pins = pinned(requirements)
    step = Step("Installing packages", total=len(pins))
    command = [*_installer(log), "--require-hashes", "-r", str(ROOT / requirements)]
    _run(*command, log=log, step=step, look=lambda: _look(step, pins=pins, log=log))
    STAMP.write_text(json.dumps({requirements: digest(requirements)}) + "\n")


def pinned(requirements: str) -> set[tuple[str, str]]:
    """The packages that a requirements file pins, as normalized names and versions."""
    return {(_normalized(name), version) for name, version in PINNED.findall((ROOT / requirements).read_text())}


def installed() -> set[tuple[str, str]]:
    """The packages in the virtual environment, as normalized names and versions."""
    folders = VENV.glob("lib/python*/site-packages/*.dist-info")
    parts = (folder.name.removesuffix(".dist-info").partition("-") for folder in folders)
    return {(_normalized(name), version) for name, _, version in parts}


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _look(step: Step, *, pins: set[tuple[str, str]], log: Path) -> None:
    """Update the progress. pip downloads every package before it installs the first; uv compiles at the end."""
    text = log.read_text(errors="replace")
    collected = list(COLLECTED.finditer(text))
    if collected and INSTALLING not in text[collected[-1].end() :]:
        step.show("Downloading packages", done=len(collected))
    else:
        done = len(pins & installed())
        step.show("Installing packages" if done < len(pins) else "Compiling packages", done=done)


@dataclass
class Step:
    """A step with its progress on stderr: updated in place on a terminal, or else printed at intervals."""

    what: str
    total: int = 0
    done: int = 0
    began: float = field(default_factory=time.monotonic)
    is_terminal: bool = field(default_factory=lambda: sys.stderr.isatty() and os.environ.get("TERM") != "dumb")
    _repeat_at: float = 0.0

    def show(self, what: str = "", *, done: int = 0) -> None:
        """Show the progress."""
        if what and what != self.what:
            self.what, self._repeat_at = what, 0.0
        self.done = min(done, self.total)
        if self.is_terminal:
            self._write(f"\r\x1b[K{self}")
        elif time.monotonic() >= self._repeat_at:
            self._repeat_at = time.monotonic() + REPEAT_SECONDS
            self._write(f"{self}\n")

    def end(self, *, is_done: bool) -> None:
        """Print the final state."""
        self.done = self.total if is_done else self.done
        self._write(f"\r\x1b[K{self}\n" if self.is_terminal else f"{self}\n")

    def __str__(self) -> str:
        count = f"  {self.done}/{self.total}" if self.total else ""
        return f"{self.what}{count}  ({time.monotonic() - self.began:.0f} s)"

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _new_log() -> Path:
    """An empty log in the data directory, which is created as in `config.runner.data_dir`."""
    data_dir = Path(os.environ.get("MAKEGOOD_DATA") or ROOT / ".data")
    log = data_dir / "install.log"
    try:
        if not data_dir.exists():
            data_dir.mkdir(parents=True)
            data_dir.chmod(0o711 if os.geteuid() == 0 else 0o700)
        log.write_bytes(b"")
    except OSError as error:
        raise InstallError(
            f"The data directory {data_dir} can't be used ({error.strerror}): set MAKEGOOD_DATA to another directory."
        ) from error
    return log


def _installer(log: Path) -> list[str]:
    """The command that installs into .venv: uv, the environment's pip, or the machine's pip."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--compile-bytecode", "--python", str(PYTHON)]
    options = ["install", "--disable-pip-version-check", "--no-input", "--root-user-action=ignore"]
    if not _works(PYTHON, "import pip") and importlib.util.find_spec("ensurepip"):
        _run(str(PYTHON), "-m", "ensurepip", "--default-pip", log=log, step=Step("Installing pip"))
    if _works(PYTHON, "import pip"):
        return [str(PYTHON), "-m", "pip", *options]
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--python", str(PYTHON), *options]
    raise InstallError("Python has neither pip nor ensurepip here: run `apt-get install python3-venv`, or install uv.")


def _stamps() -> dict[str, str]:
    try:
        stamps = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _works(python: Path, code: str) -> bool:
    try:
        return subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _run(*command: str, log: Path, step: Step, look: Callable[[], None] | None = None) -> None:
    """Run a command with its output in the log. Raises InstallError after printing the last lines of the log."""
    look = look or step.show
    # Unbuffered, so that the progress is current.
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with log.open("ab") as output:
        # A signal between Popen and `try` would leave the installer running.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            start_new_session=True,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS),
        )
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
            while (code := _ended(process)) is None:
                look()
        except BaseException:
            # Ctrl-C or SIGTERM: the installer must not keep running.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        finally:
            step.end(is_done=process.returncode == 0)
    if code:
        lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
        print(*lines, sep="\n", file=sys.stderr)
        raise InstallError(f"`{' '.join(command[:4])} …` failed: the last lines of {log} above say why.")


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    """The exit code, or None if the process still runs after a short wait."""
    try:
        return process.wait(LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def _say(text: str) -> None:
    print(f"makegood: {text}", file=sys.stderr, flush=True)


def main(requirements: str, *command: str) -> None:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        install(requirements)
    except (InstallError, OSError) as error:
        sys.exit(f"makegood: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    if command:
        os.execv(command[0], command)  # noqa: S606 - without a shell


if __name__ == "__main__":
    main(*sys.argv[1:])
