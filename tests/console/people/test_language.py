"""The language of staff: their choice, else the browser's, on pages, in API responses and in e-mails."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.utils.translation import get_language

from projects.accounts.languages import language_of_user, staff_language
from projects.models import User
from tests.conftest import PASSWORD, Tenant
from tests.console.pages.conftest import talk
from tests.console.people.conftest import browser


def page_language(client: Client, *, asks: str = "", path: str = "/account/") -> str:
    text = client.get(path, headers={"Accept-Language": asks} if asks else {}).content.decode()
    found = re.search(r'<html lang="([\w-]+)"', text)
    assert found
    return found[1]


def choose(client: Client, code: str) -> None:
    assert client.post("/account/language", {"language": code}).status_code == 302


def test_a_page_is_in_the_language_that_the_user_chose(tenant: Tenant) -> None:
    client = browser(tenant.owner)
    choose(client, "de")
    assert page_language(client, asks="fr") == "de"
    assert "Ihr Konto" in client.get("/account/").content.decode()


def test_a_page_that_waits_for_a_server_is_in_the_users_language(tenant: Tenant) -> None:
    """Its rows are read, and its template rendered, in the threads of the database."""
    client = browser(tenant.owner)
    choose(client, "de")
    path = f"/p/{tenant.project.slug}/agent/integrations/channels/telegram"
    assert page_language(client, path=path) == "de"


def test_a_page_is_in_the_browsers_language_without_a_choice(tenant: Tenant) -> None:
    assert page_language(browser(tenant.owner), asks="nl, it-CH;q=0.8") == "it"


def test_visitors_sign_in_in_their_browsers_language(tenant: Tenant) -> None:
    assert page_language(Client(), asks="de-AT", path="/account/login/") == "de"


def test_a_choice_is_taken_back(tenant: Tenant) -> None:
    client = browser(tenant.owner)
    choose(client, "de")
    choose(client, "")
    assert page_language(client, asks="es") == "es"


@pytest.mark.parametrize("code", ["nl", "xx", "../de", "de\x00"])
def test_a_language_without_translations_leaves_the_browsers(tenant: Tenant, code: str) -> None:
    client = browser(tenant.owner)
    choose(client, code)
    assert page_language(client) == "en"


def test_the_next_request_of_a_thread_is_not_in_the_last_ones_language(tenant: Tenant) -> None:
    page_language(browser(tenant.owner), asks="de")
    assert get_language() == "en"


def test_signing_in_notes_the_browsers_language_for_emails(tenant: Tenant) -> None:
    Client(headers={"Accept-Language": "fr-CA"}).post(
        "/account/login/", {"login": tenant.owner.email, "password": PASSWORD}
    )
    user = User.objects.get(pk=tenant.owner.pk)
    assert (user.browser_language, language_of_user(user)) == ("fr", "fr")


def test_the_users_choice_is_the_language_of_their_emails() -> None:
    assert language_of_user(User(language="es", browser_language="fr")) == "es"


@pytest.mark.parametrize(
    ("codes", "language"), [(("it-CH",), "it"), (("nl", "de"), "de"), (("pt",), "en"), (("x" * 600,), "en"), ((), "en")]
)
def test_a_code_falls_back_to_a_language_of_the_interface(codes: tuple[str, ...], language: str) -> None:
    assert staff_language(*codes) == language


def test_the_console_loads_the_catalog_of_its_language(tenant: Tenant) -> None:
    client = browser(tenant.owner)
    choose(client, "de")
    assert 'href="/i18n/console/de.js"' in client.get("/account/").content.decode()
    assert client.get("/i18n/console/de.js").status_code == 200
    assert client.get("/i18n/console/nl.js").status_code == 404


def test_a_conversation_fills_a_phone_in_every_language(tenant: Tenant) -> None:
    """The layout finds the opened pane by a word that is no text."""
    row = talk(tenant, "Hello")
    page = (
        browser(tenant.owner)
        .get(f"/p/{tenant.project.slug}/inbox/{row.pk}", headers={"Accept-Language": "de"})
        .content.decode()
    )
    assert '<html lang="de"' in page
    assert 'data-view="conversation"' in page
