"""The operator's key: a key file, a public key, or a passphrase.

A backup is encrypted for an age identity. With a passphrase, the identity is made for this backup alone and stands in the
head of the file, encrypted with the passphrase.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyrage
from pyrage.x25519 import Identity, Recipient

from config.backup.errors import BackupError
from config.runner.keys import write_private

KEY_FILE, RECIPIENTS, PASSPHRASE = (
    "MAKEGOOD_BACKUP_KEY_FILE",
    "MAKEGOOD_BACKUP_RECIPIENTS",
    "MAKEGOOD_BACKUP_PASSPHRASE",
)
_LINE = "AGE-SECRET-KEY-"


@dataclass(frozen=True)
class Lock:
    """The recipients of a backup, and its identity encrypted with a passphrase, if it has one."""

    recipients: tuple[Recipient, ...]
    wrapped: bytes | None = None
    note: str = ""


def make_lock(file: Path, *, key_file: Path | None, env: Mapping[str, str]) -> Lock:
    """The lock of a new backup. Without any key, asks for a passphrase on a terminal, or else makes a key file."""
    if key_file or env.get(KEY_FILE):
        return Lock((read_identity(key_file or Path(env[KEY_FILE])).to_public(),))
    if env.get(RECIPIENTS):
        return Lock(tuple(_recipient(text.strip()) for text in env[RECIPIENTS].split(",")))
    passphrase = env.get(PASSPHRASE) or _ask_twice()
    if passphrase:
        identity = Identity.generate()
        return Lock((identity.to_public(),), wrapped=pyrage.passphrase.encrypt(str(identity).encode(), passphrase))
    beside = key_beside(file)
    identity = create_key_file(beside)
    return Lock(
        (identity.to_public(),),
        note=f"No key was given, so {beside} holds a new one. Keep it apart from the backup: who has both can read it, and"
        f" without it nobody can. Next time, set {KEY_FILE}.",
    )


def find_identity(file: Path, *, wrapped: bytes | None, key_file: Path | None, env: Mapping[str, str]) -> Identity:
    """The identity that opens a backup. Raises BackupError if there is none, or if the passphrase is wrong."""
    if wrapped is not None:
        return _unwrap(wrapped, env.get(PASSPHRASE) or _ask())
    if key_file or env.get(KEY_FILE):
        return read_identity(key_file or Path(env[KEY_FILE]))
    if key_beside(file).exists():
        return read_identity(key_beside(file))
    raise BackupError(f"Give the key of this backup: --key-file FILE, or set {KEY_FILE}.")


def key_beside(file: Path) -> Path:
    """The key file of a backup that was made without a key."""
    return file.with_name(f"{file.name}.key")


def create_key_file(file: Path) -> Identity:
    """Write a new identity to a file that only its owner can read. Raises BackupError if the file exists."""
    if file.exists():
        raise BackupError(f"{file} exists: name another file for the new key.")
    identity = Identity.generate()
    try:
        write_private(file, f"# public key: {identity.to_public()}\n{identity}\n")
    except OSError as error:
        raise BackupError(f"The key can't be written to {file} ({error.strerror}).") from error
    return identity


def read_identity(file: Path) -> Identity:
    """The identity in a key file, as `age-keygen` writes it. Raises BackupError if there is none."""
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it isn't a text"
        raise BackupError(
            f"The key file {file} can't be read ({reason}). `bin/backup --new-key FILE` makes one."
        ) from error
    try:
        return Identity.from_str(next(line.strip() for line in lines if line.startswith(_LINE)))
    except (StopIteration, pyrage.IdentityError) as error:
        raise BackupError(f"{file} holds no age key: a line of it begins with {_LINE}1.") from error


def _recipient(text: str) -> Recipient:
    try:
        return Recipient.from_str(text)
    except pyrage.RecipientError as error:
        raise BackupError(f"Set {RECIPIENTS} to public keys of age (age1…), separated by commas.") from error


def _unwrap(wrapped: bytes, passphrase: str) -> Identity:
    try:
        return Identity.from_str(pyrage.passphrase.decrypt(wrapped, passphrase).decode())
    except (pyrage.DecryptError, pyrage.IdentityError, UnicodeDecodeError) as error:
        raise BackupError("This passphrase doesn't open the backup: give the one that it was made with.") from error


def _ask() -> str:
    if not sys.stdin.isatty():
        raise BackupError(f"Set {PASSPHRASE} to the passphrase of this backup.")
    return getpass.getpass("Passphrase of the backup: ")


def _ask_twice() -> str:
    """A new passphrase, or "" without a terminal or if none is wanted."""
    if not sys.stdin.isatty():
        return ""
    passphrase = getpass.getpass("Passphrase for the backup (empty: make a key file beside it): ")
    if passphrase and passphrase != getpass.getpass("The same again: "):
        raise BackupError("The passphrases differ: run it again.")
    return passphrase
