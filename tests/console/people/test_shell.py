"""Pages that belong to no project stand in the shell of the project that the reader came from."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from projects.agents.services import create_project
from projects.models import User
from tests.conftest import Tenant

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
