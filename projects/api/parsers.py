"""Strict JSON parsing: rejects values that PostgreSQL can't store, that parsers read differently, or that exhaust
resources.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from projects.common.api_error import ApiError
from projects.records.attributes import type_name

MAX_DEPTH = 32
TOO_DEEP = f"JSON may be nested at most {MAX_DEPTH} levels."
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1
# The length of the longest 64-bit integer; longer ones are not parsed, because that takes quadratic time.
MAX_INTEGER_DIGITS = 20

# Linear time for any body: strings match possessively, and an unterminated one consumes the rest.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class StrictJSONParser(BaseParser):
    """Parses a JSON object, or raises ApiError 400 with the reason and the position. An empty body is `{}`."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        return parse_object(stream.read())


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body. Raises ApiError."""
    if not body.strip():
        return {}
    _check_depth(body)
    value = _load(_decode(body))
    if not isinstance(value, dict):
        raise ApiError("not_an_object", f"Body must be a JSON object, not {type_name(value)}.")
    _check_values(value, has_escapes=b"\\u" in body)
    return value


def parse_value(text: str) -> Any:
    """Any JSON value, under the same rules as a body. Raises ApiError."""
    _check_depth(text.encode("utf-8", "replace"))
    value = _load(text)
    _check_values({"value": value}, has_escapes="\\u" in text)
    return value


def check_value(value: Any) -> None:
    """Check an already parsed value against the same rules. Raises ApiError."""
    items, depth = [value], 0
    while items := [item for part in items for item in _items_of(part)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ApiError("json_too_deep", TOO_DEEP)
    _check_values(value if isinstance(value, dict) else {"value": value}, has_escapes=True)


def _items_of(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _check_depth(body: bytes) -> None:
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _TOKEN.finditer(body):
        first = token.group()[:1]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise ApiError("json_too_deep", TOO_DEEP)


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ApiError("invalid_json", f"Body is not valid UTF-8 at byte {error.start + 1}.") from error


def _load(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ApiError("invalid_json", f"Body is not valid JSON at {where}: {error.msg}.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise ApiError("duplicate_key", f"Key '{key[:100]}' appears twice.", field=key[:100])
        seen.add(key)
    return found


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= MAX_INTEGER_DIGITS else MAX_INTEGER + 1


def _check_values(root: dict[str, Any], *, has_escapes: bool) -> None:
    """Reject values that a column or another parser can't represent. Invalid text can only come from a `\\u` escape."""
    for path, value in _leaves(root, path=()):
        if isinstance(value, str):
            if has_escapes:
                _check_text(path, value)
        elif isinstance(value, float):
            _check_float(path, value)
        elif isinstance(value, int) and not MIN_INTEGER <= value <= MAX_INTEGER:
            name = _display_path(path)
            raise ApiError("out_of_range", f"{name} must be between {MIN_INTEGER} and {MAX_INTEGER}.", field=name)


def _leaves(value: Any, *, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every string and number with its path; a key counts as a string of its object."""
    if isinstance(value, dict):
        for key, item in value.items():
            inner = (*path, key)
            yield path or inner, key
            yield from _leaves(item, path=inner)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, path=(*path, str(index)))
    else:
        yield path, value


def _check_text(path: tuple[str, ...], text: str) -> None:
    if "\0" in text:
        raise ApiError("nul_character", f"{_display_path(path)} contains a NUL character.", field=_display_path(path))
    if _SURROGATE.search(text):
        # Only the outermost name is certain to be printable.
        top = _display_path(path[:1])
        raise ApiError("invalid_unicode", f"{top} contains text that is not valid Unicode.", field=_display_path(path))


def _check_float(path: tuple[str, ...], value: float) -> None:
    if not math.isfinite(value):
        name = _display_path(path)
        raise ApiError("out_of_range", f"{name} must be a number between -1.8e308 and 1.8e308.", field=name)


def _display_path(path: tuple[str, ...]) -> str:
    """The dotted path, made printable: a name in it may contain the very characters it is rejected for."""
    return ".".join(path).replace("\0", "\\u0000")[:200]
