"""Authenticator app and recovery codes."""

from __future__ import annotations

import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from cryptography.fernet import Fernet
from django.test import Client
from django.urls import reverse

from projects.models import User
from tests.conftest import PASSWORD, Tenant
from tests.console.people.conftest import is_signed_in, sign_in


def code_of(secret: str) -> str:
    """The current TOTP code."""
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def sure(email: str) -> Client:
    """A recently reauthenticated client."""
    client = sign_in(email)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


def turn_on(client: Client) -> str:
    """Turn on the authenticator app, and return its secret."""
    url = reverse("mfa_activate_totp")
    client.get(url)
    secret = client.session["mfa.totp.secret"]
    client.post(url, {"code": code_of(secret)})
    return str(secret)


@pytest.fixture
def protected(tenant: Tenant) -> tuple[User, str]:
    """A user with an authenticator app, and its secret."""
    return tenant.owner, turn_on(sure(tenant.owner.email))


def recovery_codes(user: User) -> list[str]:
    row = Authenticator.objects.get(user=user, type=Authenticator.Type.RECOVERY_CODES)
    return list(row.wrap().get_unused_codes())


def test_the_password_alone_is_not_enough(protected: tuple[User, str]) -> None:
    client = sign_in(protected[0].email)
    assert not is_signed_in(client)
    assert client.get("/").headers["Location"].startswith(reverse("account_login"))


def test_password_and_code_sign_in(protected: tuple[User, str], monkeypatch: pytest.MonkeyPatch) -> None:
    user, secret = protected
    client = sign_in(user.email)
    # The code of the setup is used up; the next one comes half a minute later.
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 30)
    client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})
    assert is_signed_in(client)


def test_a_recovery_code_works_once(protected: tuple[User, str]) -> None:
    code = recovery_codes(protected[0])[0]
    opened = []
    for _ in range(2):
        client = sign_in(protected[0].email)
        client.post(reverse("mfa_authenticate"), {"code": code})
        opened.append(is_signed_in(client))
    assert opened == [True, False]


def test_codes_fail_with_a_reason_after_the_encryption_key_is_lost(protected: tuple[User, str], settings: Any) -> None:
    client = sign_in(protected[0].email)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    text = client.post(reverse("mfa_authenticate"), {"code": code_of(protected[1])}).content.decode()
    assert "Ask the server administrator to remove the second factor from your account." in text
    assert not is_signed_in(client)


def test_undecryptable_codes_can_be_turned_off(tenant: Tenant, settings: Any) -> None:
    client = sure(tenant.owner.email)
    turn_on(client)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert client.get(reverse("mfa_index")).status_code == 200
    for page in ("mfa_view_recovery_codes", "mfa_download_recovery_codes"):
        assert "Codes can’t be checked" in client.get(reverse(page), follow=True).content.decode()
    client.post(reverse("mfa_deactivate_totp"))
    assert not Authenticator.objects.filter(user=tenant.owner).exists()


def test_code_attempts_are_rate_limited(protected: tuple[User, str]) -> None:
    client = sign_in(protected[0].email)
    texts = [client.post(reverse("mfa_authenticate"), {"code": f"{n:06}"}).content.decode() for n in range(6)]
    assert "This code is wrong." in texts[0]
    assert "Too many attempts." in texts[-1]


def test_the_secrets_are_encrypted_at_rest(protected: tuple[User, str]) -> None:
    """Both the TOTP secret and the recovery seed."""
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert protected[1] not in stored
    assert stored.count("gAAAA") == 2


@pytest.mark.parametrize("seconds", [0, 3600])
def test_turning_it_on_requires_reauthentication(tenant: Tenant, monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    """Also when the last authentication is too old."""
    client = sure(tenant.owner.email) if seconds else sign_in(tenant.owner.email)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + seconds)
    answer = client.get(reverse("mfa_activate_totp"))
    assert answer.headers["Location"].startswith(reverse("account_reauthenticate"))


def test_a_wrong_code_does_not_turn_it_on(tenant: Tenant) -> None:
    client = sure(tenant.owner.email)
    client.get(reverse("mfa_activate_totp"))
    assert "This code is wrong." in client.post(reverse("mfa_activate_totp"), {"code": "1"}).content.decode()
    assert not Authenticator.objects.exists()


def test_after_turning_it_off_the_password_is_enough(tenant: Tenant) -> None:
    client = sure(tenant.owner.email)
    turn_on(client)
    client.post(reverse("mfa_deactivate_totp"))
    assert is_signed_in(sign_in(tenant.owner.email, PASSWORD))


def test_the_qr_code_contains_the_key_and_the_issuer(tenant: Tenant) -> None:
    client = sure(tenant.owner.email)
    text = client.get(reverse("mfa_activate_totp")).content.decode()
    assert client.session["mfa.totp.secret"] in text
    assert "data:image/svg" in text


def test_the_admin_shows_no_factor_secrets(protected: tuple[User, str]) -> None:
    platform = User.objects.create_superuser("platform@makegood.example", PASSWORD)
    client = Client()
    client.force_login(platform)
    row = Authenticator.objects.filter(type="totp").get()
    text = client.get(reverse("admin:mfa_authenticator_change", args=[row.pk])).content.decode()
    assert protected[0].email in text
    assert "gAAAA" not in text
