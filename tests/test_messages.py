"""The message catalogs in locale/: complete, current and consistent."""

from __future__ import annotations

import re

import pytest
from babel.messages.catalog import Message
from django.conf import settings

from conversations.widget.bundle import widget_catalog
from projects.widget.languages import best_language
from projects.widget.theme import LANGUAGES
from tests.messages import DOMAINS, as_mo, as_po, folder_of, languages, missing, stored, updated, widget_sentences

GAP = re.compile(r"%\(\w+\)s")
each_catalogue = pytest.mark.parametrize(("language", "domain"), [(one, two) for one in languages() for two in DOMAINS])


def gaps(texts: object) -> set[str]:
    return set(GAP.findall(str(texts)))


def test_the_widget_may_be_shown_in_every_language() -> None:
    assert {code for code, _ in settings.LANGUAGES} == set(LANGUAGES) - {"auto"}


@each_catalogue
def test_every_message_is_translated(language: str, domain: str) -> None:
    assert missing(updated(language, domain)) == []


@each_catalogue
def test_the_catalogs_match_bin_messages(language: str, domain: str) -> None:
    assert (folder_of(language) / f"{domain}.po").read_bytes() == as_po(updated(language, domain))


@each_catalogue
def test_compiled_catalogs_are_current(language: str, domain: str) -> None:
    assert (folder_of(language) / f"{domain}.mo").read_bytes() == as_mo(stored(language, domain))


@each_catalogue
def test_translations_keep_the_placeholders(language: str, domain: str) -> None:
    messages = [message for message in stored(language, domain) if message.id]
    assert [message.id for message in messages if gaps(message.string) != gaps(message.id)] == []


@pytest.mark.parametrize("language", languages())
def test_shared_messages_have_one_translation(language: str) -> None:
    """A message of both Python and JavaScript has the same translation."""

    def by_id(domain: str) -> dict[tuple[object, str | None], Message]:
        return {(message.id, message.context): message for message in stored(language, domain) if message.id}

    python, script = (by_id(domain) for domain in DOMAINS)
    assert [key for key in python.keys() & script.keys() if python[key].string != script[key].string] == []


def test_the_widgets_table_contains_every_message_of_its_modules() -> None:
    table = widget_catalog()
    assert set(table["en"]) == widget_sentences()
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
