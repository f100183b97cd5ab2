"""The stored definitions as a process keeps them, and the names that are filled in.

A process keeps what it has read for a minute (F05). Every turn reads, along with its project, how many definitions there are
and when the newest was written (`tools.engine.business_state`): where that is another than what is kept, they are read anew at once, so
that an edit and a flush count from the next turn on, in every process (F04).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tools.models import PlatformDefinition

KEPT_SECONDS = 60.0
NAME = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")


@dataclass(frozen=True)
class StoredDefinition:
    """How the platform's people have worded a tool: what replaces the code's words, and nothing of what it does."""

    description: str
    category: str
    section: str
    parameters: Mapping[str, Any] | None


@dataclass(frozen=True)
class Generation:
    """Which definitions there are: how many, and when the newest was written."""

    count: int
    newest: datetime | None


@dataclass
class _Kept:
    read_at: float = float("-inf")
    generation: Generation | None = None
    definitions: Mapping[str, StoredDefinition] | None = None


_kept = _Kept()


def stored_definitions() -> Mapping[str, StoredDefinition] | None:
    """The stored definitions by name, at most a minute old; None where there are none, and the code's hold (F01)."""
    if time.monotonic() - _kept.read_at >= KEPT_SECONDS:
        rows = list(PlatformDefinition.objects.all())
        _kept.definitions = {row.name: _definition_of(row) for row in rows} or None
        _kept.generation = Generation(len(rows), max((row.updated_at for row in rows), default=None))
        _kept.read_at = time.monotonic()
    return _kept.definitions


def notice_definitions(count: int, newest: datetime | None) -> None:
    """Take note of which definitions there are now: those that are kept are forgotten if they are others."""
    if Generation(count, newest) != _kept.generation:
        forget_definitions()


def forget_definitions() -> None:
    """Read them anew at the next use, in this process."""
    _kept.read_at = float("-inf")


def interpolate(text: str, names: Mapping[str, str]) -> str:
    """The text with `{{business}}` and its like replaced, once: what is put in is not looked at again (F02). A name that
    isn't known stays as it stands.
    """
    return NAME.sub(lambda found: names.get(found[1], found[0]), text) if "{{" in text else text


def _definition_of(row: PlatformDefinition) -> StoredDefinition:
    return StoredDefinition(row.description, row.category, row.section, row.parameters)
