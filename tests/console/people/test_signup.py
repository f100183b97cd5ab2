"""Sign-up and onboarding."""

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


def test_sign_up_signs_in_and_leads_to_onboarding(database: None) -> None:
    answer = Client().post(reverse("account_signup"), {"email": EMAIL, "password1": NEW_PASSWORD})
    assert (answer.status_code, answer.headers["Location"]) == (302, reverse("welcome"))


def test_sign_up_rotates_the_session(database: None) -> None:
    """Prevents session fixation."""
    client = Client()
    client.get(reverse("account_signup"))
    client.session.save()
    before = client.session.session_key
    client.post(reverse("account_signup"), {"email": EMAIL, "password1": NEW_PASSWORD})
    assert is_signed_in(client)
    assert client.session.session_key != before


@pytest.mark.parametrize("password", ["short", "password1234", "ada@new.example"])
def test_a_weak_password_is_refused_at_its_field(database: None, password: str) -> None:
    answer = Client().post(reverse("account_signup"), {"email": EMAIL, "password1": password})
    assert 'id="id_password1_error"' in answer.content.decode()
    assert not User.objects.filter(email=EMAIL).exists()


def test_an_overlong_address_is_refused_rather_than_truncated(database: None) -> None:
    long = f"{'a' * 63}@{'.'.join(['b' * 60] * 4)}.example"
    answer = Client().post(reverse("account_signup"), {"email": long, "password1": NEW_PASSWORD})
    assert f"Use an e-mail address of at most 254 characters. This one has {len(long)}." in answer.content.decode()
    assert not User.objects.exists()


def test_a_taken_address_is_refused(newcomer: User) -> None:
    answer = Client().post(reverse("account_signup"), {"email": EMAIL.upper(), "password1": NEW_PASSWORD})
    assert "This e-mail already has an account" in answer.content.decode()


def test_sign_up_can_be_closed(database: None, settings) -> None:
    settings.SIGNUP = False
    client = sign_up()
    assert not User.objects.filter(email=EMAIL).exists()
    assert "Invitation only" in client.get(reverse("account_signup")).content.decode()


def test_sign_ups_are_rate_limited_per_ip_address(database: None) -> None:
    answers = [
        Client().post(reverse("account_signup"), {"email": f"n{n}@new.example", "password1": NEW_PASSWORD}).status_code
        for n in range(21)
    ]
    assert answers == [302] * 20 + [429]


# The business


def test_home_redirects_a_new_user_to_onboarding(newcomer: User) -> None:
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


@pytest.mark.parametrize(
    ("field", "value"), [("timezone", "Mars/Olympus"), ("timezone", ""), ("region", "ZZ"), ("region", "")]
)
def test_an_invalid_place_is_refused_at_its_field(newcomer: User, field: str, value: str) -> None:
    answer = browser(newcomer).post(reverse("welcome"), {**FORM, field: value})
    assert list(answer.context["form"].errors) == [field]
    assert f'id="{field}-error"' in answer.content.decode()
    assert find_organizations(user_id=newcomer.pk) == []


def test_the_pickers_work_without_a_script(newcomer: User) -> None:
    text = browser(newcomer).get(reverse("welcome")).content.decode()
    for option in ('<option value="Europe/Rome">Rome</option>', '<option value="IT">Italy</option>'):
        assert option in text


def test_a_business_that_no_template_fits_is_described_by_its_owner(newcomer: User) -> None:
    about = "We repair bicycles in Ostuni. Open from 9 to 6."
    browser(newcomer).post(reverse("welcome"), {**FORM, "starter": "other", "about": about})
    project = project_of(newcomer)
    assert project.agent_version is not None
    assert project.agent_version.config.business_context == about


def test_a_description_of_several_lines_is_kept(newcomer: User) -> None:
    """Browsers end lines with CRLF."""
    about = "We repair bicycles in Ostuni.\r\nOpen from 9 to 6."
    response = browser(newcomer).post(reverse("welcome"), {**FORM, "starter": "other", "about": about})
    assert response.status_code == 302
    project = project_of(newcomer)
    assert project.agent_version is not None
    assert project.agent_version.config.business_context == about.replace("\r\n", "\n")


