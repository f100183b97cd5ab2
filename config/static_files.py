"""Static files under addresses with a version, which browsers keep for a year: `/static/3f5a9c0d1e2b/js/bell.js`.

The version is a hash of all static files, and a folder of the address. Imports of modules and `url()` of style sheets
are relative, so they lead to the same version: no file is rewritten, and nothing is collected before a start.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

DIGITS = 12
ADDRESS = re.compile(rf"{re.escape(settings.STATIC_URL)}(?:([0-9a-f]{{{DIGITS}}})/)?(.+)", re.DOTALL)
KEPT = f"public, max-age={365 * 24 * 60 * 60}, immutable"
# For the version of another process: a page from before a deployment, or of a server that is ahead of this one.
REVALIDATED = "no-cache"


@dataclass(frozen=True)
class StaticFile:
    """A file on disk, with the time and size that it had when this process began."""

    path: str
    stamp: tuple[int, int]

    @property
    def is_unchanged(self) -> bool:
        return os.path.exists(self.path) and self.stamp == _stamp(self.path)


@dataclass(frozen=True)
class StaticFiles:
    """All static files by name, and their version."""

    version: str
    files: Mapping[str, StaticFile]


@cache
def static_files() -> StaticFiles:
    digest = hashlib.sha256()
    files = {name: StaticFile(path, _stamp(path)) for name, path in sorted(_paths().items())}
    for name, file in files.items():
        content = Path(file.path).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return StaticFiles(digest.hexdigest()[:DIGITS], files)


def _paths() -> dict[str, str]:
    """The path of each file by its name. Of several files of a name the first counts, as in `finders.find`."""
    paths: dict[str, str] = {}
    for finder in finders.get_finders():
        for name, storage in finder.list(None):
            paths.setdefault(name, storage.path(name))
    return paths


def _stamp(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


class VersionedStorage(StaticFilesStorage):
    """Gives out the addresses, for `{% static %}`. With `DEBUG` they have no version, so that an edit shows at once."""

    def url(self, name: str | None) -> str:
        return super().url(name if settings.DEBUG else f"{static_files().version}/{name}")


class VersionedMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # WhiteNoise has no types
    """Serves the files under this version, under any other and without one.

    A file that changed on disk since the process began, as between `git pull` and the restart, is served as it is now, and
    browsers don't keep it: they would have the wrong file for this version for a year.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.autorefresh:
            static_files()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        parts = ADDRESS.fullmatch(request.path_info)
        is_unchanged = parts is not None and not self.autorefresh and self._is_unchanged(parts[2])
        file = self._file(parts[2], is_unchanged=is_unchanged) if parts else None
        if parts is None or file is None:
            answer: HttpResponseBase = self.get_response(request)
            return answer
        response: HttpResponseBase = self.serve(file, request)
        if version := parts[1]:
            is_kept = is_unchanged and version == static_files().version
            response["Cache-Control"] = KEPT if is_kept else REVALIDATED
        return response

    def _is_unchanged(self, name: str) -> bool:
        file = static_files().files.get(name)
        return file is not None and file.is_unchanged

    def _file(self, name: str, *, is_unchanged: bool) -> Any:
        """WhiteNoise's answer with the file: prepared, or made from what is on disk now; None if there is no such file."""
        address = f"{settings.STATIC_URL}{name}"
        return self.files.get(address) if is_unchanged else self.find_file(address)
