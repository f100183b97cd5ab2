"""In-process cache of the stored definitions, and interpolation of names.

Definitions are cached for a minute. Every turn also reads, along with its project, their number and newest timestamp
(`tools.engine.business_state`); a difference invalidates the cache, so an edit or a flush takes effect on the next turn
of every process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tools.models import PlatformDefinition

CACHE_SECONDS = 60.0
PLACEHOLDER = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")


@dataclass(frozen=True)
class StoredDefinition:
    """The platform's wording of a tool. It replaces the code's wording, not its behavior."""

    description: str
    category: str
    section: str
    parameters: Mapping[str, Any] | None


@dataclass(frozen=True)
class DefinitionsVersion:
    """The version of the stored definitions: their number and the newest timestamp."""

    count: int
    newest: datetime | None


@dataclass
class _Cache:
    read_at: float = float("-inf")
    generation: DefinitionsVersion | None = None
    definitions: Mapping[str, StoredDefinition] | None = None


_cache = _Cache()


def stored_definitions() -> Mapping[str, StoredDefinition] | None:
    """The stored definitions by name, at most a minute old; None if there are none and the code's apply."""
    if time.monotonic() - _cache.read_at >= CACHE_SECONDS:
        rows = list(PlatformDefinition.objects.all())
        _cache.definitions = {row.name: row_definition(row) for row in rows} or None
        _cache.generation = DefinitionsVersion(len(rows), max((row.updated_at for row in rows), default=None))
        _cache.read_at = time.monotonic()
    return _cache.definitions


def invalidate_if_changed(count: int, newest: datetime | None) -> None:
    """Invalidate the cache if the stored definitions have changed."""
    if DefinitionsVersion(count, newest) != _cache.generation:
        invalidate_definitions()


def invalidate_definitions() -> None:
    """Invalidate this process's cache."""
    _cache.read_at = float("-inf")


def interpolate(text: str, names: Mapping[str, str]) -> str:
    """The text with `{{business}}` and the like replaced, in one pass. Unknown names stay as written."""
    return PLACEHOLDER.sub(lambda found: names.get(found[1], found[0]), text) if "{{" in text else text


def row_definition(row: PlatformDefinition) -> StoredDefinition:
    return StoredDefinition(row.description, row.category, row.section, row.parameters)
