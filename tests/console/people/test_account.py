"""The account page, and the operator's account settings."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import verified_email
from projects.models import User
from tests.conftest import Tenant
from tests.console.people.conftest import browser


def test_a_user_changes_their_name(tenant: Tenant) -> None:
    browser(tenant.owner).post("/account/", {"name": "Ada de Vries"})
    user = User.objects.get(pk=tenant.owner.pk)
    assert (user.first_name, user.last_name, user.initials) == ("Ada", "de Vries", "AD")


@pytest.mark.parametrize("name", ["x" * 151, "Ada\u202egnirts", "Ada\nBcc: all@new.example"])
def test_an_invalid_name_is_refused_at_its_field(tenant: Tenant, name: str) -> None:
    assert 'id="name-error"' in browser(tenant.owner).post("/account/", {"name": name}).content.decode()
    assert User.objects.get(pk=tenant.owner.pk).first_name == ""


def test_the_page_lists_only_the_users_organizations(tenant: Tenant, stranger: Tenant) -> None:
    text = browser(tenant.owner).get("/account/").content.decode()
    assert "Nello" in text
    assert "Stranger" not in text


def test_verification_requires_a_mail_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_VERIFY_EMAIL", "1")
    assert verified_email("smtp.example")
    with pytest.raises(ImproperlyConfigured, match="Set EMAIL_HOST"):
        verified_email("")
