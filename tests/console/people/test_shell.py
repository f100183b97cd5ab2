"""Pages that belong to no project stand in the shell of the project that the reader came from."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from projects.agents.services import create_project
from projects.models import Role, User
from tests.conftest import Tenant, member_of

PAGES = ("account", "account_change_password", "mfa_index", "api_docs")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.parametrize("name", PAGES)
def test_the_page_keeps_the_project_that_it_was_opened_from(tenant: Tenant, name: str) -> None:
    with tenant.tx():
        second = create_project("Bottega", config=tenant.project.agent_version.config)
    client = signed_in(tenant.owner)
    client.get(reverse("account"), {"project": second.slug})
    page = client.get(reverse(name), follow=True)
    assert f'href="{reverse("dashboard", args=[second.slug])}"' in page.content.decode()


def test_a_strangers_project_is_not_shown(tenant: Tenant, stranger: Tenant) -> None:
    page = signed_in(tenant.owner).get(reverse("account"), {"project": stranger.project.slug}).content.decode()
    assert stranger.project.slug not in page
    assert f'href="{reverse("dashboard", args=[tenant.project.slug])}"' in page


@pytest.mark.parametrize("name", ["account", "api_docs"])
def test_a_user_without_a_project_reads_the_page_alone(database: None, name: str) -> None:
    page = signed_in(User.objects.create_user("lena@example.com")).get(reverse(name))
    assert page.status_code == 200
    assert 'id="side"' not in page.content.decode()


def test_a_member_without_access_reads_why_in_the_shell(tenant: Tenant) -> None:
    page = signed_in(member_of(tenant, Role.VIEWER)).get(reverse("new_tool", args=[tenant.project.slug]))
    assert (page.status_code, page.templates[0].name) == (403, "403.html")
    assert f'href="{reverse("inbox", args=[tenant.project.slug])}"' in page.content.decode()


def test_a_page_of_somebody_elses_project_stands_in_the_shell_of_ones_own(tenant: Tenant, stranger: Tenant) -> None:
    page = signed_in(tenant.owner).get(reverse("inbox", args=[stranger.project.slug]))
    assert page.status_code == 404
    assert f'href="{reverse("inbox", args=[tenant.project.slug])}"' in page.content.decode()
    assert stranger.project.name not in page.content.decode()


def test_an_address_without_a_page_stands_in_the_shell(tenant: Tenant) -> None:
    page = signed_in(tenant.owner).get(f"{reverse('dashboard', args=[tenant.project.slug])}no/such/page")
    assert (page.status_code, page.templates[0].name) == (404, "404.html")
    assert f'href="{reverse("inbox", args=[tenant.project.slug])}"' in page.content.decode()


def test_a_user_without_a_project_reads_the_error_alone(database: None, tenant: Tenant) -> None:
    page = signed_in(User.objects.create_user("lena@example.com")).get(reverse("inbox", args=[tenant.project.slug]))
    assert (page.status_code, "mg-app" in page.content.decode()) == (404, False)


def test_the_examples_of_the_api_name_this_server(tenant: Tenant) -> None:
    page = signed_in(tenant.owner).get(reverse("api_docs")).content.decode()
    assert f"BASE={settings.BASE_URL}" in page
