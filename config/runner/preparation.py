"""Whether the database has to be prepared again, and the file that says how to enter the demo."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

from config.runner.errors import StartError
from config.runner.keys import write_private

# Nothing in these shapes the database or the demo organization.
ELSEWHERE = {"tests", "bench", "docs", "static", "staticfiles", "templates", "bin", "runner", "__pycache__"}
CODE = {".py", ".json", ".sql", ".yaml"}


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
    """`prepared` and `demo.json` of a data directory."""

    def __init__(self, data_dir: Path, *, root: Path, database_url: str) -> None:
        self._stamp = data_dir / "prepared"
        self._demo = data_dir / "demo.json"
        self._fingerprint = fingerprint(root, database_url=database_url)

    def is_done(self) -> bool:
        """Whether this code has prepared this database already and its demo login is known."""
        return self._stamp.exists() and self._stamp.read_text() == self._fingerprint and self.login() is not None

    def login(self) -> DemoLogin | None:
        """The demo login of the last preparation."""
        try:
            return DemoLogin.parse(self._demo.read_text())
        except (FileNotFoundError, StartError):
            return None

    def mark_done(self) -> None:
        """Remember that this code has prepared this database. To be called once the demo file is written."""
        self._stamp.write_text(self._fingerprint)

    def write_demo(self, login: DemoLogin, *, base_url: str, model_url: str | None) -> None:
        """Write demo.json, for its owner only. `model_url` is the offline model's, if it runs."""
        content = {"base_url": base_url, **asdict(login), **({"model_url": model_url} if model_url else {})}
        write_private(self._demo, json.dumps(content, indent=1) + "\n")


def fingerprint(root: Path, *, database_url: str) -> str:
    """A hash of the code below `root` (migrations and demo data are part of it) and of the database it is for."""
    digest = hashlib.sha256(database_url.encode())
    for file in sorted(_code(root)):
        content = file.read_bytes()
        digest.update(f"\n{file.relative_to(root)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _code(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.name.startswith(".") or entry.name in ELSEWHERE:
            continue
        if entry.is_dir():
            yield from _code(entry)
        elif entry.suffix in CODE:
            yield entry
