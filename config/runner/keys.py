"""Passwords and keys of a data directory, in `secrets.json`, which only its owner can read."""

from __future__ import annotations

import base64
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from config.runner.errors import StartError


@dataclass(frozen=True)
class Keys:
    """Random, URL-safe secrets. Never printed."""

    postgres: str
    mg_owner: str
    mg_app: str
    mg_ops: str
    redis: str
    secret_key: str
    encryption_keys: str

    def __repr__(self) -> str:
        return "Keys(…)"

    def roles(self) -> dict[str, str]:
        """Passwords by PostgreSQL role."""
        return {"mg_owner": self.mg_owner, "mg_app": self.mg_app, "mg_ops": self.mg_ops}


def load_keys(data_dir: Path) -> Keys:
    """The keys of `data_dir`, created at the first call."""
    file = data_dir / "secrets.json"
    if not file.exists():
        store_keys(data_dir, new_keys())
    try:
        return Keys(**json.loads(file.read_text()))
    except (ValueError, TypeError) as error:
        raise StartError(f"{file} can't be read as this data directory's keys: restore it from a backup.") from error


def write_private(file: Path, text: str) -> None:
    """Write `file` atomically, with mode 0600 from the start."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)


def store_keys(data_dir: Path, keys: Keys) -> None:
    """Write the keys of a new data directory."""
    write_private(data_dir / "secrets.json", json.dumps(asdict(keys), indent=1) + "\n")


def new_keys(*, secret_key: str = "", encryption_keys: str = "") -> Keys:
    """New passwords, and the given keys or new ones."""
    postgres, owner, app, ops, redis = (secrets.token_urlsafe(24) for _ in range(5))
    return Keys(
        *(postgres, owner, app, ops, redis),
        secret_key=secret_key or secrets.token_urlsafe(50),
        encryption_keys=encryption_keys or base64.urlsafe_b64encode(os.urandom(32)).decode(),
    )
