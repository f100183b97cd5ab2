"""Real servers and processes, separate from those of the other tests."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from config.runner.embedded import EmbeddedServices
from tests.todos.conftest import conversation as conversation
from tests.todos.conftest import desk as desk
from tests.todos.executor.conftest import mail as mail
from tests.todos.executor.conftest import runs as runs


@pytest.fixture(scope="session")
def services() -> Iterator[EmbeddedServices]:
    """Servers for the tests of the runner, which crash them."""
    with EmbeddedServices() as running:
        yield running


@pytest.fixture
def open_tmp() -> Iterator[Path]:
    """A temporary directory that PostgreSQL's account can enter when the tests run as root.

    It is not below pytest's own, which each run of pytest closes to other accounts.
    """
    folder = Path(tempfile.mkdtemp(prefix="makegood-open-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def eventually(is_so: Callable[[], object], *, seconds: float = 15.0) -> None:
    """Poll until `is_so()` is true. Fails after the timeout."""
    give_up_at = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < give_up_at, "it never came true"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """True if `pid` is a running process. A zombie is not running."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
