"""Accepting an invitation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from allauth.account.models import EmailAddress
from django.db import connections
from django.test import Client
from django.urls import reverse

from projects.accounts.invitations import accept, read_offer
from projects.common.api_error import Conflict
from projects.models import Member, Role, User
from tests.conftest import PASSWORD, Tenant, member_of
from tests.console.people.conftest import NEW_PASSWORD, Mailbox, browser, invite, is_signed_in, link_in, sign_in

LENA = "lena@new.example"
FORM = {"name": "Lena Brandt", "password": NEW_PASSWORD}
JOIN = "/join"


@pytest.fixture
def path(owner: Client, tenant: Tenant) -> str:
    return link_in(invite(owner, tenant, LENA))


@pytest.fixture
def lena(database: None) -> User:
    return User.objects.create_user(LENA, PASSWORD)


def role_of(tenant: Tenant, email: str) -> str | None:
    with tenant.tx():
        member = Member.objects.filter(user__email=email).first()
    return member.role if member else None


def follow(path: str, client: Client | None = None) -> Client:
    client = client or Client()
    assert client.get(path).headers["Location"] == JOIN
    return client


def test_the_token_is_removed_from_the_address_bar(path: str) -> None:
    """The token stays out of the history and the referrer."""
    assert path.rsplit("/", 1)[1] not in follow(path).get(JOIN).content.decode()


def test_a_new_user_signs_up_and_joins(path: str, tenant: Tenant) -> None:
    client = follow(path)
    answer = client.post(JOIN, FORM, follow=True)
    assert role_of(tenant, LENA) == Role.OPERATOR
    assert is_signed_in(client)
    assert tenant.project.slug in answer.request["PATH_INFO"]


def test_joining_rotates_the_session(path: str) -> None:
    client = follow(path)
    before = client.session.session_key
    client.post(JOIN, FORM)
    assert client.session.session_key != before
    assert "invitation" not in client.session


@pytest.mark.parametrize("password", ["short", "password1234", LENA])
def test_a_weak_password_is_refused(path: str, password: str) -> None:
    answer = follow(path).post(JOIN, {**FORM, "password": password})
    assert 'id="id_password_error"' in answer.content.decode()
    assert not User.objects.filter(email=LENA).exists()


def test_a_posted_address_is_ignored(path: str) -> None:
    follow(path).post(JOIN, {**FORM, "email": "mallory@new.example"})
    assert not User.objects.filter(email="mallory@new.example").exists()


def test_an_e_mailed_invitation_verifies_the_address(owner: Client, tenant: Tenant, mailbox: Mailbox) -> None:
    invite(owner, tenant, LENA)
    follow(link_in(mailbox.last_text())).post(JOIN, FORM)
    assert EmailAddress.objects.get(email=LENA).verified


def test_a_shared_link_does_not_verify_the_address(path: str) -> None:
    follow(path).post(JOIN, FORM)
    assert not EmailAddress.objects.get(email=LENA).verified


def test_a_link_works_once(path: str, tenant: Tenant) -> None:
    follow(path).post(JOIN, FORM)
    assert Client().get(path).status_code == 410


def test_someone_with_an_account_signs_in_and_joins(path: str, tenant: Tenant, lena: User) -> None:
    client = follow(path)
    assert f"{reverse('account_login')}?next={JOIN}" in client.get(JOIN).content.decode()
    client.post(f"{reverse('account_login')}?next={JOIN}", {"login": LENA, "password": PASSWORD})
    assert role_of(tenant, LENA) is None
    client.post(JOIN)
    assert role_of(tenant, LENA) == Role.OPERATOR


def test_a_user_with_a_business_lands_in_the_joined_organization(path: str, tenant: Tenant, stranger: Tenant) -> None:
    """The page says so, and the sign-in page prefills the address."""
    User.objects.filter(pk=stranger.owner.pk).update(email=LENA)
    client = follow(path)
    client.get(JOIN)
    assert f'value="{LENA}"' in client.get(reverse("account_login")).content.decode()
    client.post(reverse("account_login"), {"login": LENA, "password": PASSWORD})
    answer = client.post(JOIN, follow=True)
    assert answer.request["PATH_INFO"] == reverse("dashboard", args=[tenant.project.slug])
    assert f"You joined {tenant.organization.name} as Operator." in answer.content.decode()


def test_resetting_the_password_keeps_the_pending_invitation(path: str, lena: User, mailbox: Mailbox) -> None:
    """After signing in, the user is asked to join."""
    client = follow(path)
    client.get(JOIN)
    client.post(reverse("account_reset_password"), {"email": LENA})
    answer = client.post(reverse("account_login"), {"login": LENA, "password": PASSWORD})
    assert answer.headers["Location"] == JOIN


def test_a_link_cannot_take_over_an_existing_account(path: str, lena: User, tenant: Tenant) -> None:
    follow(path).post(JOIN, FORM)
    assert role_of(tenant, LENA) is None
    assert is_signed_in(sign_in(LENA, PASSWORD))


def test_another_user_cannot_use_the_link(path: str, tenant: Tenant, stranger: Tenant) -> None:
    client = follow(path, browser(stranger.owner))
    assert f"this invitation is for {LENA}" in client.get(JOIN).content.decode()
    client.post(JOIN)
    assert role_of(tenant, stranger.owner.email) is None


def test_a_member_keeps_the_role_they_have(owner: Client, tenant: Tenant, lena: User) -> None:
    path = link_in(invite(owner, tenant, LENA, Role.VIEWER))
    with tenant.tx():
        Member.objects.create(user=lena, role=Role.ADMIN)
    follow(path, browser(lena)).post(JOIN)
    assert role_of(tenant, LENA) == Role.ADMIN


def test_concurrent_acceptance_joins_once(path: str, tenant: Tenant, lena: User) -> None:
    offer = read_offer(path.rsplit("/", 1)[1])
    assert offer

    def use(_: int) -> bool:
        try:
            with tenant.tx():
                accept(offer.invitation_id, user=lena)
        except Conflict:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(use, range(2))) == [False, True]


def test_invited_users_join_while_sign_up_is_closed(path: str, tenant: Tenant, settings) -> None:
    settings.SIGNUP = False
    follow(path).post(JOIN, FORM)
    assert role_of(tenant, LENA) == Role.OPERATOR


@pytest.mark.parametrize("token", ["x", "mgi_" + "x" * 43, "mgi_\x00", "é" * 5000])
def test_unknown_and_expired_links_look_alike(database: None, token: str) -> None:
    answer = Client().get(reverse("invitation", args=[token]))
    assert answer.status_code == 410
    assert "This invitation is no longer valid" in answer.content.decode()


def test_joining_requires_a_link(database: None) -> None:
    assert Client().post(JOIN, FORM).status_code == 410


def test_an_owner_can_invite_an_owner(owner: Client, tenant: Tenant) -> None:
    follow(link_in(invite(owner, tenant, LENA, Role.OWNER))).post(JOIN, FORM)
    assert role_of(tenant, LENA) == Role.OWNER


def test_an_owners_invitation_is_void_once_its_inviter_is_demoted(tenant: Tenant) -> None:
    second = member_of(tenant, Role.OWNER)
    path = link_in(invite(browser(second), tenant, LENA, Role.OWNER))
    client = follow(path)
    with tenant.tx():
        Member.objects.filter(user=second).update(role=Role.ADMIN)
    assert client.post(JOIN, FORM).status_code == 410
    assert not User.objects.filter(email=LENA).exists()
