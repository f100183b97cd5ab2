"""The members page: visibility, role changes, and the last owner."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from projects.accounts.members import MemberRefused, set_role
from projects.models import Member, Role, User
from projects.records.audit import Actor
from tenancy.tenant_lookup import find_project
from tests.conftest import Tenant, member_of
from tests.console.people.conftest import browser, page_of

LAST = "This is the only owner. Make someone else an owner first."
OWNERS_ONLY = "Only an owner can add or change owners."


def membership(tenant: Tenant, user: User) -> Member:
    with tenant.tx():
        return Member.objects.get(user=user)


def roles(tenant: Tenant) -> dict[str, str]:
    with tenant.tx():
        return dict(Member.objects.values_list("user__email", "role"))


def change(client: Client, tenant: Tenant, user: User, role: str) -> str:
    """Change a role, and return the resulting page."""
    url = page_of(tenant, "member_role", membership(tenant, user).pk)
    return client.post(url, {"role": role}, follow=True).content.decode()


def remove(client: Client, tenant: Tenant, user: User) -> str:
    return client.post(page_of(tenant, "member_remove", membership(tenant, user).pk), follow=True).content.decode()


def test_everyone_sees_the_members_of_their_own_organization(tenant: Tenant, stranger: Tenant, viewer: User) -> None:
    text = browser(viewer).get(page_of(tenant, "members")).content.decode()
    assert tenant.owner.email in text
    assert stranger.owner.email not in text


def test_the_invitation_form_is_hidden_without_permission(tenant: Tenant, viewer: User) -> None:
    text = browser(viewer).get(page_of(tenant, "members")).content.decode()
    assert "Invite someone" not in text
    assert "Only owners and admins can invite members" in text


def test_an_owner_changes_a_role(owner: Client, tenant: Tenant, viewer: User) -> None:
    change(owner, tenant, viewer, Role.ADMIN)
    assert roles(tenant)[viewer.email] == Role.ADMIN


def test_each_role_has_a_description(owner: Client, tenant: Tenant) -> None:
    page = owner.get(page_of(tenant, "members"))
    told = {role.value: str(role.line) for role in page.context["all_roles"]}
    assert set(told) == set(Role.values)
    assert all(line.endswith(".") for line in told.values())
    assert told["viewer"] in page.content.decode()


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_operators_and_viewers_cannot_change_members(tenant: Tenant, role: Role) -> None:
    user = member_of(tenant, role)
    before, client, own = roles(tenant), browser(user), membership(tenant, user).pk
    owners = membership(tenant, tenant.owner).pk
    for url in (page_of(tenant, "member_role", own), page_of(tenant, "member_remove", owners)):
        assert client.post(url, {"role": Role.OWNER}).status_code == 403
    assert roles(tenant) == before


def test_an_admin_cannot_assign_the_owner_role(tenant: Tenant, admin: User, viewer: User) -> None:
    client, before = browser(admin), roles(tenant)
    for user in (admin, viewer):
        assert OWNERS_ONLY in change(client, tenant, user, Role.OWNER)
    assert roles(tenant) == before


def test_an_admin_can_neither_demote_nor_remove_an_owner(tenant: Tenant, admin: User) -> None:
    client, before = browser(admin), roles(tenant)
    assert OWNERS_ONLY in change(client, tenant, tenant.owner, Role.VIEWER)
    assert OWNERS_ONLY in remove(client, tenant, tenant.owner)
    assert roles(tenant) == before


def test_the_only_owner_can_neither_be_demoted_nor_removed(owner: Client, tenant: Tenant) -> None:
    assert LAST in change(owner, tenant, tenant.owner, Role.ADMIN)
    assert LAST in remove(owner, tenant, tenant.owner)
    assert roles(tenant)[tenant.owner.email] == Role.OWNER


def test_concurrent_demotions_leave_one_owner(tenant: Tenant) -> None:
    other = member_of(tenant, Role.OWNER)
    members = [membership(tenant, tenant.owner), membership(tenant, other)]

    def lower(member: Member) -> None:
        try:
            with tenant.tx():
                set_role(member, role=Role.VIEWER, by=Actor(tenant.owner, Role.OWNER))
        except MemberRefused:
            pass
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lower, members))
    assert sorted(roles(tenant).values()) == [Role.OWNER, Role.VIEWER]


def test_a_removed_member_loses_access(owner: Client, tenant: Tenant, viewer: User) -> None:
    client = browser(viewer)
    remove(owner, tenant, viewer)
    assert client.get(page_of(tenant, "members")).status_code == 404


def test_a_member_may_leave(tenant: Tenant, viewer: User) -> None:
    remove(browser(viewer), tenant, viewer)
    assert viewer.email not in roles(tenant)


def test_a_role_that_does_not_exist_changes_nothing(owner: Client, tenant: Tenant, viewer: User) -> None:
    change(owner, tenant, viewer, "emperor")
    assert roles(tenant)[viewer.email] == Role.VIEWER


def test_another_tenants_member_is_not_found(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    theirs = membership(stranger, stranger.owner).pk
    for member_id in (theirs, uuid.uuid4()):
        assert owner.post(page_of(tenant, "member_remove", member_id)).status_code == 404
    assert roles(stranger) == {stranger.owner.email: Role.OWNER}


def test_changing_a_role_requires_a_csrf_token(tenant: Tenant, viewer: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(tenant.owner)
    url = page_of(tenant, "member_role", membership(tenant, viewer).pk)
    assert client.post(url, {"role": Role.OWNER}).status_code == 403


def test_a_member_removed_during_a_request_finds_nothing(
    tenant: Tenant, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_and_lose(**asked: Any) -> Any:
        place = find_project(**asked)
        with tenant.tx():
            Member.objects.filter(user=viewer).delete()
        return place

    monkeypatch.setattr("projects.models.permissions.find_project", find_and_lose)
    assert browser(viewer).get(page_of(tenant, "members")).status_code == 404
