"""Signing up, and naming the business."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings as configured
from django.test import Client
from django.urls import reverse

from projects.accounts import accounts
from projects.models import Member, Project, Role, User
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations
from tests.conftest import Tenant, member_of
from tests.console.people.conftest import NEW_PASSWORD, Mailbox, browser, is_signed_in
from tests.conversations.threads import in_thread

EMAIL = "ada@new.example"
FORM = {"name": "Praxis Lindenhof", "starter": "clinic", "timezone": "Europe/Berlin", "region": "DE"}


def sign_up(email: str = EMAIL, password: str = NEW_PASSWORD) -> Client:
    client = Client()
    client.post(reverse("account_signup"), {"email": email, "password1": password})
    return client


def project_of(user: User) -> Project:
    (organization_id,) = find_organizations(user_id=user.pk)
    with tenant_tx(organization_id):
        return Project.objects.select_related("agent_version", "organization").get()


@pytest.fixture
def newcomer(database: None) -> User:
    return User.objects.create_user(EMAIL, NEW_PASSWORD)


def test_a_newcomer_is_signed_in_and_asked_for_the_business(database: None) -> None:
    answer = Client().post(reverse("account_signup"), {"email": EMAIL, "password1": NEW_PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (302, reverse("welcome"))


def test_signing_up_gives_the_session_a_new_name(database: None) -> None:
    """A session that somebody planted before is not the one that is signed in."""
    client = Client()
    client.get(reverse("account_signup"))
    client.session.save()
    before = client.session.session_key
    client.post(reverse("account_signup"), {"email": EMAIL, "password1": NEW_PASSWORD})
    assert is_signed_in(client)
    assert client.session.session_key != before


@pytest.mark.parametrize("password", ["short", "password1234", "ada@new.example"])
def test_a_weak_password_is_refused_beside_its_field(database: None, password: str) -> None:
    answer = Client().post(reverse("account_signup"), {"email": EMAIL, "password1": password})
    assert 'id="id_password1_error"' in answer.content.decode()
    assert not User.objects.filter(email=EMAIL).exists()


def test_an_address_too_long_to_be_kept_is_refused_and_not_cut(database: None) -> None:
    long = f"{'a' * 63}@{'.'.join(['b' * 60] * 4)}.example"
    answer = Client().post(reverse("account_signup"), {"email": long, "password1": NEW_PASSWORD})
    assert f"An e-mail address has at most 254 characters; this has {len(long)}." in answer.content.decode()
    assert not User.objects.exists()


def test_a_taken_address_is_refused(newcomer: User) -> None:
    answer = Client().post(reverse("account_signup"), {"email": EMAIL.upper(), "password1": NEW_PASSWORD})
    assert "This e-mail already has an account" in answer.content.decode()


def test_signing_up_can_be_closed(database: None, settings) -> None:
    settings.SIGNUP = False
    client = sign_up()
    assert not User.objects.filter(email=EMAIL).exists()
    assert "Accounts come by invitation" in client.get(reverse("account_signup")).content.decode()


def test_many_accounts_from_one_place_are_refused(database: None) -> None:
    answers = [
        Client().post(reverse("account_signup"), {"email": f"n{n}@new.example", "password1": NEW_PASSWORD}).status_code
        for n in range(21)
    ]
    assert answers == [302] * 20 + [429]


# The business


def test_home_leads_a_newcomer_to_the_business(newcomer: User) -> None:
    assert browser(newcomer).get("/").headers["Location"] == reverse("welcome")


def test_a_newcomer_owns_an_organization_with_a_project(newcomer: User) -> None:
    answer = browser(newcomer).post(reverse("welcome"), FORM)
    project = project_of(newcomer)
    assert answer.headers["Location"] == reverse("playground", args=[project.slug])
    with tenant_tx(project.organization_id):
        assert Member.objects.get(user=newcomer).role == Role.OWNER
    assert (project.name, project.organization.name) == ("Praxis Lindenhof", "Praxis Lindenhof")


def test_the_agent_speaks_for_the_named_business_where_it_is(newcomer: User) -> None:
    browser(newcomer).post(reverse("welcome"), FORM)
    version = project_of(newcomer).agent_version
    assert version is not None
    config = version.config
    assert (config.business_name, config.timezone, config.region) == ("Praxis Lindenhof", "Europe/Berlin", "DE")
    assert config.business_context.startswith("Praxis Lindenhof, a practice")


@pytest.mark.parametrize(("zone", "region"), [("", ""), ("Mars/Olympus", "ZZ"), ("../etc", "<b>")])
def test_a_place_that_the_browser_makes_up_is_nowhere(newcomer: User, zone: str, region: str) -> None:
    browser(newcomer).post(reverse("welcome"), {**FORM, "timezone": zone, "region": region})
    version = project_of(newcomer).agent_version
    assert version is not None
    assert (version.config.timezone, version.config.region) == ("UTC", "US")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "Write the name that customers know."),
        ({"name": "x" * 121}, "Use at most 120 characters"),
        ({"name": "Da\x00Nello"}, "Null characters are not allowed."),
        ({"name": "Da\u202eNello"}, "Use letters, numbers and signs, in one line."),
        ({"starter": ""}, "Pick one; everything in it can be changed."),
        ({"starter": "../clinic"}, "Pick one of these."),
    ],
)
def test_what_can_not_be_is_refused_beside_its_field(newcomer: User, change: dict[str, str], words: str) -> None:
    text = browser(newcomer).post(reverse("welcome"), FORM | change).content.decode()
    assert words in text
    assert find_organizations(user_id=newcomer.pk) == []


def test_nothing_typed_is_lost_by_a_refusal(newcomer: User) -> None:
    text = browser(newcomer).post(reverse("welcome"), {**FORM, "starter": ""}).content.decode()
    assert 'value="Praxis Lindenhof"' in text


def test_a_name_never_becomes_markup(newcomer: User) -> None:
    client = browser(newcomer)
    client.post(reverse("welcome"), {**FORM, "name": "<script>alert(1)</script>"})
    assert "<script>alert" not in client.get("/", follow=True).content.decode()


def test_a_person_may_not_found_organizations_without_end(newcomer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.people.welcome.MOST", 1)
    client = browser(newcomer)
    client.post(reverse("welcome"), FORM)
    assert "Leave one before you start another" in client.post(reverse("welcome"), FORM).content.decode()
    assert len(find_organizations(user_id=newcomer.pk)) == 1


def test_where_signing_up_is_closed_nobody_founds_one(newcomer: User, settings) -> None:
    settings.SIGNUP = False
    client = browser(newcomer)
    client.post(reverse("welcome"), FORM)
    assert find_organizations(user_id=newcomer.pk) == []
    assert "You aren’t in a project yet" in client.get("/").content.decode()


def test_a_member_of_one_organization_may_start_another(tenant: Tenant) -> None:
    viewer = member_of(tenant, Role.VIEWER)
    browser(viewer).post(reverse("welcome"), FORM)
    assert len(find_organizations(user_id=viewer.pk)) == 2


def test_addresses_are_unverified_unless_the_operator_asks(database: None) -> None:
    assert configured.ACCOUNT_EMAIL_VERIFICATION == "none"


def test_where_the_operator_asks_an_address_is_confirmed_first(database: None, mailbox: Mailbox, settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    client = sign_up()
    assert not is_signed_in(client)
    found = re.search(r"/account/confirm-email/\S+", mailbox.last_text())
    assert found
    answer = client.post(found[0])
    assert is_signed_in(client)
    assert answer.headers["Location"] == reverse("welcome")


def test_of_two_who_sign_up_with_one_address_at_once_one_does(database: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other, who may have pressed twice, is led to the sign-in."""

    def after_another(email: str) -> None:
        monkeypatch.undo()
        with ThreadPoolExecutor(1) as pool:
            in_thread(pool, sign_up).result()

    monkeypatch.setattr(accounts, "release_address", after_another)
    answer = Client().post(reverse("account_signup"), {"email": EMAIL, "password1": NEW_PASSWORD}, follow=True)
    assert answer.redirect_chain[0][0] == reverse("account_login")
    assert "This e-mail already has an account." in answer.content.decode()
    assert User.objects.filter(email=EMAIL).count() == 1
