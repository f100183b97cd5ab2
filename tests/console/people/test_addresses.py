"""Sign-up with someone else's address neither blocks nor impersonates its owner."""

from __future__ import annotations

import re

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from projects.accounts.members import MemberRefused, find_newcomer
from projects.models import Role, User
from tests.conftest import PASSWORD, Tenant
from tests.console.people.conftest import NEW_PASSWORD, Mailbox, invite, is_signed_in, link_in, sign_in
from tests.console.people.test_joining import FORM, JOIN, follow, role_of
from tests.console.people.test_password import ask, set_password
from tests.console.people.test_password import link_in as reset_link_in
from tests.console.people.test_signup import sign_up

ANNA = "anna@new.example"
SQUATTERS = "the squatter's own"


@pytest.fixture
def verifies(mailbox: Mailbox, settings) -> Mailbox:
    """The operator requires verified addresses."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    return mailbox


@pytest.fixture
def squatter(database: None, verifies: Mailbox) -> Client:
    """A client that signed up with Anna's address."""
    return sign_up(ANNA, SQUATTERS)


def confirmation_in(mailbox: Mailbox) -> str:
    found = re.search(r"/account/confirm-email/\S+", mailbox.last_text())
    assert found
    return found[0]


def is_confirmed(email: str) -> bool:
    return EmailAddress.objects.get(email=email).verified


def test_the_owner_of_a_squatted_address_can_sign_up(squatter: Client, verifies: Mailbox) -> None:
    # To one address a link goes every three minutes.
    cache.clear()
    anna = sign_up(ANNA, NEW_PASSWORD)
    anna.post(confirmation_in(verifies))
    assert is_signed_in(anna)
    assert is_signed_in(sign_in(ANNA, NEW_PASSWORD))
    assert not is_signed_in(sign_in(ANNA, SQUATTERS))


def test_the_squatters_confirmation_link_stops_working(squatter: Client, verifies: Mailbox) -> None:
    link = confirmation_in(verifies)
    sign_up(ANNA, NEW_PASSWORD)
    squatter.post(link)
    assert not is_signed_in(squatter)
    assert not is_confirmed(ANNA)


def test_an_unrequested_link_does_not_confirm_a_strangers_account(squatter: Client, verifies: Mailbox) -> None:
    answer = Client().post(confirmation_in(verifies), follow=True)
    assert "open the link in the e-mail again" in answer.content.decode()
    assert not is_confirmed(ANNA)
    assert not is_signed_in(sign_in(ANNA, SQUATTERS))


def test_confirming_on_another_device_requires_the_password(database: None, verifies: Mailbox) -> None:
    sign_up(ANNA, NEW_PASSWORD)
    link, elsewhere = confirmation_in(verifies), sign_in(ANNA, NEW_PASSWORD)
    elsewhere.post(link)
    assert is_signed_in(elsewhere)
    assert is_confirmed(ANNA)


def test_an_invited_person_joins_despite_a_squatted_address(
    squatter: Client, owner: Client, tenant: Tenant, verifies: Mailbox
) -> None:
    invite(owner, tenant, ANNA)
    anna = follow(link_in(verifies.last_text()))
    anna.post(JOIN, FORM)
    assert is_signed_in(anna)
    assert role_of(tenant, ANNA) == Role.OPERATOR
    assert not is_signed_in(sign_in(ANNA, SQUATTERS))


def test_resetting_the_password_by_e_mail_confirms_the_address(squatter: Client, verifies: Mailbox) -> None:
    ask(ANNA)
    set_password(reset_link_in(verifies.last_text()))
    assert is_confirmed(ANNA)
    assert is_signed_in(sign_in(ANNA, NEW_PASSWORD))


def test_an_account_in_use_keeps_its_address(database: None, mailbox: Mailbox) -> None:
    """Without verification the first account wins; a password reset is the way back."""
    sign_up(ANNA, PASSWORD)
    assert "This e-mail already has an account" in sign_up_page(ANNA)
    assert is_signed_in(sign_in(ANNA, PASSWORD))


def test_an_account_created_by_the_operator_keeps_its_address(database: None) -> None:
    User.objects.create_user(ANNA, PASSWORD)
    assert "This e-mail already has an account" in sign_up_page(ANNA)
    assert is_signed_in(sign_in(ANNA, PASSWORD))


def test_an_unconfirmed_address_cannot_join_an_organization(database: None, tenant: Tenant) -> None:
    sign_up(ANNA, PASSWORD)
    with tenant.tx(), pytest.raises(MemberRefused, match="isn’t confirmed"):
        find_newcomer(ANNA)
    EmailAddress.objects.filter(email=ANNA).update(verified=True)
    with tenant.tx():
        assert find_newcomer(ANNA).email == ANNA


def sign_up_page(email: str) -> str:
    return Client().post(reverse("account_signup"), {"email": email, "password1": NEW_PASSWORD}).content.decode()
