"""A cache of migrated databases, keyed by the migrations. A test run copies one instead of running every migration."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from config.runner.embedded import EmbeddedServices

ROOT = Path(__file__).resolve().parent.parent
# The files that decide what a migrated database contains.
MADE_OF = (
    "*/migrations/*.py",
    "tenancy/*.py",
    "tenancy/postgresql/*.py",
    "projects/management/commands/migrate.py",
    "config/runner/*.py",
    "requirements.txt",
)
KEPT_SECONDS = 24 * 3600


def copy_migrated(data_dir: Path) -> None:
    """Fill an empty directory with the data of a migrated, stopped database.

    The first run after a change creates it; runs that start meanwhile wait for it.
    """
    shelf = _shelf()
    with open(shelf / "lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = shelf / _digest()
        if not made.exists():
            _make(made)
        os.utime(made)
    # Keeps the owners: PostgreSQL runs under its own account where tests run as root.
    subprocess.run(["cp", "-a", f"{made}/.", str(data_dir)], check=True)


def _make(made: Path) -> None:
    for old in made.parent.iterdir():
        if old.is_dir() and time.time() - old.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(old)
    draft = Path(tempfile.mkdtemp(dir=made.parent))
    draft.chmod(0o711)
    with EmbeddedServices(draft, durable=False) as services:
        settings = {**os.environ, **services.env, "DJANGO_SETTINGS_MODULE": "config.settings"}
        migrate = [sys.executable, "manage.py", "migrate", "--skip-checks", "--verbosity", "0"]
        subprocess.run(migrate, check=True, cwd=ROOT, env=settings)
    # Each copy chooses its own ports.
    (draft / "ports.json").unlink()
    draft.rename(made)


def _shelf() -> Path:
    shelf = Path(tempfile.gettempdir()) / f"makegood-migrated-{os.geteuid()}"
    shelf.mkdir(mode=0o711, exist_ok=True)
    if shelf.is_symlink() or shelf.stat().st_uid != os.geteuid():
        raise RuntimeError(f"{shelf} belongs to somebody else: remove it, or set TMPDIR to another directory.")
    return shelf


def _digest() -> str:
    made_of = hashlib.sha256(sys.version.encode())
    for file in _files():
        made_of.update(file.read_bytes())
    return made_of.hexdigest()[:16]


def _files() -> Iterator[Path]:
    for pattern in MADE_OF:
        yield from sorted(ROOT.glob(pattern))
