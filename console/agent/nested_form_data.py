"""Posted form data as a tree: `scenarios.0.steps.1.text` is the text of a scenario's step.

List items keep their order in the form, whatever their index, so a script can move items without renaming fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import QueryDict

Node = dict[str, Any]
# Long forms are packed into one field, because the number of fields in a request is limited.
PACKED = "entries"
DEEPEST = 8
NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")


def read_entries(posted: QueryDict) -> Node:
    """Parse a posted form, or the packed field."""
    tree: Node = {}
    for name, text in _pairs(posted):
        _put(tree, name.split("."), text.replace("\r\n", "\n").replace("\r", "\n"))
    return tree


def text_of(node: Node, name: str) -> str:
    """A text field; empty if missing."""
    value = node.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def note_of(node: Node) -> str:
    """The field `note` without control characters, cut at 200 characters."""
    return "".join(character for character in text_of(node, "note") if character.isprintable())[:200]


def words_of(node: Node, name: str) -> list[str]:
    """A comma-separated text field as a list."""
    return [word.strip() for word in text_of(node, name).split(",") if word.strip()]


def part_of(node: Node, name: str) -> Node:
    """A group of fields; empty if missing."""
    value = node.get(name)
    return value if isinstance(value, dict) else {}


def rows_of(node: Node, name: str) -> list[Node]:
    """The items of a list, in form order."""
    return [row for row in part_of(node, name).values() if isinstance(row, dict)]


def number_of(node: Node, name: str) -> int:
    """A non-negative integer; 0 if missing or invalid."""
    text = text_of(node, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def number_or_text(text: str) -> int | float | str:
    """A typed number, or the text itself, which the settings then refuse."""
    if not NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


def _pairs(posted: QueryDict) -> Iterator[tuple[str, str]]:
    packed = _unpacked(posted.get(PACKED, ""))
    for name, values in posted.lists():
        packed.extend((name, str(value)) for value in values)
    yield from packed


def _unpacked(text: str) -> list[tuple[str, str]]:
    try:
        found = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    return list(_texts(found)) if isinstance(found, list) else []


def _texts(found: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for pair in found:
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair):
            yield pair[0], pair[1]


def _put(tree: Node, path: list[str], text: str) -> None:
    if len(path) > DEEPEST:
        return
    for part in path[:-1]:
        child = tree.setdefault(part, {})
        if not isinstance(child, dict):
            return
        tree = child
    tree.setdefault(path[-1], text)