def test_a_control_character_of_the_description_is_refused_at_its_field(newcomer: User) -> None:
    answer = browser(newcomer).post(reverse("welcome"), {**FORM, "starter": "other", "about": "Bicycles\x0b."})
    assert list(answer.context["form"].errors) == ["about"]


def test_a_business_that_no_template_fits_needs_a_description(newcomer: User) -> None:
    answer = browser(newcomer).post(reverse("welcome"), {**FORM, "starter": "other", "about": "  "})
    assert list(answer.context["form"].errors) == ["about"]


def test_a_description_is_not_used_with_another_template(newcomer: User) -> None:
    browser(newcomer).post(reverse("welcome"), {**FORM, "about": "Bicycles."})
    project = project_of(newcomer)
    assert project.agent_version is not None
    assert "Bicycles" not in project.agent_version.config.business_context


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "Enter your business name."),
        ({"name": "x" * 121}, "Use at most 120 characters"),
        ({"name": "Da\x00Nello"}, "Null characters are not allowed."),
        ({"name": "Da\u202eNello"}, "Use one line of printable characters."),
        ({"name": "\u200b"}, "Use one line of printable characters."),
        ({"starter": ""}, "Choose a template."),
        ({"starter": "../clinic"}, "Choose one of these templates."),
    ],
)
def test_invalid_input_is_refused_at_its_field(newcomer: User, change: dict[str, str], words: str) -> None:
    text = browser(newcomer).post(reverse("welcome"), FORM | change).content.decode()
    assert words in text
    assert find_organizations(user_id=newcomer.pk) == []


def test_a_refused_form_keeps_its_input(newcomer: User) -> None:
    text = browser(newcomer).post(reverse("welcome"), {**FORM, "starter": ""}).content.decode()
    assert 'value="Praxis Lindenhof"' in text


def test_names_are_escaped(newcomer: User) -> None:
    client = browser(newcomer)
    client.post(reverse("welcome"), {**FORM, "name": "<script>alert(1)</script>"})
    assert "<script>alert" not in client.get("/", follow=True).content.decode()


def test_organizations_per_user_are_limited(newcomer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.people.welcome.MOST", 1)
    client = browser(newcomer)
    client.post(reverse("welcome"), FORM)
    assert "Leave one to create another" in client.post(reverse("welcome"), FORM).content.decode()
    assert len(find_organizations(user_id=newcomer.pk)) == 1


def test_no_organization_is_created_while_sign_up_is_closed(newcomer: User, settings) -> None:
    settings.SIGNUP = False
    client = browser(newcomer)
    client.post(reverse("welcome"), FORM)
    assert find_organizations(user_id=newcomer.pk) == []
    assert "No project yet" in client.get("/").content.decode()


def test_a_member_of_one_organization_may_start_another(tenant: Tenant) -> None:
    viewer = member_of(tenant, Role.VIEWER)
    browser(viewer).post(reverse("welcome"), FORM)
    assert len(find_organizations(user_id=viewer.pk)) == 2


def test_verification_is_off_by_default(database: None) -> None:
    assert configured.ACCOUNT_EMAIL_VERIFICATION == "none"


def test_verification_can_be_required(database: None, mailbox: Mailbox, settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    client = sign_up()
    assert not is_signed_in(client)
    found = re.search(r"/account/confirm-email/\S+", mailbox.last_text())
    assert found
    answer = client.post(found[0])
    assert is_signed_in(client)
    assert answer.headers["Location"] == reverse("welcome")


def test_concurrent_sign_ups_create_one_account(database: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other request, perhaps a double click, is redirected to sign-in."""

    def after_another(email: str) -> None:
        monkeypatch.undo()
        with ThreadPoolExecutor(1) as pool:
            in_thread(pool, sign_up).result()

    monkeypatch.setattr(accounts, "release_address", after_another)
    answer = Client().post(reverse("account_signup"), {"email": EMAIL, "password1": NEW_PASSWORD}, follow=True)
    assert answer.redirect_chain[0][0] == reverse("account_login")
    assert "This e-mail already has an account." in answer.content.decode()
    assert User.objects.filter(email=EMAIL).count() == 1
