"""The portal in the customer's language."""

from __future__ import annotations

import pytest
from django.test import Client

from conversations.models import Conversation
from conversations.turns.services import give_fields, start_conversation
from projects.widget.widgets import WidgetEdit, save_widget
from tests.conftest import Tenant
from tests.conversations.portal.test_portal import token_of

LABEL = {"en": "Your message", "it": "Il tuo messaggio", "fr": "Votre message", "he": "ההודעה שלך"}


@pytest.fixture
def chat(tenant: Tenant) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel="phone", external_id="ada", known={}, metadata={})


def look(chat: Conversation, browser: str = "") -> str:
    return Client(headers={"Accept-Language": browser}).get(f"/c/{token_of(chat)}").content.decode()


def test_the_browsers_language_is_used_until_a_better_one_is_known(chat: Conversation, tenant: Tenant) -> None:
    """The widget's language takes precedence over it, and the customer's own over both."""
    assert LABEL["it"] in look(chat, "it-CH,en;q=0.5")
    with tenant.tx():
        save_widget(tenant.project, WidgetEdit(origins=[], theme={"language": "fr"}, is_enabled=True), by=None)
    assert LABEL["fr"] in look(chat, "it")
    with tenant.tx():
        give_fields(chat.persona, {"language": "he"})
    page = look(chat, "it")
    assert 'lang="he" dir="rtl"' in page
    assert LABEL["he"] in page


def test_an_unsupported_language_falls_back_to_english(chat: Conversation, tenant: Tenant) -> None:
    with tenant.tx():
        give_fields(chat.persona, {"language": "ja"})
    assert 'lang="en" dir="ltr"' in (page := look(chat, "xx"))
    assert LABEL["en"] in page


def test_the_verification_forms_message_is_in_the_customers_language(chat: Conversation, tenant: Tenant) -> None:
    """The agent then answers in that language."""
    Client(headers={"Accept-Language": "de"}).post(f"/c/{token_of(chat)}", {"code": "sms"})
    assert "Bitte senden Sie mir einen Code per SMS." in look(chat)


def test_an_expired_link_is_explained_in_the_browsers_language(chat: Conversation) -> None:
    answer = Client(headers={"Accept-Language": "nl"}).get(f"/c/{token_of(chat, until=20_000)}")
    assert "Deze link werkt niet" in answer.content.decode()


def test_the_page_loads_the_javascript_catalog_of_its_language(chat: Conversation) -> None:
    assert 'href="/i18n/it.js"' in look(chat, "it-CH")
    answer = Client().get("/i18n/it.js")
    assert "I tuoi ordini" in answer.content.decode()
    assert answer["Content-Type"] == "text/javascript; charset=utf-8"


def test_the_javascript_catalog_is_cached_and_revalidated_by_its_tag() -> None:
    first = Client().get("/i18n/en.js")
    assert first["Cache-Control"] == "public, max-age=300"
    assert Client().get("/i18n/en.js", headers={"If-None-Match": first["ETag"]}).status_code == 304


def test_a_language_without_translations_has_no_javascript_catalog() -> None:
    assert Client().get("/i18n/ja.js").status_code == 404
