"""A damaged, cut or foreign file, and a wrong key, are noticed before anything is restored."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyrage.x25519 import Identity

from config.backup import archive
from config.backup.errors import BackupError
from config.backup.frames import Frame, Kind, pack, unpack
from config.backup.keys import Lock
from config.backup.restore import check_file

# The size of an encrypted chunk of the age format.
CHUNK = (1 << 16) + 16
DAMAGED = "damaged or was cut off"


@pytest.fixture
def copy(backup: Path, tmp_path: Path) -> Path:
    """A copy of the backup to damage."""
    file = tmp_path / "copy.backup"
    file.write_bytes(backup.read_bytes())
    return file


@pytest.fixture
def long_file(identity: Identity, tmp_path: Path) -> Path:
    """A file of several chunks, which isn't compressible."""
    file = tmp_path / "long.backup"
    rows = os.urandom(CHUNK * 5)
    archive.write(file, [Frame(Kind.ROWS, rows), Frame(Kind.END, b"0")], lock=Lock((identity.to_public(),)))
    return file


def frames_of(file: Path, identity: Identity) -> list[Frame]:
    with archive.reading(file, identity=identity) as frames:
        return list(frames)


def begin_of(content: bytes) -> int:
    """The place of the first chunk: after the header's MAC of 43 characters, and the nonce of 16 bytes."""
    mark = b"\n--- "
    return content.index(mark) + len(mark) + 43 + 1 + 16


def test_a_backup_is_complete(backup: Path, identity: Identity) -> None:
    _, found = check_file(backup, identity=identity)
    assert found.rows > 100


def test_nothing_in_the_file_can_be_read_without_the_key(backup: Path) -> None:
    content = backup.read_bytes()
    assert not any(text in content for text in (b"Nello", b"django_migrations", b"encryption_keys"))


def test_only_its_owner_can_read_the_file(backup: Path) -> None:
    assert backup.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("missing", [1, 17, 1_000, 10_000])
def test_a_cut_file_is_noticed(copy: Path, identity: Identity, missing: int) -> None:
    copy.write_bytes(copy.read_bytes()[:-missing])
    with pytest.raises(BackupError, match=DAMAGED):
        check_file(copy, identity=identity)


def test_a_file_cut_between_two_chunks_is_noticed(long_file: Path, identity: Identity) -> None:
    content = long_file.read_bytes()
    long_file.write_bytes(content[: begin_of(content) + CHUNK * 2])
    with pytest.raises(BackupError, match=DAMAGED):
        frames_of(long_file, identity)


def test_exchanged_chunks_are_noticed(long_file: Path, identity: Identity) -> None:
    content = long_file.read_bytes()
    head, rest = content[: begin_of(content)], content[begin_of(content) :]
    long_file.write_bytes(head + rest[CHUNK : CHUNK * 2] + rest[:CHUNK] + rest[CHUNK * 2 :])
    with pytest.raises(BackupError, match=DAMAGED):
        frames_of(long_file, identity)


@pytest.mark.parametrize("place", [0.5, 0.99])
def test_a_changed_byte_is_noticed(copy: Path, identity: Identity, place: float) -> None:
    content = bytearray(copy.read_bytes())
    content[int(len(content) * place)] ^= 1
    copy.write_bytes(content)
    with pytest.raises(BackupError, match=DAMAGED):
        check_file(copy, identity=identity)


def test_added_bytes_are_noticed(copy: Path, identity: Identity) -> None:
    with copy.open("ab") as file:
        file.write(b"more")
    with pytest.raises(BackupError, match=DAMAGED):
        check_file(copy, identity=identity)


def test_another_key_is_rejected(backup: Path) -> None:
    with pytest.raises(BackupError, match="This key doesn't open the backup"):
        check_file(backup, identity=Identity.generate())


@pytest.mark.parametrize("content", [b"", b"PGDMP\x01\x0e", b"age-encryption.org/v1\n"])
def test_another_kind_of_file_is_rejected(tmp_path: Path, identity: Identity, content: bytes) -> None:
    file = tmp_path / "other"
    file.write_bytes(content)
    with pytest.raises(BackupError, match="isn't a backup of Makegood"):
        check_file(file, identity=identity)


def test_a_newer_format_is_rejected(copy: Path, identity: Identity) -> None:
    copy.write_bytes(copy.read_bytes().replace(b"makegood backup 1\n", b"makegood backup 2\n", 1))
    with pytest.raises(BackupError, match="made by a newer version"):
        check_file(copy, identity=identity)


def test_a_missing_file_is_rejected(tmp_path: Path, identity: Identity) -> None:
    with pytest.raises(BackupError, match=r"can't be read \(No such file or directory\)"):
        check_file(tmp_path / "none", identity=identity)


# Frames


def test_frames_are_the_same_however_the_stream_is_cut() -> None:
    frames = [
        Frame(Kind.TABLE, b'"a"'),
        Frame(Kind.ROWS, bytes(300_000)),
        Frame(Kind.COUNT, b"0"),
        Frame(Kind.END, b"1"),
    ]
    packed = io.BytesIO(b"".join(pack(frames)))
    assert list(unpack(iter(lambda: packed.read(7), b""))) == frames


def test_a_missing_table_is_noticed(backup: Path, identity: Identity, tmp_path: Path) -> None:
    with archive.reading(backup, identity=identity) as frames:
        whole = list(frames)
    [at, until] = [number for number, frame in enumerate(whole) if frame.kind is Kind.TABLE][5:7]
    file = tmp_path / "fewer.backup"
    archive.write(file, whole[:at] + whole[until:], lock=Lock((identity.to_public(),)))
    with pytest.raises(BackupError, match=DAMAGED):
        check_file(file, identity=identity)


def test_missing_rows_are_noticed(backup: Path, identity: Identity, tmp_path: Path) -> None:
    with archive.reading(backup, identity=identity) as frames:
        fewer = [
            Frame(frame.kind, frame.payload.partition(b"\n")[2]) if frame.kind is Kind.ROWS else frame
            for frame in frames
        ]
    file = tmp_path / "fewer.backup"
    archive.write(file, fewer, lock=Lock((identity.to_public(),)))
    with pytest.raises(BackupError, match=r"rows of .* aren't complete"):
        check_file(file, identity=identity)


# Writing


def test_an_existing_file_is_never_replaced(backup: Path, identity: Identity) -> None:
    before = backup.read_bytes()
    with pytest.raises(BackupError, match="exists: name another file"):
        archive.write(backup, [], lock=Lock((identity.to_public(),)))
    assert backup.read_bytes() == before


def test_a_failed_backup_leaves_no_file(identity: Identity, tmp_path: Path) -> None:
    def broken() -> Iterator[Frame]:
        yield Frame(Kind.MANIFEST, b"{}")
        raise BackupError("the server is gone")

    with pytest.raises(BackupError, match="the server is gone"):
        archive.write(tmp_path / "a.backup", broken(), lock=Lock((identity.to_public(),)))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_reported(identity: Identity, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=r"can't be written to .* \(No such file or directory\)"):
        archive.write(tmp_path / "none" / "a.backup", [], lock=Lock((identity.to_public(),)))
