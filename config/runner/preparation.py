"""Records whether the database is prepared for this version, and writes the demo's login."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from config.runner.errors import StartError
from config.runner.keys import write_private

# The files that determine the content of a new database: these folders of each app, and the version files.
FOLDERS = ("migrations", "demo", "management")
VERSION_FILES = ("pyproject.toml", "requirements.txt")


@dataclass(frozen=True)
class DemoLogin:
    """The login of the demo organization."""

    api_key: str
    email: str
    password: str
    project: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the login from JSON. Other keys are ignored. Raises StartError if one is missing."""
        try:
            known = json.loads(text)
            return cls(**{field.name: str(known[field.name]) for field in fields(cls)})
        except (ValueError, KeyError, TypeError) as error:
            raise StartError(f"The demo's login can't be read from {text[:40]!r}.") from error


class Preparation:
    """`prepared` of a data directory: the version of the code that prepared the database, and the demo's login."""

    def __init__(self, data_dir: Path, *, root: Path, database_url: str) -> None:
        self._file = data_dir / "prepared"
        self._fingerprint = fingerprint(root, database_url=database_url)

    def login(self) -> DemoLogin | None:
        """The demo's login, if this version has prepared this database."""
        try:
            known, login = self._file.read_text().split("\n", 1)
        except (FileNotFoundError, ValueError):
            return None
        return DemoLogin.parse(login) if known == self._fingerprint else None

    def mark_done(self, login: DemoLogin) -> None:
        """Record that this version has prepared this database."""
        write_private(self._file, f"{self._fingerprint}\n{json.dumps(asdict(login))}\n")


class DemoFile:
    """`demo.json`, which exists while the web process responds, so that programs can wait for it.

    Only its owner can read it.
    """

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / "demo.json"

    def base_url(self) -> str:
        """The address of the running copy. Raises StartError if none runs."""
        try:
            return str(json.loads(self._file.read_text())["base_url"])
        except FileNotFoundError:
            raise StartError(
                f"No copy runs in {self._file.parent}: start it with bin/serve, or set DATABASE_URL."
            ) from None

    def remove(self) -> None:
        """Remove the file of an earlier start."""
        self._file.unlink(missing_ok=True)

    def write(self, login: DemoLogin, *, base_url: str, model_url: str | None) -> None:
        """Write the login. `model_url` is the URL of the offline model, if it runs."""
        content = {"base_url": base_url, **asdict(login), **({"model_url": model_url} if model_url else {})}
        write_private(self._file, json.dumps(content, indent=1) + "\n")


def fingerprint(root: Path, *, database_url: str) -> str:
    """A hash of the migrations, the demo and the version of the code below `root`, and of the database's URL."""
    digest = hashlib.sha256(database_url.encode())
    for file in sorted(_relevant_files(root)):
        content = file.read_bytes()
        digest.update(f"\n{file.relative_to(root)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _relevant_files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in VERSION_FILES if (root / name).exists())
    for folder in FOLDERS:
        for found in root.glob(f"[!.]*/{folder}"):
            yield from (file for file in found.rglob("*") if file.is_file() and file.suffix != ".pyc")
