"""The places of contents, by their addresses, and what is done in them.

Every call may wait for a network: make it outside of any transaction, in one of a few threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import InvalidStorageError, storages

from conversations.files.listed import Pages

# The contents are columns of their rows. As in config.file_places, which no room below can import.
POSTGRESQL = "postgresql:"
LONGEST_REASON = 200


class FileGone(Exception):
    """The place has no such object."""


class FilesUnavailable(Exception):
    """A place can't be used now. The message is for the operator, and names it and the reason."""


def place_of_new_files() -> str:
    """The address of the place that takes new contents."""
    return next(iter(settings.FILE_PLACES))


def places() -> list[str]:
    """The addresses of all places but PostgreSQL."""
    return [place for place in settings.FILE_PLACES if place != POSTGRESQL]


def write_object(place: str, name: str, content: bytes) -> None:
    """Write an object, or write it again. Raises FilesUnavailable."""
    with _opened(place) as storage:
        storage.save(name, ContentFile(content))


def read_object(place: str, name: str) -> bytes:
    """The content of an object. Raises FileGone or FilesUnavailable."""
    with _opened(place) as storage:
        return bytes(storage.content(name))


def delete_object(place: str, name: str) -> None:
    """Delete an object, if it exists. Raises FilesUnavailable."""
    with _opened(place) as storage:
        storage.delete(name)


def list_objects(place: str) -> Pages:
    """All objects of a place, in pages. Raises FilesUnavailable."""
    with _opened(place) as storage:
        yield from storage.pages()


def ask(place: str) -> None:
    """Read an object that doesn't exist. Raises FilesUnavailable."""
    with suppress(FileGone):
        read_object(place, f"probe-{uuid4().hex}")


def probe(place: str) -> None:
    """Write, read and delete an object. Raises FilesUnavailable."""
    name, content = f"probe-{uuid4().hex}", uuid4().bytes
    write_object(place, name, content)
    try:
        if read_object(place, name) != content:
            raise FilesUnavailable(f"{place} returns something else than was written.")
    except FileGone:
        raise FilesUnavailable(f"{place} doesn't have what was just written.") from None
    finally:
        delete_object(place, name)


@contextmanager
def _opened(place: str) -> Iterator[Any]:
    """The storage of a place, whose failures become FilesUnavailable."""
    try:
        storage: Any = storages[place]
    except InvalidStorageError:
        raise FilesUnavailable(f"{place} isn't in MAKEGOOD_FILES.") from None
    try:
        yield storage
    except FileNotFoundError:
        raise FileGone(place) from None
    except storage.errors as error:
        raise FilesUnavailable(f"{place} can't be used: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", "") or str(error) or type(error).__name__)[:LONGEST_REASON]
