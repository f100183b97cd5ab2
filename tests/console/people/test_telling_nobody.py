"""The sign-in pages reveal to nobody who has an account, and keep sessions apart."""

from __future__ import annotations

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client
from django.urls import reverse

from projects.accounts import accounts
from projects.models import User
from tests.conftest import PASSWORD, Tenant
from tests.console.people.conftest import NEW_PASSWORD, Mailbox, is_signed_in
from tests.console.people.test_addresses import verifies

__all__ = ["verifies"]

NOBODY = "nobody@new.example"
SIGN_UP, SIGN_IN = "account_signup", "account_login"


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A password that was hashed, which is all that takes long, for each time that one was."""
    passwords: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        passwords.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    return passwords


def answer_to(email: str, *, page: str = SIGN_UP, password: str = NEW_PASSWORD) -> tuple[object, ...]:
    """Everything that a visitor sees who gives this address, but for the address itself."""
    client = Client()
    form = {"email": email, "password1": password} if page == SIGN_UP else {"login": email, "password": password}
    answer = client.post(reverse(page), form, follow=True)
    text = answer.content.decode().replace(email, "")
    return answer.status_code, answer.redirect_chain, sorted(client.cookies), text, is_signed_in(client)


def test_signing_up_tells_nobody_who_has_an_account(tenant: Tenant, verifies: Mailbox) -> None:
    """But whose account it is."""
    assert answer_to(tenant.owner.email) == answer_to(NOBODY)
    told = [message for message in verifies.messages if message["To"] == tenant.owner.email]
    assert [message["Subject"] for message in told] == ["You have an account at Makegood already"]
    assert tenant.owner.email in str(told[0].get_payload(decode=True), "utf-8")


def test_its_e_mail_leads_to_our_own_address_whatever_host_was_named(
    tenant: Tenant, verifies: Mailbox, settings
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    form = {"email": tenant.owner.email, "password1": NEW_PASSWORD}
    Client().post(reverse(SIGN_UP), form, HTTP_HOST="evil.example")
    assert f"{settings.BASE_URL}{reverse(SIGN_IN)}" in verifies.last_text()
    assert "evil.example" not in verifies.last_text()


def test_of_two_who_sign_up_at_once_neither_is_told_of_the_other(
    database: None, verifies: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "release_address", lambda email: User.objects.create_user(email, PASSWORD))
    late = answer_to("late@new.example")
    monkeypatch.undo()
    assert late == answer_to(NOBODY)


@pytest.mark.parametrize("page", [SIGN_UP, SIGN_IN])
def test_the_time_tells_it_neither(page: str, tenant: Tenant, verifies: Mailbox, hashed: list[str]) -> None:
    answer_to(tenant.owner.email, page=page)
    for_a_known_one = hashed.copy()
    hashed.clear()
    answer_to(NOBODY, page=page)
    assert len(hashed) == len(for_a_known_one) > 0


def test_signing_in_gives_the_session_a_new_name(tenant: Tenant) -> None:
    """Who planted a session in a browser has nothing of who signs in there."""
    victim, thief = Client(), Client()
    victim.session.save()
    planted = victim.cookies["sessionid"].value
    victim.post(reverse(SIGN_IN), {"login": tenant.owner.email, "password": PASSWORD})
    assert is_signed_in(victim)
    thief.cookies["sessionid"] = planted
    assert not is_signed_in(thief)
    assert victim.session.session_key != planted
