"""The first frame of a backup: the version, schema and keys it was made with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from config.backup.catalog import Table
from config.backup.errors import BackupError
from config.backup.frames import CUT

_TOKEN = b"makegood"


@dataclass(frozen=True)
class Secrets:
    """The keys without which restored secrets can't be read. Never printed."""

    secret_key: str
    encryption_keys: str

    def __repr__(self) -> str:
        return "Secrets(…)"

    def env(self) -> dict[str, str]:
        """The keys as settings."""
        return {"SECRET_KEY": self.secret_key, "MAKEGOOD_ENCRYPTION_KEYS": self.encryption_keys}

    def sample(self) -> str:
        """A token that shows later whether other keys can read what these encrypted."""
        return Fernet(self.encryption_keys.split(",")[0].strip()).encrypt(_TOKEN).decode()

    def can_read(self, sample: str) -> bool:
        """True if these keys decrypt the sample of others."""
        try:
            return (
                MultiFernet([Fernet(key.strip()) for key in self.encryption_keys.split(",")]).decrypt(sample) == _TOKEN
            )
        except (InvalidToken, ValueError):
            return False


@dataclass(frozen=True)
class Manifest:
    """The description of a backup. `secrets` is None if the operator keeps the keys elsewhere."""

    version: str
    created_at: str
    migrations: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    sequences: dict[str, tuple[int, bool]]
    sample: str
    secrets: Secrets | None

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """Raises BackupError if the text isn't a manifest."""
        try:
            known = json.loads(text)
            return cls(
                version=known["version"],
                created_at=known["created_at"],
                migrations=tuple((app, name) for app, name in known["migrations"]),
                tables=tuple(Table(one["name"], tuple(one["columns"])) for one in known["tables"]),
                sequences={name: (last, used) for name, (last, used) in known["sequences"].items()},
                sample=known["sample"],
                secrets=Secrets(**known["secrets"]) if known["secrets"] else None,
            )
        except (ValueError, KeyError, TypeError) as error:
            raise BackupError(CUT) from error
