"""Seeding stored definitions from the code or from files. Edited ones are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from django.db import transaction

from tenancy.scope import platform_scope
from tools.engine.catalogue import code_definition
from tools.engine.platform.stored import StoredDefinition, invalidate_definitions, row_definition
from tools.engine.platform.validation import called_tools, definition_problems
from tools.models import PlatformDefinition

FIELDS = ("category", "description", "section", "parameters")


class SeedRefused(ValueError):
    """A seed file is invalid; the message names it and the reason."""


class SeedResult(StrEnum):
    """The result of seeding a definition."""

    ADDED = "added"
    SAME = "unchanged"
    RENEWED = "updated"
    KEPT = "kept, because it was edited"
    OVERWRITTEN = "overwritten"


@dataclass(frozen=True)
class SeededDefinition:
    """A definition after seeding; `changes` lists the changed fields."""

    name: str
    result: SeedResult
    changes: list[str]


def code_seeds() -> dict[str, StoredDefinition]:
    """The code's definitions of the tools that models call."""
    return {name: code_definition(tool) for name, tool in sorted(called_tools().items())}


def read_seeds(folder: Path) -> dict[str, StoredDefinition]:
    """Read the seed files `<name>.json` of a folder. Raises SeedRefused before anything is written."""
    found = {path.stem: _read(path) for path in sorted(folder.glob("*.json"))}
    if not found:
        raise SeedRefused(f"There is no file <name>.json in {folder}.")
    for name, words in found.items():
        if problems := definition_problems(name, words):
            raise SeedRefused(f"{name}.json: {problems[0].message}")
    return found


def write_seeds(folder: Path) -> list[Path]:
    """Write the code's definitions as seed files, one per tool."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_write(folder / f"{name}.json", words) for name, words in code_seeds().items()]


def seed_tools(seeds: Mapping[str, StoredDefinition], *, overwrite: bool) -> list[SeededDefinition]:
    """Store the seeds, all or none. Idempotent."""
    with platform_scope(), transaction.atomic(using="ops"):
        existing = {row.name: row for row in PlatformDefinition.objects.select_for_update()}
        seeded = [_seed(name, words, existing.get(name), overwrite=overwrite) for name, words in seeds.items()]
    invalidate_definitions()
    return seeded


def is_edited(row: PlatformDefinition) -> bool:
    """True if the row differs from what the seed command last wrote."""
    return row.seed != digest_of(row_definition(row))


def digest_of(words: StoredDefinition) -> str:
    """The digest that identifies a wording."""
    return hashlib.sha256(json.dumps(asdict(words), sort_keys=True).encode()).hexdigest()


def _seed(name: str, words: StoredDefinition, row: PlatformDefinition | None, *, overwrite: bool) -> SeededDefinition:
    was_edited = row is not None and is_edited(row)
    if row is not None and row_definition(row) == words and not was_edited:
        return SeededDefinition(name, SeedResult.SAME, [])
    if was_edited and not overwrite:
        return SeededDefinition(name, SeedResult.KEPT, [])
    changes = list(_changes(row_definition(row), words)) if row else []
    PlatformDefinition.objects.update_or_create(name=name, defaults={**asdict(words), "seed": digest_of(words)})
    return SeededDefinition(
        name, SeedResult.OVERWRITTEN if was_edited else SeedResult.RENEWED if row else SeedResult.ADDED, changes
    )


def _changes(old: StoredDefinition, new: StoredDefinition) -> Iterator[str]:
    for field in FIELDS:
        before, after = getattr(old, field), getattr(new, field)
        if before != after:
            yield f"{field}: {_short(before)} is now {_short(after)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    shown = " ".join(text.split())
    return f"“{shown[:80]}{'…' if len(shown) > 80 else ''}”"


def _read(path: Path) -> StoredDefinition:
    try:
        document = json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise SeedRefused(f"{path.name} isn't valid JSON: {error}.") from error
    if not isinstance(document, dict) or set(document) - {*FIELDS, "name"}:
        raise SeedRefused(f"{path.name} must be an object with {', '.join(FIELDS)}, and nothing else.")
    texts = {field: document.get(field) or "" for field in FIELDS[:-1]}
    if wrong := next((field for field, text in texts.items() if not isinstance(text, str)), None):
        raise SeedRefused(f"{path.name}: {wrong} must be text.")
    return StoredDefinition(**texts, parameters=document.get("parameters"))


def _write(path: Path, words: StoredDefinition) -> Path:
    document = {"name": path.stem, **{field: getattr(words, field) for field in FIELDS}}
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return path
