"""The page's own words in the customer's language, as the widget has its own."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from conversations.common.translations import WORDS as OWN_WORDS
from conversations.models import Conversation
from conversations.portal.words import WORDS
from conversations.turns.services import give_fields, start_conversation
from projects.widget.widgets import WidgetEdit, save_widget
from tests.conftest import Tenant
from tests.conversations.portal.test_portal import token_of

ENGLISH = WORDS["en"]
GAP = re.compile(r"\{\w+\}")


@pytest.fixture
def chat(tenant: Tenant) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel="phone", external_id="ada", known={}, metadata={})


def look(chat: Conversation, browser: str = "") -> str:
    return Client(headers={"Accept-Language": browser}).get(f"/c/{token_of(chat)}").content.decode()


def test_there_are_the_languages_of_the_product_s_other_words() -> None:
    assert set(WORDS) == set(OWN_WORDS)


@pytest.mark.parametrize("language", WORDS)
def test_a_language_says_everything_with_the_same_gaps(language: str) -> None:
    gaps = {key: sorted(GAP.findall(text)) for key, text in WORDS[language].items()}
    assert gaps == {key: sorted(GAP.findall(text)) for key, text in ENGLISH.items()}


def test_the_browser_s_language_is_taken_until_a_better_is_known(chat: Conversation, tenant: Tenant) -> None:
    """What the business chose for its widget comes before it, and the customer's own before both."""
    assert WORDS["it"]["label"] in look(chat, "it-CH,en;q=0.5")
    with tenant.tx():
        save_widget(tenant.project, WidgetEdit(origins=[], theme={"language": "fr"}, is_enabled=True), by=None)
    assert WORDS["fr"]["label"] in look(chat, "it")
    with tenant.tx():
        give_fields(chat.persona, {"language": "he"})
    page = look(chat, "it")
    assert 'lang="he" dir="rtl"' in page
    assert WORDS["he"]["label"] in page


def test_a_language_without_words_is_answered_in_english(chat: Conversation, tenant: Tenant) -> None:
    with tenant.tx():
        give_fields(chat.persona, {"language": "ja"})
    assert 'lang="en" dir="ltr"' in (page := look(chat, "xx"))
    assert ENGLISH["label"] in page


def test_what_a_form_says_for_the_customer_is_in_their_language(chat: Conversation, tenant: Tenant) -> None:
    """The agent then answers in that language."""
    Client(headers={"Accept-Language": "de"}).post(f"/c/{token_of(chat)}", {"code": "sms"})
    assert WORDS["de"]["code_said"] in look(chat)


def test_a_link_that_is_over_says_so_in_the_browser_s_language(chat: Conversation) -> None:
    answer = Client(headers={"Accept-Language": "nl"}).get(f"/c/{token_of(chat, until=20_000)}")
    assert WORDS["nl"]["over_title"] in answer.content.decode()
