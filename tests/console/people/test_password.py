"""Changing and resetting passwords."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.conf import settings as configured
from django.test import Client
from django.urls import reverse

from tests.conftest import PASSWORD, Tenant
from tests.console.people.conftest import NEW_PASSWORD, Mailbox, is_signed_in, sign_in

RESET = "account_reset_password"


def ask(email: str, client: Client | None = None, **extra: str) -> str:
    """Request a reset link, and return the resulting page."""
    answer = (client or Client()).post(reverse(RESET), {"email": email}, follow=True, **extra)  # type: ignore[arg-type]
    return re.sub(r'value="\w{64}"|\w{64}', "", answer.content.decode())


def link_in(text: str) -> str:
    found = re.search(r"https?://\S+/password/reset/key/\S+", text)
    assert found, text
    return found[0]


def set_password(url: str) -> Client:
    client = Client()
    form = client.get(urlsplit(url).path, follow=True)
    client.post(form.request["PATH_INFO"], {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    return client


def test_the_link_sets_a_new_password(tenant: Tenant, mailbox: Mailbox) -> None:
    ask(tenant.owner.email)
    set_password(link_in(mailbox.last_text()))
    assert is_signed_in(sign_in(tenant.owner.email, NEW_PASSWORD))
    assert not is_signed_in(sign_in(tenant.owner.email, PASSWORD))


def test_the_link_works_once(tenant: Tenant, mailbox: Mailbox) -> None:
    ask(tenant.owner.email)
    url = link_in(mailbox.last_text())
    set_password(url)
    assert "This link has expired" in Client().get(urlsplit(url).path, follow=True).content.decode()


def test_a_reset_is_confirmed_by_e_mail_and_prefills_the_address(tenant: Tenant, mailbox: Mailbox, settings) -> None:
    """The e-mail says what to do if it wasn't the user."""
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    ask(tenant.owner.email)
    client = set_password(link_in(mailbox.last_text()))
    assert "Your password was reset through a link sent to this address." in mailbox.last_text()
    assert f"reset your password now: {configured.BASE_URL}{reverse(RESET)}" in mailbox.last_text()
    assert f'value="{tenant.owner.email}"' in client.get(reverse("account_login")).content.decode()


def test_a_new_password_signs_out_other_devices(tenant: Tenant, mailbox: Mailbox) -> None:
    other = sign_in(tenant.owner.email)
    ask(tenant.owner.email)
    set_password(link_in(mailbox.last_text()))
    assert other.get("/").headers["Location"].startswith(reverse("account_login"))


def test_the_page_does_not_reveal_accounts(tenant: Tenant, mailbox: Mailbox) -> None:
    assert ask(tenant.owner.email) == ask("nobody@new.example")
    assert "there is no account with this address." in mailbox.last_text()


@pytest.mark.parametrize("is_refusing", [True, False])
def test_mail_errors_do_not_reveal_accounts(tenant: Tenant, mailbox: Mailbox, is_refusing: bool, settings) -> None:
    mailbox.is_refusing = True
    if not is_refusing:
        settings.EMAIL_PORT = 9
    assert ask(tenant.owner.email) == ask("nobody@new.example")


def test_the_link_uses_the_base_url_whatever_the_host_header(tenant: Tenant, mailbox: Mailbox, settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    ask(tenant.owner.email, HTTP_HOST="evil.example")
    assert link_in(mailbox.last_text()).startswith(f"{configured.BASE_URL}/account/password/reset/key/")


def test_resets_are_rate_limited_per_address(tenant: Tenant, mailbox: Mailbox) -> None:
    for _ in range(8):
        ask(tenant.owner.email)
    assert len(mailbox.messages) == 5


def test_without_a_mail_server_the_page_says_so(database: None) -> None:
    assert "This server can’t send e-mail." in Client().get(reverse(RESET)).content.decode()


def test_without_a_mail_server_no_link_is_said_to_be_sent(tenant: Tenant) -> None:
    """Also to those who ask by a page that they opened earlier."""
    assert "This server can’t send e-mail." in ask(tenant.owner.email)


@pytest.mark.parametrize(
    ("page", "field"), [("account_login", "login"), ("account_signup", "email"), ("account_reset_password", "email")]
)
def test_a_wrong_address_is_told_what_a_right_one_looks_like(database: None, page: str, field: str) -> None:
    form = Client().post(reverse(page), {field: "nope"}).context["form"]
    assert form.errors[field] == ["Enter a valid e-mail address, like ada@example.com."]


def test_the_cursor_is_in_the_address_that_was_refused(database: None) -> None:
    """A known address leaves it in the password's field."""
    page = Client().post(reverse("account_login"), {"login": "nope", "password": "x"}).content.decode()
    assert re.findall(r'name="(\w+)"[^>]* autofocus', page) == ["login"]


# Changed by its owner


def change(client: Client, old: str = PASSWORD, new: str = NEW_PASSWORD) -> str:
    form = {"oldpassword": old, "password1": new, "password2": new}
    return client.post(reverse("account_change_password"), form, follow=True).content.decode()


def test_changing_the_password_signs_out_other_devices_only(tenant: Tenant) -> None:
    here, there = sign_in(tenant.owner.email), sign_in(tenant.owner.email)
    assert "Password changed." in change(here)
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


def test_changing_the_password_requires_the_current_one(tenant: Tenant) -> None:
    assert "This isn’t your current password." in change(sign_in(tenant.owner.email), old="not this")
    assert is_signed_in(sign_in(tenant.owner.email, PASSWORD))
