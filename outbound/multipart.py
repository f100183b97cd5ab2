"""Bodies of the type multipart/form-data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx2


@dataclass(frozen=True)
class UploadedFile:
    """A file in a form: the name of its field, its own name, its type and its content."""

    field: str
    name: str
    content_type: str
    content: bytes


def encode_form(fields: Mapping[str, str], file: UploadedFile) -> tuple[bytes, str]:
    """The body of a form with a file, and its content type."""
    files = {file.field: (file.name, file.content, file.content_type)}
    # The address is that of no request: only its encoding is used.
    request = httpx2.Request("POST", "http://form.invalid/", data=dict(fields), files=files)
    return request.read(), request.headers["Content-Type"]
