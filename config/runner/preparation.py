"""Whether the database has to be prepared again, and the files that say how to enter the demo."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from config.runner.errors import StartError
from config.runner.keys import write_private

# What shapes the database and the demo organization: these folders of every app, and the version of the whole.
FOLDERS = ("migrations", "demo", "management")
VERSION_FILES = ("pyproject.toml", "requirements.txt")


@dataclass(frozen=True)
class DemoLogin:
    """What the demo organization is entered with."""

    api_key: str
    email: str
    password: str
    project: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read it from JSON that may say more. Raises StartError if something is missing."""
        try:
            known = json.loads(text)
            return cls(**{field.name: str(known[field.name]) for field in fields(cls)})
        except (ValueError, KeyError, TypeError) as error:
            raise StartError(f"The demo's login can't be read from {text[:40]!r}.") from error


class Preparation:
    """`prepared` of a data directory: which code prepared which database, and the login that came out of it."""

    def __init__(self, data_dir: Path, *, root: Path, database_url: str) -> None:
        self._file = data_dir / "prepared"
        self._fingerprint = fingerprint(root, database_url=database_url)

    def login(self) -> DemoLogin | None:
        """The demo login, if this code has prepared this database already."""
        try:
            known, login = self._file.read_text().split("\n", 1)
        except (FileNotFoundError, ValueError):
            return None
        return DemoLogin.parse(login) if known == self._fingerprint else None

    def mark_done(self, login: DemoLogin) -> None:
        """Remember that this code has prepared this database."""
        write_private(self._file, f"{self._fingerprint}\n{json.dumps(asdict(login))}\n")


class DemoFile:
    """`demo.json`: there while the web process answers, so that a program may wait for it. For its owner only."""

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "demo.json"

    def remove(self) -> None:
        """Take away what an earlier start left."""
        self._file.unlink(missing_ok=True)

    def write(self, login: DemoLogin, *, base_url: str, model_url: str | None) -> None:
        """Say how to enter. `model_url` is the offline model's, if it runs."""
        content = {"base_url": base_url, **asdict(login), **({"model_url": model_url} if model_url else {})}
        write_private(self._file, json.dumps(content, indent=1) + "\n")


def fingerprint(root: Path, *, database_url: str) -> str:
    """A hash of the migrations, the demo and the version of the code below `root`, and of the database it is for."""
    digest = hashlib.sha256(database_url.encode())
    for file in sorted(_shaping_files(root)):
        content = file.read_bytes()
        digest.update(f"\n{file.relative_to(root)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _shaping_files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in VERSION_FILES if (root / name).exists())
    for folder in FOLDERS:
        for found in root.glob(f"[!.]*/{folder}"):
            yield from (file for file in found.rglob("*") if file.is_file() and file.suffix != ".pyc")
