"""The gettext catalogs in locale/, extracted from the sources and compiled with Babel (`bin/messages`)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "locale"
DOMAINS = ("django", "djangojs")
CALLS = {"gettext": None, "gettext_lazy": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
# The widget marks messages with `say`, and with `phrase` for those that are shown elsewhere.
WIDGET_CALLS = {"say": None, "phrase": None}
Sentence = tuple[str | tuple[str, ...], str | None]
APPS = ("console", "conversations", "projects", "tools", "todos")


def languages() -> list[str]:
    """The languages that need a catalog: all except the source language."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def sentences(domain: str) -> Iterator[Sentence]:
    """Every message of the sources, with its context."""
    for source in _python() if domain == "django" else [*_pages(), *_widget()]:
        yield from source.sentences()


def widget_sentences() -> set[str]:
    return {str(text) for source in _widget() for text, _ in source.sentences()}


@dataclass(frozen=True)
class Source:
    """The text of a file, and the method with which Babel reads it."""

    text: str
    method: str = "javascript"
    calls: Mapping[str, Any] = field(default_factory=lambda: CALLS)

    def sentences(self) -> Iterator[Sentence]:
        options = {"parse_template_string": "true"} if self.method == "javascript" else {}
        file = io.BytesIO(self.text.encode())
        for _, message, _, context in extract(self.method, file, keywords=self.calls, options=options):
            yield message, context


def _python() -> Iterator[Source]:
    for path in sorted(path for app in APPS for path in (ROOT / app).rglob("*.py")):
        if "gettext" in (text := path.read_text()):
            yield Source(text, method="python")
    for path in sorted((ROOT / "templates").rglob("*.html")):
        if "i18n" in (text := path.read_text()):
            # `templatize` leaves calls between placeholder characters, which only the more lenient JavaScript lexer can
            # read.
            yield Source(templatize(text))


def _pages() -> Iterator[Source]:
    for path in sorted((ROOT / "static" / "js").rglob("*.js")):
        yield Source(path.read_text())


def _widget() -> Iterator[Source]:
    for path in sorted((ROOT / "static" / "widget").glob("*.js")):
        yield Source(path.read_text(), calls=WIDGET_CALLS)


def template_of(domain: str) -> Catalog:
    template = Catalog()
    for message, context in sentences(domain):
        template.add(message, context=context)
    return template


def folder_of(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES"


def stored(language: str, domain: str) -> Catalog:
    with (folder_of(language) / f"{domain}.po").open("rb") as file:
        return read_po(file, locale=language, domain=domain)


def updated(language: str, domain: str) -> Catalog:
    """The stored catalog, updated with the sources' messages. Obsolete ones are removed."""
    catalog = stored(language, domain)
    catalog.update(template_of(domain), no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def as_po(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_po(file, catalog, width=0, sort_output=True, omit_header=False)
    return file.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def missing(catalog: Catalog) -> Iterable[str]:
    return [str(message.id) for message in catalog if message.id and not (message.string and all(message.string))]


def main() -> None:
    for language in languages():
        for domain in DOMAINS:
            catalog = updated(language, domain)
            path = folder_of(language) / domain
            path.with_suffix(".po").write_bytes(as_po(catalog))
            path.with_suffix(".mo").write_bytes(as_mo(catalog))
            for sentence in missing(catalog):
                print(f"{path.with_suffix('.po').relative_to(ROOT)}: no translation of “{sentence}”")


if __name__ == "__main__":
    django.setup()
    main()
