"""Admin actions, forged requests and the history can't reach another tenant."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from projects.models import ApiKey, Attribute, Member, Project, Role, User
from tests.conftest import Tenant, member_of
from tests.tenancy.admin_pages import address
from tests.tenancy.conftest import THEIRS, Filled, browser


def test_a_bulk_action_cannot_reach_another_tenants_key(owner: Client, ours: Filled, theirs: Filled) -> None:
    chosen = {"action": "revoke", "_selected_action": [str(theirs.rows[ApiKey].pk)]}
    owner.post(address(ApiKey, "changelist"), chosen)
    with theirs.tenant.tx():
        assert ApiKey.objects.get(pk=theirs.rows[ApiKey].pk).revoked_at is None


@pytest.mark.parametrize("model", [Attribute, ApiKey])
def test_a_forged_post_cannot_refer_to_another_tenants_project(model: Any, owner: Client, theirs: Filled) -> None:
    """The foreign key is in the raw POST data."""
    form = {"project": str(theirs.tenant.project.pk), "name": "x", "key": "x", "type": "str", "text": "x"}
    response = owner.post(address(model, "add"), {**form, "scopes": ["read"]})
    assert "Select a valid choice" in response.content.decode()
    with theirs.tenant.tx():
        assert not model.objects.filter(project=theirs.tenant.project, **{"key" if model is Attribute else "name": "x"})


def test_a_forged_post_cannot_move_a_row(owner: Client, ours: Filled, theirs: Filled) -> None:
    row = ours.rows[Attribute]
    form = {
        "type": "str",
        "text": "x",
        "project": str(theirs.tenant.project.pk),
        "organization": str(theirs.tenant.organization.pk),
    }
    owner.post(address(Attribute, "change", row.pk), form)
    with ours.tenant.tx():
        changed = Attribute.objects.get(pk=row.pk)
    assert (changed.value, changed.project_id) == ("x", row.project_id)


def test_the_index_shows_the_history_of_the_chosen_organization(tenant: Tenant, stranger: Tenant) -> None:
    """A member of two organizations sees only the history of the chosen one."""
    with stranger.tx():
        Member.objects.create(user=tenant.owner, role=Role.OWNER)
    client = browser(tenant.owner)
    client.get(reverse("admin:enter", args=[stranger.organization.pk]))
    client.post(address(Project, "change", stranger.project.pk), {"name": THEIRS})
    assert THEIRS in client.get(reverse("admin:index")).content.decode()
    client.get(reverse("admin:enter", args=[tenant.organization.pk]))
    assert THEIRS not in client.get(reverse("admin:index")).content.decode()


def test_colleagues_can_read_the_history_of_a_row(owner: Client, tenant: Tenant) -> None:
    owner.post(address(Project, "change", tenant.project.pk), {"name": "Renamed"})
    colleague = browser(member_of(tenant, Role.ADMIN))
    assert "Changed Name" in colleague.get(address(Project, "history", tenant.project.pk)).content.decode()


def test_the_history_table_has_row_level_security(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    owner.post(address(Project, "change", tenant.project.pk), {"name": "Renamed"})
    with tenant.tx():
        assert LogEntry.objects.count() == 1
    with stranger.tx():
        assert LogEntry.objects.count() == 0
    assert LogEntry.objects.count() == 0


def test_strangers_operators_and_viewers_cannot_enter(tenant: Tenant, operator: User, viewer: User) -> None:
    nobody = User.objects.create_user("nobody@people.example", "correct horse battery")
    for user in (operator, viewer, nobody):
        assert browser(user).get(reverse("admin:index")).status_code == 403


def test_the_admin_has_no_login_of_its_own(database: None) -> None:
    response = Client().get("/admin/projects/project/", follow=True)
    assert response.request["PATH_INFO"] == reverse("account_login")


def test_members_can_enter_only_organizations_they_administer(owner: Client, stranger: Tenant) -> None:
    assert owner.get(reverse("admin:enter", args=[stranger.organization.pk])).status_code == 404


def test_an_owner_who_is_a_viewer_elsewhere_can_enter(tenant: Tenant, stranger: Tenant) -> None:
    """Finding the organization opens a transaction for each membership; the page then runs in one."""
    with stranger.tx():
        Member.objects.create(user=tenant.owner, role=Role.VIEWER)
    with tenant.tx():
        Member.objects.filter(user=tenant.owner).delete()
        Member.objects.create(user=tenant.owner, role=Role.OWNER)
    response = browser(tenant.owner).get(address(Project, "changelist"))
    assert tenant.project.slug in response.content.decode()
