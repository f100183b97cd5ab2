"""No account enumeration, and no session fixation, on the sign-in pages."""

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
    """Recorded password hashes, the only slow operation."""
    passwords: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        passwords.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    return passwords


def answer_to(email: str, *, page: str = SIGN_UP, password: str = NEW_PASSWORD) -> tuple[object, ...]:
    """Everything a visitor sees for this address, except the address itself."""
    client = Client()
    form = {"email": email, "password1": password} if page == SIGN_UP else {"login": email, "password": password}
    answer = client.post(reverse(page), form, follow=True)
    text = answer.content.decode().replace(email, "")
    return answer.status_code, answer.redirect_chain, sorted(client.cookies), text, is_signed_in(client)


def test_sign_up_does_not_reveal_accounts(tenant: Tenant, verifies: Mailbox) -> None:
    """Only the owner of the address learns of it, by e-mail."""
    assert answer_to(tenant.owner.email) == answer_to(NOBODY)
    told = [message for message in verifies.messages if message["To"] == tenant.owner.email]
    assert [message["Subject"] for message in told] == ["You already have a Makegood account"]
    assert tenant.owner.email in str(told[0].get_payload(decode=True), "utf-8")


def test_the_sign_up_e_mail_uses_the_base_url(tenant: Tenant, verifies: Mailbox, settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    form = {"email": tenant.owner.email, "password1": NEW_PASSWORD}
    Client().post(reverse(SIGN_UP), form, HTTP_HOST="evil.example")
    assert f"{settings.BASE_URL}{reverse(SIGN_IN)}" in verifies.last_text()
    assert "evil.example" not in verifies.last_text()


def test_concurrent_sign_ups_do_not_reveal_each_other(
    database: None, verifies: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "release_address", lambda email: User.objects.create_user(email, PASSWORD))
    late = answer_to("late@new.example")
    monkeypatch.undo()
    assert late == answer_to(NOBODY)


@pytest.mark.parametrize("page", [SIGN_UP, SIGN_IN])
def test_response_times_do_not_reveal_accounts(page: str, tenant: Tenant, verifies: Mailbox, hashed: list[str]) -> None:
    answer_to(tenant.owner.email, page=page)
    for_a_known_one = hashed.copy()
    hashed.clear()
    answer_to(NOBODY, page=page)
    assert len(hashed) == len(for_a_known_one) > 0


def test_sign_in_rotates_the_session(tenant: Tenant) -> None:
    """Prevents session fixation."""
    victim, thief = Client(), Client()
    victim.session.save()
    planted = victim.cookies["sessionid"].value
    victim.post(reverse(SIGN_IN), {"login": tenant.owner.email, "password": PASSWORD})
    assert is_signed_in(victim)
    thief.cookies["sessionid"] = planted
    assert not is_signed_in(thief)
    assert victim.session.session_key != planted
