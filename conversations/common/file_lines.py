"""The lines that stand for files in the content of a message."""

from __future__ import annotations

FILE = "[File: "


def has_files(content: str) -> bool:
    """True if files were sent with a message of this content."""
    return FILE in content
