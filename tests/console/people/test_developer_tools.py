"""The pages for developers, which a switch of each member opens."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from projects.agents.services import create_organization
from projects.models import AuditEntry, Member, User
from tenancy.scope import tenant_tx
from tests.conftest import Tenant
from tests.console.people.conftest import browser, page_of

PAGES = {
    "api_keys": {},
    "effects": {},
    "effects_csv": {},
    "failed_jobs": {},
    "agent": {"section": "attributes"},
}


LINKS = ("/keys", "/effects", "/jobs/failed", "/agent/attributes", "/api/v1/docs/")


def linked(client: Client, url: str) -> set[str]:
    """The pages for developers that a page links to."""
    text = client.get(url).content.decode()
    return {link for link in LINKS if re.search(rf'{link}["?]', text)}


def switch(tenant: Tenant, user: User, *, is_on: bool) -> None:
    with tenant.tx():
        Member.objects.filter(user=user).update(developer_tools=is_on)


def posted(client: Client, tenant: Tenant, user: User, **body: str) -> int:
    with tenant.tx():
        member = Member.objects.get(user=user)
    return client.post(page_of(tenant, "member_developer_tools", member.pk), body).status_code


@pytest.mark.parametrize("page", PAGES)
def test_a_page_for_developers_is_closed_without_developer_tools(owner: Client, tenant: Tenant, page: str) -> None:
    url = reverse(page, kwargs={"project_slug": tenant.project.slug, **PAGES[page]})
    assert owner.get(url).status_code == 200
    switch(tenant, tenant.owner, is_on=False)
    assert owner.get(url).status_code == 403


def test_the_sidebar_leads_developers_only_to_their_pages(owner: Client, tenant: Tenant) -> None:
    home = page_of(tenant, "dashboard")
    assert linked(owner, home) == set(LINKS)
    switch(tenant, tenant.owner, is_on=False)
    assert linked(owner, home) == set()


def test_the_api_answers_members_without_developer_tools(owner: Client, tenant: Tenant) -> None:
    switch(tenant, tenant.owner, is_on=False)
    answer = owner.get("/api/v1/effects", headers={"X-Project": tenant.project.slug})
    assert answer.status_code == 200


def test_an_owner_opens_them_to_a_member(owner: Client, tenant: Tenant, viewer: User) -> None:
    switch(tenant, viewer, is_on=False)
    assert posted(owner, tenant, viewer, developer_tools="on") == 302
    with tenant.tx():
        assert Member.objects.get(user=viewer).developer_tools
        entry = AuditEntry.objects.get(action="member.developer_tools")
    assert (entry.before, entry.after) == ({"developer_tools": "off"}, {"developer_tools": "on"})


def test_a_viewer_opens_nothing(tenant: Tenant, viewer: User) -> None:
    switch(tenant, viewer, is_on=False)
    assert posted(browser(viewer), tenant, viewer, developer_tools="on") == 403


def test_a_new_business_begins_without_them(database: None) -> None:
    owner = User.objects.create_user("ada@example.com")
    organization = create_organization("Ada", owner=owner)
    with tenant_tx(organization.pk):
        assert not Member.objects.get().developer_tools
