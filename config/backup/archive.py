"""The file of a backup: a line that says what it is, its head in JSON, and the age file with its frames.

`tail -n +3 FILE | age -d -i KEY` decrypts it without Makegood.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from pyrage.x25519 import Identity

from config.backup.encryption import decrypt, encrypt
from config.backup.errors import BackupError
from config.backup.frames import CUT, Frame, pack, unpack
from config.backup.keys import Lock

MAGIC = b"makegood backup 1\n"
_ANY_FORMAT = b"makegood backup "
LONGEST_HEAD = 1 << 16


def write(file: Path, frames: Iterable[Frame], *, lock: Lock) -> int:
    """Write a backup, which gets its name when it is complete and on the disk. Returns its size in bytes.

    Raises BackupError if the file exists or can't be written.
    """
    if file.exists():
        raise BackupError(f"{file} exists: name another file, or move it away.")
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            head = {"passphrase": base64.b64encode(lock.wrapped).decode() if lock.wrapped else None}
            target.write(MAGIC + json.dumps(head).encode() + b"\n")
            encrypt(pack(frames), target, recipients=lock.recipients)
            target.flush()
            os.fsync(target.fileno())
        # Unlike a rename, a link never replaces a file that appeared meanwhile.
        os.link(draft, file)
    except FileExistsError as error:
        raise BackupError(f"{file} exists: name another file, or move it away.") from error
    except OSError as error:
        raise BackupError(f"The backup can't be written to {file} ({error.strerror or error}).") from error
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    return file.stat().st_size


def read_head(file: Path) -> bytes | None:
    """The identity that the passphrase opens, if the backup has one. Raises BackupError for another kind of file."""
    with _opened(file) as source:
        return _head(file, source)


@contextmanager
def reading(file: Path, *, identity: Identity) -> Iterator[Iterator[Frame]]:
    """The frames of a backup."""
    with _opened(file) as source:
        _head(file, source)
        yield unpack(decrypt(source, identity=identity))


@contextmanager
def _opened(file: Path) -> Iterator[BufferedReader]:
    try:
        source = file.open("rb")
    except OSError as error:
        raise BackupError(f"The backup {file} can't be read ({error.strerror}).") from error
    with source:
        yield source


def _head(file: Path, source: BufferedReader) -> bytes | None:
    line = source.readline(LONGEST_HEAD)
    if line != MAGIC and line.startswith(_ANY_FORMAT):
        raise BackupError(f"{file} was made by a newer version of Makegood: restore it with that version.")
    if line != MAGIC:
        raise BackupError(f"{file} isn't a backup of Makegood.")
    try:
        wrapped = json.loads(source.readline(LONGEST_HEAD))["passphrase"]
        return base64.b64decode(wrapped) if wrapped else None
    except (ValueError, KeyError, TypeError) as error:
        raise BackupError(CUT) from error
