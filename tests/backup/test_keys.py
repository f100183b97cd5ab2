"""The operator's key: a file, public keys, a passphrase, or a new file beside the backup."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyrage.x25519 import Identity

from config.backup import archive
from config.backup.errors import BackupError
from config.backup.frames import Frame, Kind
from config.backup.keys import create_key_file, find_identity, make_lock, read_identity
from tests.backup.conftest import run

CONTENT = [Frame(Kind.END, b"0")]


def written(file: Path, **env: str) -> str:
    """A small file, encrypted with the key of these settings. Returns the note for the operator."""
    lock = make_lock(file, key_file=None, env=env)
    archive.write(file, CONTENT, lock=lock)
    return lock.note


def opens(file: Path, *, key_file: Path | None = None, **env: str) -> bool:
    identity = find_identity(file, wrapped=archive.read_head(file), key_file=key_file, env=env)
    with archive.reading(file, identity=identity) as frames:
        return list(frames) == CONTENT


def test_a_key_file_opens_its_backups(tmp_path: Path) -> None:
    key = tmp_path / "key"
    create_key_file(key)
    written(tmp_path / "a", MAKEGOOD_BACKUP_KEY_FILE=str(key))
    assert opens(tmp_path / "a", MAKEGOOD_BACKUP_KEY_FILE=str(key))
    assert opens(tmp_path / "a", key_file=key)


def test_public_keys_need_no_secret_on_the_server(tmp_path: Path) -> None:
    """Each of their owners can open the backup."""
    keys = [tmp_path / "one", tmp_path / "two"]
    public = ", ".join(str(create_key_file(key).to_public()) for key in keys)
    written(tmp_path / "a", MAKEGOOD_BACKUP_RECIPIENTS=public)
    assert [opens(tmp_path / "a", key_file=key) for key in keys] == [True, True]


def test_a_passphrase_opens_its_backup_and_no_other_does(tmp_path: Path) -> None:
    written(tmp_path / "a", MAKEGOOD_BACKUP_PASSPHRASE="correct horse")
    assert opens(tmp_path / "a", MAKEGOOD_BACKUP_PASSPHRASE="correct horse")
    with pytest.raises(BackupError, match="This passphrase doesn't open the backup"):
        opens(tmp_path / "a", MAKEGOOD_BACKUP_PASSPHRASE="correct horses")
    with pytest.raises(BackupError, match="Set MAKEGOOD_BACKUP_PASSPHRASE"):
        opens(tmp_path / "a")


def test_without_a_key_a_new_one_is_made_beside_the_backup(tmp_path: Path) -> None:
    assert "a.key holds a new one" in written(tmp_path / "a")
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600
    assert opens(tmp_path / "a")
    (tmp_path / "a.key").unlink()
    with pytest.raises(BackupError, match="Give the key of this backup"):
        opens(tmp_path / "a")


def test_a_key_that_is_set_comes_before_the_one_beside_the_backup(tmp_path: Path) -> None:
    written(tmp_path / "a")
    create_key_file(tmp_path / "other")
    with pytest.raises(BackupError, match="This key doesn't open the backup"):
        opens(tmp_path / "a", MAKEGOOD_BACKUP_KEY_FILE=str(tmp_path / "other"))


@pytest.mark.parametrize("content", ["", "age1abc\n", "AGE-SECRET-KEY-1NONSENSE\n"])
def test_a_file_without_a_key_is_rejected(tmp_path: Path, content: str) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(BackupError, match="holds no age key"):
        read_identity(tmp_path / "key")


def test_a_missing_key_file_is_reported_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=r"can't be read \(No such file or directory\)\. `bin/backup --new-key FILE`"):
        read_identity(tmp_path / "none")


def test_a_public_key_of_another_kind_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="Set MAKEGOOD_BACKUP_RECIPIENTS to public keys of age"):
        written(tmp_path / "a", MAKEGOOD_BACKUP_RECIPIENTS="ssh-ed25519 AAAA")


def test_the_command_makes_a_key_file_and_keeps_an_existing_one(tmp_path: Path) -> None:
    key = tmp_path / "key"
    made = run("backup", "--new-key", str(key))
    assert str(Identity.from_str(key.read_text().splitlines()[1]).to_public()) in made.stdout
    again = run("backup", "--new-key", str(key))
    assert (again.returncode, again.stderr) == (1, f"bin/backup: {key} exists: name another file for the new key.\n")
