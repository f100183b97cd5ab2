"""The palette: what a member may open, and what its search finds."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import Member, Role, User
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser, talk


def entries(client: Client, tenant: Tenant, text: str = "") -> list[dict[str, Any]]:
    return client.get(reverse("palette", args=[tenant.project.slug]), {"q": text}).json()["entries"]


def titles(client: Client, tenant: Tenant, text: str = "", *, group: str) -> list[str]:
    return [entry["title"] for entry in entries(client, tenant, text) if entry["group"] == group]


def test_it_leads_to_pages_settings_and_actions(owner: Client, tenant: Tenant) -> None:
    assert {entry["group"] for entry in entries(owner, tenant)} == {"Pages", "Settings", "Actions"}


def test_every_address_of_an_entry_opens(owner: Client, tenant: Tenant) -> None:
    answers = {
        entry["url"]: owner.get(entry["url"], follow=True).status_code
        for entry in entries(owner, tenant)
        if entry["url"]
    }
    assert {url for url, status in answers.items() if status != 200} == set()


@pytest.mark.parametrize("role", [Role.ADMIN, Role.OPERATOR, Role.VIEWER])
def test_a_role_is_offered_what_it_may_open(tenant: Tenant, role: Role) -> None:
    user = member_of(tenant, role)
    with tenant.tx():
        Member.objects.filter(user=user).update(developer_tools=False)
    client = browser(user)
    found = [entry["url"] for entry in entries(client, tenant) if entry["url"]]
    assert {url for url in found if client.get(url, follow=True).status_code != 200} == set()
    assert not any(url.endswith(("/keys", "/effects", "/jobs/failed", "/agent/attributes")) for url in found)


def test_a_viewer_is_offered_no_new_todo(tenant: Tenant, viewer: User) -> None:
    assert "New todo" not in titles(browser(viewer), tenant, group="Actions")


def test_people_are_found_and_names_that_begin_so_come_first(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi", guest="1", name="Ferri Anna")
    talk(tenant, "Hi", guest="2", name="Giulia Ferri")
    assert titles(owner, tenant, "ferri", group="People") == ["Ferri Anna", "Giulia Ferri"]


def test_conversations_are_found_by_customer_and_by_words(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "A table on the terrace?", guest="1", name="Giulia Ferri")
    assert titles(owner, tenant, "giulia", group="Conversations") == ["Giulia Ferri"]
    (found,) = [one for one in entries(owner, tenant, "terrace") if one["group"] == "Conversations"]
    assert "terrace" in found["hint"]


def test_the_number_of_results_is_limited(owner: Client, tenant: Tenant) -> None:
    for number in range(9):
        talk(tenant, "Hi", guest=str(number), name=f"Giulia {number}")
    assert len(entries(owner, tenant, "giulia")) == 10


def test_another_tenants_people_are_not_found(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    talk(stranger, "A table on the terrace?", guest="1", name="Giulia Ferri")
    assert entries(owner, tenant, "giulia") == entries(owner, tenant, "terrace") == []


def test_single_keys_are_turned_off_for_the_user(owner: Client, tenant: Tenant) -> None:
    page = reverse("dashboard", args=[tenant.project.slug])
    assert 'name="single-keys" content="on"' in owner.get(page).content.decode()
    assert owner.post(reverse("shortcuts"), {}, headers={"Accept": "application/json"}).status_code == 204
    assert 'name="single-keys" content="off"' in owner.get(page).content.decode()
