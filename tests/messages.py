"""The gettext catalogs, extracted from the sources and compiled with Babel (`bin/messages`).

`locale/` has the texts for customers, `console/locale/` those for staff that customers don't read.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import django
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

from projects.common.admin_names import NAMES

ROOT = Path(__file__).resolve().parents[1]
DOMAINS = ("django", "djangojs")
# The names by which sources mark a message.
CALLS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop", "lazy")),
    "ngettext": (1, 2),
    **dict.fromkeys(("pgettext", "plazy"), ((1, "c"), 2)),
    "npgettext": ((1, "c"), 2, 3),
}
# The widget marks messages with `say`, and with `phrase` for those that are shown elsewhere.
WIDGET_CALLS = {"say": None, "phrase": None}
Sentence = tuple[str | tuple[str, ...], str | None]
APPS = ("config", "console", "conversations", "jobs", "notices", "operations", "privacy", "projects", "tools", "todos")
# What customers read. The sources of the widget are theirs, too.
FOR_CUSTOMERS = (
    "console/bookings/customer.py",
    "conversations/calls/gap_notice.py",
    "conversations/channels/blocks.py",
    "conversations/channels/keywords.py",
    "conversations/common/translations.py",
    "conversations/handover/attachments.py",
    "conversations/handover/customer_files.py",
    "conversations/handover/file_types.py",
    "conversations/handover/notices.py",
    "conversations/portal/",
    "static/js/attachments.js",
    "static/js/files.js",
    "static/js/portal.js",
    "templates/bookings/own/",
    "templates/portal/",
    "tools/services/bookings/translations.py",
)


@dataclass(frozen=True)
class Audience:
    """Readers with catalogs of their own: `folder`, without those of English."""

    folder: str
    codes: tuple[str, ...]

    def languages(self) -> list[str]:
        return [code for code in self.codes if code != settings.LANGUAGE_CODE]

    def sentences(self, domain: str) -> tuple[Sentence, ...]:
        """The messages of the sources, with their context. Staff's don't repeat those of customers."""
        if self is CUSTOMERS:
            return _of_customers(domain)
        known = set(_of_customers(domain))
        return tuple(one for one in _of_staff(domain) if one not in known)

    def folder_of(self, language: str) -> Path:
        return ROOT / self.folder / language / "LC_MESSAGES"


CUSTOMERS = Audience("locale", tuple(code for code, _ in settings.LANGUAGES))
STAFF = Audience("console/locale", tuple(code for code, _ in settings.STAFF_LANGUAGES))


# Read once: the catalogs of all languages have the same messages.
@cache
def _of_customers(domain: str) -> tuple[Sentence, ...]:
    sources = python_sources() if domain == "django" else [*_pages(), *_widget()]
    return tuple(sentence for source in sources if source.is_for_customers for sentence in source.sentences())


@cache
def _of_staff(domain: str) -> tuple[Sentence, ...]:
    sources = python_sources() if domain == "django" else _pages()
    names = ((name, context) for context, name in sorted(NAMES) if domain == "django")
    found = (sentence for source in sources if not source.is_for_customers for sentence in source.sentences())
    return (*names, *found)


def widget_sentences() -> set[str]:
    return {str(text) for source in _widget() for text, _ in source.sentences()}


@dataclass(frozen=True)
class Source:
    """The text of a file, and the method with which Babel reads it."""

    path: Path
    text: str
    method: str = "javascript"
    calls: Mapping[str, Any] = field(default_factory=lambda: CALLS)

    @property
    def is_for_customers(self) -> bool:
        return self.calls is WIDGET_CALLS or str(self.path.relative_to(ROOT)).startswith(FOR_CUSTOMERS)

    def sentences(self) -> Iterator[Sentence]:
        options = {"parse_template_string": "true"} if self.method == "javascript" else {}
        file = io.BytesIO(self.text.encode())
        for _, message, _, context in extract(self.method, file, keywords=self.calls, options=options):
            yield message, context


def python_sources() -> Iterator[Source]:
    for path in sorted(path for app in APPS for path in (ROOT / app).rglob("*.py")):
        if "gettext" in (text := path.read_text()) or "translation import" in text:
            yield Source(path, text, method="python")
    for path in sorted(path for kind in ("html", "txt") for path in (ROOT / "templates").rglob(f"*.{kind}")):
        if "i18n" in (text := path.read_text()):
            # `templatize` leaves calls between placeholder characters, which only the more lenient JavaScript lexer can
            # read.
            yield Source(path, templatize(text))


def _pages() -> Iterator[Source]:
    for path in sorted((ROOT / "static" / "js").rglob("*.js")):
        yield Source(path, path.read_text())


def _widget() -> Iterator[Source]:
    for path in sorted((ROOT / "static" / "widget").glob("*.js")):
        yield Source(path, path.read_text(), calls=WIDGET_CALLS)


def template_of(audience: Audience, domain: str) -> Catalog:
    template = Catalog()
    for message, context in audience.sentences(domain):
        template.add(message, context=context)
    return template


def _read(audience: Audience, language: str, domain: str) -> Catalog:
    with (audience.folder_of(language) / f"{domain}.po").open("rb") as file:
        return read_po(file, locale=language, domain=domain)


# A catalog that was read is shared: nobody changes it.
stored = cache(_read)


@cache
def updated(audience: Audience, language: str, domain: str) -> Catalog:
    """The stored catalog, updated with the sources' messages. Obsolete ones are removed."""
    catalog = _read(audience, language, domain)
    catalog.update(template_of(audience, domain), no_fuzzy_matching=True, update_creation_date=False)
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
    """Messages without a translation, or with one that is marked as a guess, which isn't compiled."""
    named = (message for message in catalog if message.id)
    return [str(one.id) for one in named if one.fuzzy or not (one.string and all(one.string))]


def main() -> None:
    for audience in (CUSTOMERS, STAFF):
        for language in audience.languages():
            for domain in DOMAINS:
                _write(audience, language, domain)


def _write(audience: Audience, language: str, domain: str) -> None:
    catalog = updated(audience, language, domain)
    path = audience.folder_of(language) / domain
    path.with_suffix(".po").write_bytes(as_po(catalog))
    path.with_suffix(".mo").write_bytes(as_mo(catalog))
    for sentence in missing(catalog):
        print(f"{path.with_suffix('.po').relative_to(ROOT)}: no translation of “{sentence}”")


if __name__ == "__main__":
    django.setup()
    main()
