"""The gettext catalogues in locale/: collected from the sources and compiled with Babel. `bin/messages` runs this."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

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
# The widget has no globals of Django's: it `say`s a sentence, and names a `phrase` that is said elsewhere.
WIDGET_CALLS = {"say": None, "phrase": None}
APPS = ("conversations", "projects", "tools", "todos")


def languages() -> list[str]:
    """The languages that need a catalogue: all but the one of the source."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def sentences(domain: str) -> Iterator[tuple[str | tuple[str, ...], str | None]]:
    """Each sentence of the sources, with its context."""
    for text, method, calls in _python() if domain == "django" else _javascript():
        options = {"parse_template_string": "true"} if method == "javascript" else {}
        for _, message, _, context in extract(method, io.BytesIO(text.encode()), keywords=calls, options=options):
            yield message, context


def _python() -> Iterator[tuple[str, str, dict]]:
    for path in sorted(path for app in APPS for path in (ROOT / app).rglob("*.py")):
        if "gettext" in (text := path.read_text()):
            yield text, "python", CALLS
    for path in sorted((ROOT / "templates").rglob("*.html")):
        if "i18n" in (text := path.read_text()):
            # Its form is that of calls, between crosses: a lexer for JavaScript is the more lenient one.
            yield templatize(text), "javascript", CALLS


def _javascript() -> Iterator[tuple[str, str, dict]]:
    for path in sorted((ROOT / "static" / "js").rglob("*.js")):
        yield path.read_text(), "javascript", CALLS
    for path in sorted((ROOT / "static" / "widget").glob("*.js")):
        yield path.read_text(), "javascript", WIDGET_CALLS


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
    """The stored catalogue with the sources' sentences; one that nothing says any more is gone."""
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
