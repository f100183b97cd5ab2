"""The widget's scripts: the modules in static/widget and their translations, bundled when a process starts.

No build tool is needed: the modules use only the syntax this module can read, and `widget_source` rejects the rest.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from gettext import translation
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

SOURCE = Path(__file__).resolve().parents[2] / "static" / "widget"
FIRST = "main.js"
# The script that makes calls. It is loaded when somebody presses "Call", and exports one function.
CALL, CALL_EXPORT = "call.js", "openCall"
IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./(\w+\.js)";\n', re.MULTILINE)
OTHER_IMPORT = re.compile(r"^(import|export \{|export default|export \*).*$", re.MULTILINE)
EXPORT = re.compile(r"^export (?=const |class |function |async )", re.MULTILINE)
NAMED = re.compile(r"^(?:const|let|class|function|async function) (\w+)", re.MULTILINE)
COMMENT = re.compile(r"^ *(//.*|/\*\*.*\*/)\n", re.MULTILINE)
INDENT = re.compile(r"^ +", re.MULTILINE)
SENTENCE = re.compile(r'\b(?:say|phrase)\("([^"]+)"')
SECONDS_KEPT = 300


class CannotBuild(ValueError):
    """A module uses syntax that the bundle doesn't support."""


@dataclass(frozen=True)
class Script:
    """The built file, plain and compressed."""

    plain: bytes
    zipped: bytes

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.plain).hexdigest()[:32]}"'


def widget_source(folder: Path = SOURCE) -> str:
    """All modules in dependency order, wrapped in one function. Raises CannotBuild."""
    return f'(() => {{\n"use strict";\n{_joined(FIRST, folder)}}})();\n'


def call_source() -> str:
    """The module that makes calls, with those it imports. Raises CannotBuild."""
    return f"{_joined(CALL, SOURCE)}export {{ {CALL_EXPORT} }};\n"


def _joined(first: str, folder: Path) -> str:
    texts = [_plain(folder / name) for name in _in_order(first, folder)]
    names = [name for text in texts for name in NAMED.findall(text)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CannotBuild(
            f"Defined in more than one widget module: {', '.join(twice)}. Names must be unique in the bundle."
        )
    catalog = json.dumps(catalog_of(first, folder), ensure_ascii=False, separators=(",", ":"))
    return INDENT.sub("", f"const CATALOG = {catalog};\n{''.join(texts)}")


@cache
def catalog_of(first: str, folder: Path = SOURCE) -> dict[str, list[str]]:
    """A script's messages by language, each at the index of its English text in `en`."""
    modules = [(folder / name).read_text() for name in _in_order(first, folder)]
    texts = sorted({text for module in modules for text in SENTENCE.findall(module)})
    return {code: _translated(texts, code) for code, _ in settings.LANGUAGES}


def widget_catalog() -> dict[str, list[str]]:
    """The messages of the widget."""
    return catalog_of(FIRST)


def _translated(texts: Sequence[str], language: str) -> list[str]:
    is_english = language == settings.LANGUAGE_CODE
    found = translation("djangojs", settings.LOCALE_PATHS[0], [language], fallback=is_english)
    return [found.gettext(text) for text in texts]


def _in_order(name: str, folder: Path, seen: dict[str, None] | None = None) -> list[str]:
    """A module after the modules it imports. Circular imports are ordered by first occurrence."""
    seen = {} if seen is None else seen
    if name in seen:
        return []
    seen[name] = None
    needed = [one for other in IMPORT.findall((folder / name).read_text()) for one in _in_order(other, folder, seen)]
    return [*needed, name]


def _plain(path: Path) -> str:
    text = IMPORT.sub("", path.read_text())
    if found := OTHER_IMPORT.search(text):
        raise CannotBuild(f"{path.name}: “{found[0]}” is not supported. Import named bindings on one line.")
    return COMMENT.sub("", EXPORT.sub("", text))


@cache
def built(first: str = FIRST) -> Script:
    plain = (widget_source() if first == FIRST else call_source()).encode()
    return Script(plain, gzip.compress(plain, 9, mtime=0))


def _etag(request: HttpRequest, *, first: str = FIRST) -> str:
    return built(first).etag


@require_safe
@condition(etag_func=_etag)
def widget_script(request: HttpRequest, *, first: str = FIRST) -> HttpResponse:
    """GET a script. Any page may load it; the endpoints decide what it may do."""
    script = built(first)
    is_zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(script.zipped if is_zipped else script.plain, content_type="text/javascript; charset=utf-8")
    if is_zipped:
        response["Content-Encoding"] = "gzip"
    response["Vary"] = "Accept-Encoding"
    response["Cache-Control"] = f"public, max-age={SECONDS_KEPT}"
    response["Access-Control-Allow-Origin"] = "*"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
