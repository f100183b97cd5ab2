"""Streams encrypted in the age format (age-encryption.org/v1).

age encrypts chunks of 64 KiB, each with its position and a mark on the last one, so a chunk that is changed, moved,
repeated or missing is noticed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from threading import Thread

import pyrage

from config.backup.errors import BackupError
from config.backup.frames import CUT

PIECE = 1 << 16
WRONG_KEY = "No matching keys found"


def encrypt(
    plain: Iterable[bytes], target: io.BufferedIOBase, *, recipients: Sequence[pyrage.x25519.Recipient]
) -> None:
    """Write the encrypted bytes to `target`. Errors of `plain` are raised as they are."""
    source = _Source(plain)
    try:
        pyrage.encrypt_io(source, target, recipients)
    except Exception:
        # The library hides the error of its input behind one of its own.
        if source.error is not None:
            raise source.error from None
        raise


class _Source(io.BufferedIOBase):
    """Blocks as a file, for the library to read from."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rest = memoryview(b"")
        self.error: Exception | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        try:
            while not self._rest:
                self._rest = memoryview(next(self._blocks))
        except StopIteration:
            return b""
        except Exception as error:
            self.error = error
            raise
        end = len(self._rest) if size is None or size < 0 else size
        part, self._rest = bytes(self._rest[:end]), self._rest[end:]
        return part


def decrypt(source: io.BufferedIOBase, *, identity: pyrage.x25519.Identity) -> Iterator[bytes]:
    """The decrypted bytes of `source`. Raises BackupError for a wrong key, and at the end for a cut or changed file.

    The library pushes its output, so it runs in a thread, and a pipe holds it back while the bytes aren't taken.
    """
    outlet, inlet = os.pipe()
    failures: list[Exception] = []

    def push() -> None:
        try:
            with io.BufferedWriter(io.FileIO(inlet, "wb"), PIECE) as target:
                pyrage.decrypt_io(source, target, [identity])
        except Exception as error:  # the thread's boundary: raised by the reader
            failures.append(error)

    thread = Thread(target=push, name="decrypt", daemon=True)
    thread.start()
    with os.fdopen(outlet, "rb", buffering=0) as plain:
        while block := plain.read(PIECE):
            yield block
    thread.join()
    for failure in failures:
        raise _meaning(failure) from failure


def _meaning(failure: Exception) -> BackupError:
    if WRONG_KEY in str(failure):
        return BackupError("This key doesn't open the backup: give the key that it was made with.")
    return BackupError(CUT)
