"""The message catalogs in locale/: complete, current and consistent."""

from __future__ import annotations

import ast
import difflib
import re
from itertools import islice

import pytest
from babel.messages.catalog import Message
from django.conf import settings

from conversations.widget.bundle import CALL, catalog_of, widget_catalog
from projects.widget.languages import best_language
from projects.widget.theme import LANGUAGES
from tests.messages import (
    CALLS,
    CUSTOMERS,
    DOMAINS,
    STAFF,
    Audience,
    as_mo,
    as_po,
    missing,
    python_sources,
    stored,
    updated,
    widget_sentences,
)

GAP = re.compile(r"%\(\w+\)s")
each_catalogue = pytest.mark.parametrize(
    ("audience", "language", "domain"),
    [
        pytest.param(audience, language, domain, id=f"{audience.folder}/{language}-{domain}")
        for audience in (CUSTOMERS, STAFF)
        for language in audience.languages()
        for domain in DOMAINS
    ],
)


def gaps(texts: object) -> set[str]:
    return set(GAP.findall(str(texts)))


def test_the_widget_may_be_shown_in_every_language() -> None:
    assert {code for code, _ in settings.LANGUAGES} == set(LANGUAGES) - {"auto"}


def test_no_message_is_marked_inside_an_f_string() -> None:
    """The extraction reads an f-string as one token and would miss it."""
    found = [
        f"{source.path.name}: {ast.unparse(node)}"
        for source in python_sources()
        if source.path.suffix == ".py"
        for node in ast.walk(ast.parse(source.text))
        if isinstance(node, ast.JoinedStr)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in CALLS
    ]
    assert found == []


@each_catalogue
def test_every_message_is_translated(audience: Audience, language: str, domain: str) -> None:
    assert missing(updated(audience, language, domain)) == []


@each_catalogue
def test_the_catalogs_match_bin_messages(audience: Audience, language: str, domain: str) -> None:
    written = (audience.folder_of(language) / f"{domain}.po").read_text().splitlines()
    differences = difflib.unified_diff(written, as_po(updated(audience, language, domain)).decode().splitlines(), n=0)
    assert list(islice(differences, 20)) == []


@each_catalogue
def test_compiled_catalogs_are_current(audience: Audience, language: str, domain: str) -> None:
    compiled = (audience.folder_of(language) / f"{domain}.mo").read_bytes()
    is_current = compiled == as_mo(stored(audience, language, domain))
    assert is_current


@each_catalogue
def test_translations_keep_the_placeholders(audience: Audience, language: str, domain: str) -> None:
    messages = [message for message in stored(audience, language, domain) if message.id and message.string]
    assert [
        message.id for message in messages if any(message.string) and gaps(message.string) != gaps(message.id)
    ] == []


@pytest.mark.parametrize("language", CUSTOMERS.languages())
def test_shared_messages_have_one_translation(language: str) -> None:
    """A message of both Python and JavaScript has the same translation."""

    def by_id(domain: str) -> dict[tuple[object, str | None], Message]:
        return {(message.id, message.context): message for message in stored(CUSTOMERS, language, domain) if message.id}

    python, script = (by_id(domain) for domain in DOMAINS)
    assert [key for key in python.keys() & script.keys() if python[key].string != script[key].string] == []


def test_the_widgets_table_contains_every_message_of_its_modules() -> None:
    tables = [widget_catalog(), catalog_of(CALL)]
    assert {text for table in tables for text in table["en"]} == widget_sentences()
    for table in tables:
        assert {len(texts) for texts in table.values()} == {len(table["en"])}


@pytest.mark.parametrize(
    ("codes", "language"),
    [
        (["it-CH"], "it"),
        (["IT"], "it"),
        (["", "auto", "de"], "de"),
        (["ja", "fr"], "fr"),
        (["x" * 600], "en"),
        (["Italian?"], "en"),
        ([], "en"),
    ],
)
def test_a_language_code_falls_back(codes: list[str], language: str) -> None:
    assert best_language(*codes) == language
