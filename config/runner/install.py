"""Makes the virtual environment and fills it from the pinned, hashed requirements. Standard library only.

`python config/runner/install.py requirements.txt [command …]` is run by bin/serve and bin/test with the machine's Python
3.11 or newer, and becomes the command when it is done. A second run finds the requirements' hash in the environment and
goes on at once; two at a time take turns.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "makegood-installed.json"
# Installing the first brings all of the second with it.
CONTAINS = {"requirements-dev.txt": ("requirements.txt",)}
RUN_TIME, WITH_TESTS = "requirements.txt", "requirements-dev.txt"


class InstallError(Exception):
    """One sentence that says what to do."""


def install(requirements: str) -> None:
    """Bring .venv to what `requirements` (a file name) pins. Raises InstallError."""
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
    """Whether .venv works and was filled from this very file, or from one that contains it."""
    stamps = _stamps()
    files = [requirements, *(name for name, parts in CONTAINS.items() if requirements in parts)]
    return any(stamps.get(name) == digest(name) for name in files) and _works(PYTHON, "pass")


def digest(requirements: str) -> str:
    """SHA-256 of a requirements file."""
    return hashlib.sha256((ROOT / requirements).read_bytes()).hexdigest()


def _wait_for_turn(turn: int) -> None:
    try:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say("waiting for another copy that is installing")
        fcntl.flock(turn, fcntl.LOCK_EX)


def _install(requirements: str) -> None:
    began = time.monotonic()
    if not _works(PYTHON, "pass"):
        _say(f"making the virtual environment {VENV}")
        _run(sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV))
    STAMP.unlink(missing_ok=True)
    _say(f"installing {requirements}")
    _run(*_installer(), "--require-hashes", "-r", str(ROOT / requirements))
    STAMP.write_text(json.dumps({requirements: digest(requirements)}) + "\n")
    _say(f"installed in {time.monotonic() - began:.0f} s")


def _installer() -> list[str]:
    """The command that installs into .venv: uv, the environment's pip, or the machine's."""
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--compile-bytecode", "--python", str(PYTHON)]
    options = ["install", "--disable-pip-version-check", "--no-input", "--root-user-action=ignore"]
    if not _works(PYTHON, "import pip") and importlib.util.find_spec("ensurepip"):
        _run(str(PYTHON), "-m", "ensurepip", "--default-pip")
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


def _run(*command: str) -> None:
    # Progress goes to stderr: stdout belongs to the command that is about to run.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True)
    try:
        code = process.wait()
    except BaseException:
        # Ctrl-C or SIGTERM: the installer and what it started must not go on alone.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if code:
        raise InstallError(f"`{' '.join(command[:4])} …` failed; its last lines above say why.")


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
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(*sys.argv[1:])
