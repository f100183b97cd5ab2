"""The commands in bin/, and the messages of a failed start."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from config.runner.embedded import EmbeddedServices

pytestmark = pytest.mark.whole

ROOT = Path(__file__).resolve().parents[2]


def serve(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A start that ends by itself."""
    command = [sys.executable, "-m", "config.runner", "serve", *arguments]
    outside = {name: value for name, value in os.environ.items() if not name.endswith(("_URL", "_KEY", "_KEYS"))}
    return subprocess.run(command, cwd=ROOT, env=outside | env, capture_output=True, text=True, timeout=60, check=False)


def test_a_busy_port_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        start = serve("--port", str(port), MAKEGOOD_DATA=str(tmp_path / "data"))
    assert start.returncode == 1
    assert start.stderr == f"bin/serve: Port {port} of 127.0.0.1 is not available. Choose another one with --port.\n"


def test_a_data_directory_in_use_is_reported_in_one_sentence(services: EmbeddedServices) -> None:
    start = serve("--port", "0", MAKEGOOD_DATA=str(services.data_dir))
    assert start.returncode == 1
    assert start.stderr.startswith("bin/serve: Another copy of Makegood runs on ")
    assert start.stderr.count("\n") == 1


def test_an_invalid_setting_is_reported_in_one_sentence(tmp_path: Path) -> None:
    start = serve("--port", "0", MAKEGOOD_DATA=str(tmp_path / "data"), REDIS_URL="localhost")
    assert start.returncode == 1
    assert start.stderr.startswith("bin/serve: Set REDIS_URL to ")
    assert not (tmp_path / "data").exists()


def in_a_fresh_clone(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """bin/serve where nothing is installed. An installation fails, for want of the requirements."""
    for name in ("bin/serve", "config/runner/python.sh", "config/runner/install.py", "config/runner/arguments.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    command = [tmp_path / "bin/serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_help_is_printed_before_anything_is_installed(tmp_path: Path) -> None:
    asked = in_a_fresh_clone(tmp_path, "--help")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.startswith("usage: bin/serve [-h] [--port PORT] [--host HOST]\n")
    assert not (tmp_path / ".venv").exists()


def test_wrong_arguments_are_refused_before_anything_is_installed(tmp_path: Path) -> None:
    refused = in_a_fresh_clone(tmp_path, "--prot", "8001")
    assert refused.returncode == 2
    assert "unrecognized arguments: --prot 8001" in refused.stderr
    assert not (tmp_path / ".venv").exists()


def test_an_invalid_port_is_rejected() -> None:
    assert "a port is a number from 0 to 65535" in serve("--port", "99999").stderr
