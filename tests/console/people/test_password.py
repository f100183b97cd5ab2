"""A new password: changed by its owner, or set through a link in an e-mail."""

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
    """Ask for a link, and give back the page that follows."""
    answer = (client or Client()).post(reverse(RESET), {"email": email}, follow=True, **extra)  # type: ignore[arg-type]
    return re.sub(r'value="\w{64}"|\w{64}', "", answer.content.decode())


def link_in(text: str) -> str:
    found = re.search(r"https?://\S+/password/reset/key/\S+", text)
    assert found, text
    return found[0]


def set_password(url: str, password: str = NEW_PASSWORD) -> Client:
    client = Client()
    form = client.get(urlsplit(url).path, follow=True)
    client.post(form.request["PATH_INFO"], {"password1": password, "password2": password})
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
    assert "This link no longer works" in Client().get(urlsplit(url).path, follow=True).content.decode()


def test_who_set_it_is_told_by_e_mail_and_need_not_write_their_address(
    tenant: Tenant, mailbox: Mailbox, settings
) -> None:
    """In our words, with what to do if it was somebody else."""
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    ask(tenant.owner.email)
    client = set_password(link_in(mailbox.last_text()))
    assert "Your password was changed by a link that we sent to this address." in mailbox.last_text()
    assert f"set a new password now: {configured.BASE_URL}{reverse(RESET)}" in mailbox.last_text()
    assert f'value="{tenant.owner.email}"' in client.get(reverse("account_login")).content.decode()


def test_a_new_password_signs_out_other_computers(tenant: Tenant, mailbox: Mailbox) -> None:
    other = sign_in(tenant.owner.email)
    ask(tenant.owner.email)
    set_password(link_in(mailbox.last_text()))
    assert other.get("/").headers["Location"].startswith(reverse("account_login"))


def test_the_page_does_not_tell_who_has_an_account(tenant: Tenant, mailbox: Mailbox) -> None:
    assert ask(tenant.owner.email) == ask("nobody@new.example")
    assert "There is no account for this address here." in mailbox.last_text()


@pytest.mark.parametrize("is_refusing", [True, False])
def test_a_mail_server_in_trouble_tells_it_neither(
    tenant: Tenant, mailbox: Mailbox, is_refusing: bool, settings
) -> None:
    mailbox.is_refusing = True
    if not is_refusing:
        settings.EMAIL_PORT = 9
    assert ask(tenant.owner.email) == ask("nobody@new.example")


def test_the_link_leads_to_our_own_address_whatever_host_was_named(tenant: Tenant, mailbox: Mailbox, settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    ask(tenant.owner.email, HTTP_HOST="evil.example")
    assert link_in(mailbox.last_text()).startswith(f"{configured.BASE_URL}/account/password/reset/key/")


def test_one_address_is_not_flooded(tenant: Tenant, mailbox: Mailbox) -> None:
    for _ in range(8):
        ask(tenant.owner.email)
    assert len(mailbox.messages) == 5


def test_without_a_mail_server_the_page_says_so(database: None) -> None:
    assert "No mail server is set on this server" in Client().get(reverse(RESET)).content.decode()


# Changed by its owner


def change(client: Client, old: str = PASSWORD, new: str = NEW_PASSWORD) -> str:
    form = {"oldpassword": old, "password1": new, "password2": new}
    return client.post(reverse("account_change_password"), form, follow=True).content.decode()


def test_a_changed_password_keeps_this_computer_and_signs_out_others(tenant: Tenant) -> None:
    here, there = sign_in(tenant.owner.email), sign_in(tenant.owner.email)
    assert "Your new password is saved." in change(here)
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


def test_a_change_asks_for_the_current_password(tenant: Tenant) -> None:
    assert "This isn’t your current password." in change(sign_in(tenant.owner.email), old="not this")
    assert is_signed_in(sign_in(tenant.owner.email, PASSWORD))


def test_a_wrong_password_many_times_closes_the_door_for_a_while(tenant: Tenant) -> None:
    for _ in range(5):
        sign_in(tenant.owner.email, "not this")
    assert not is_signed_in(sign_in(tenant.owner.email, PASSWORD))
