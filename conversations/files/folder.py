"""A folder as a storage: what was saved is on the disk, whole, before `save` returns."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from conversations.files.listed import PAGE, ListedObject, Pages


class Folder(FileSystemStorage):
    """Django's storage of a folder. The folder itself is never created: a disk may not be mounted."""

    errors: ClassVar[tuple[type[Exception], ...]] = (OSError,)

    def __init__(self, location: str) -> None:
        super().__init__(location, allow_overwrite=True)

    def content(self, name: str) -> bytes:
        """The object's content. Raises FileNotFoundError, and another OSError if the folder can't be read."""
        return self._path(name).read_bytes()

    def delete(self, name: str) -> None:
        """Delete the object, if it exists."""
        path = self._path(name)
        path.unlink(missing_ok=True)
        if path.parent.exists():
            _sync(path.parent)

    def pages(self) -> Pages:
        """All objects, in pages."""
        root = self._path(".")
        files = (path for path in root.rglob("*") if path.is_file())
        while page := list(islice(files, PAGE)):
            yield [found for path in page if (found := _listed(path, root)) is not None]

    def _save(self, name: str, content: File[Any]) -> str:
        path = self._path(name)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        written = path.with_suffix(".new")
        with open(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.writelines(content.chunks())
            file.flush()
            os.fsync(file.fileno())
        written.replace(path)
        _sync(path.parent)
        _sync(path.parent.parent)
        return name

    def _path(self, name: str) -> Path:
        """The object's path. Raises NotADirectoryError if the folder isn't there."""
        if not Path(self.location).is_dir():
            raise NotADirectoryError(f"{self.location} is no folder")
        return Path(self.path(name))


def _listed(path: Path, root: Path) -> ListedObject | None:
    """None for a file that was deleted meanwhile."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return ListedObject(str(path.relative_to(root)), state.st_size, datetime.fromtimestamp(state.st_mtime, UTC))


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
