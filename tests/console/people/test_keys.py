"""The API keys page."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from projects.models import ApiKey, Member, Role, User
from projects.models.key import Scope
from tests.conftest import Tenant, member_of
from tests.console.people.conftest import browser, page_of

FORM = {"name": "Website", "scopes": ["read", "converse"], "lifetime": ""}
TOOLS = "/api/v1/tools"


def make(client: Client, tenant: Tenant, **change: object) -> str:
    """Create a key, and return the resulting page."""
    return client.post(page_of(tenant, "api_keys"), {**FORM, **change}, follow=True).content.decode()


def secret_in(text: str) -> str:
    found = re.search(r"mg_[0-9a-f]{8}_[\w-]{43}", text)
    assert found
    return found[0]


def made(tenant: Tenant) -> ApiKey:
    with tenant.tx():
        return ApiKey.objects.get(name="Website")


def status_with(secret: str) -> int:
    return Client(headers={"Authorization": f"Bearer {secret}"}).get(TOOLS).status_code


def test_a_new_key_authenticates_api_requests(owner: Client, tenant: Tenant) -> None:
    assert status_with(secret_in(make(owner, tenant))) == 200


def test_a_key_is_shown_once(owner: Client, tenant: Tenant) -> None:
    secret = secret_in(make(owner, tenant))
    assert secret not in owner.get(page_of(tenant, "api_keys")).content.decode()


def test_a_key_is_encrypted_in_the_session(owner: Client, tenant: Tenant) -> None:
    owner.post(page_of(tenant, "api_keys"), FORM)
    kept = [str(session.get_decoded()) for session in Session.objects.all()]
    assert any("once_api_key" in text for text in kept)
    assert not any(re.search(r"mg_[0-9a-f]{8}_", text) for text in kept)


def test_a_key_is_not_shown_on_another_organizations_page(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    with stranger.tx():
        Member.objects.create(user=tenant.owner, role=Role.OWNER)
    owner.post(page_of(tenant, "api_keys"), FORM)
    assert not re.search(r"mg_[0-9a-f]{8}_", owner.get(page_of(stranger, "api_keys")).content.decode())


def test_a_key_has_the_chosen_scopes_and_expiry(owner: Client, tenant: Tenant) -> None:
    make(owner, tenant, scopes=["operate"], lifetime="30")
    key = made(tenant)
    assert (key.scopes, key.created_by_id) == (["operate"], tenant.owner.pk)
    assert key.expires_at is not None
    assert timedelta(days=29) < key.expires_at - timezone.now() <= timedelta(days=30)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "Enter a name"),
        ({"name": "x" * 81}, "at most 80 characters"),
        ({"scopes": []}, "Choose at least one"),
        ({"scopes": ["everything"]}, "not one of the available choices"),
    ],
)
def test_invalid_input_is_refused_at_its_field(
    owner: Client, tenant: Tenant, change: dict[str, object], words: str
) -> None:
    assert words in make(owner, tenant, **change)
    with tenant.tx():
        assert not ApiKey.objects.filter(name="Website").exists()


def test_a_revoked_key_is_refused_on_the_next_request(owner: Client, tenant: Tenant) -> None:
    secret = secret_in(make(owner, tenant))
    owner.post(page_of(tenant, "api_key_revoke", made(tenant).pk))
    assert status_with(secret) == 401


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_operators_and_viewers_cannot_manage_keys(owner: Client, tenant: Tenant, role: Role) -> None:
    make(owner, tenant)
    client, key = browser(member_of(tenant, role)), made(tenant)
    assert client.post(page_of(tenant, "api_keys"), FORM).status_code == 403
    assert client.post(page_of(tenant, "api_key_revoke", key.pk)).status_code == 403
    assert made(tenant).is_usable


def test_only_owners_give_a_key_the_owners_scope(owner: Client, tenant: Tenant) -> None:
    admin = browser(member_of(tenant, Role.ADMIN))
    assert "owner is not one of the available choices" in make(admin, tenant, scopes=["owner"])
    assert 'value="owner"' not in admin.get(page_of(tenant, "api_keys")).content.decode()
    make(owner, tenant, scopes=["owner"])
    assert made(tenant).scopes == ["owner"]


def test_viewers_see_keys_read_only(tenant: Tenant, viewer: User) -> None:
    text = browser(viewer).get(page_of(tenant, "api_keys")).content.decode()
    assert "Create key" not in text
    assert "Only owners and admins can create and revoke keys." in text


def test_another_tenants_key_is_not_found(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    with stranger.tx():
        theirs = ApiKey.objects.get()
    assert owner.post(page_of(tenant, "api_key_revoke", theirs.pk)).status_code == 404
    assert status_with(stranger.key) == 200


def test_unusable_keys_are_listed_last(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        ApiKey.objects.filter(name="test").update(revoked_at=timezone.now(), scopes=[Scope.READ])
    text = make(owner, tenant, name="A newer one")
    assert text.index("A newer one") < text.index('data-row="test"')
    assert "Revoked" in text
