"""Concurrent changes to members: permissions are checked under the lock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from projects.accounts.invitations import NewInvitation, invite, record_emailed, renew
from projects.accounts.members import MemberRefused, remove_member, set_role
from projects.models import Invitation, Member, Role, User
from projects.records.audit import Actor
from tests.conftest import PASSWORD, Tenant
from tests.conversations.threads import in_thread, until_waiting


def membership(tenant: Tenant, user: User) -> Member:
    with tenant.tx():
        return Member.objects.select_related("user").get(user=user)


def joined(tenant: Tenant, role: Role, name: str) -> Member:
    user = User.objects.create_user(f"{name}@nello.example", PASSWORD)
    with tenant.tx():
        return Member.objects.create(user=user, role=role)


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN])
def test_a_concurrently_demoted_member_cannot_demote_others(tenant: Tenant, role: Role) -> None:
    """Of two mutual demotions one wins, even with a third owner."""
    first, second = joined(tenant, role, "first"), joined(tenant, role, "second")

    def demote(member: Member, by: Member) -> None:
        with tenant.tx():
            set_role(member, role=Role.VIEWER, by=Actor.of(by))

    with ThreadPoolExecutor(1) as pool:
        with tenant.tx():
            set_role(second, role=Role.VIEWER, by=Actor.of(first))
            other = in_thread(pool, lambda: demote(first, second))
            until_waiting()
        with pytest.raises(MemberRefused):
            other.result()
    assert membership(tenant, first.user).role == role


def test_a_concurrently_removed_member_cannot_remove_others(tenant: Tenant) -> None:
    first, second = joined(tenant, Role.ADMIN, "first"), joined(tenant, Role.ADMIN, "second")

    def remove(member: Member, by: Member) -> None:
        with tenant.tx():
            remove_member(member, by=Actor.of(by))

    with ThreadPoolExecutor(1) as pool:
        with tenant.tx():
            remove_member(second, by=Actor.of(first))
            other = in_thread(pool, lambda: remove(first, second))
            until_waiting()
        with pytest.raises(MemberRefused):
            other.result()
    assert membership(tenant, first.user).role == Role.ADMIN


def test_a_late_e_mail_does_not_verify_a_renewed_link(tenant: Tenant) -> None:
    """Joining through a shared link doesn't prove ownership of the address."""
    owner = membership(tenant, tenant.owner)

    def new(again: Invitation | None = None) -> NewInvitation:
        with tenant.tx():
            return renew(again, by=owner) if again else invite("lena@new.example", role=Role.OPERATOR, by=owner)

    first = new()
    new(again=first.invitation)
    with tenant.tx():
        record_emailed(first)
        assert Invitation.objects.get().emailed_at is None
