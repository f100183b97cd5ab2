"""Two people at the members of one organization at once: what may be done is asked when nobody else changes it."""

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
def test_who_is_demoted_meanwhile_demotes_nobody(tenant: Tenant, role: Role) -> None:
    """Two who demote each other at once: one wins, also where there is an owner more."""
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


def test_who_is_removed_meanwhile_removes_nobody(tenant: Tenant) -> None:
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


def test_an_e_mail_that_arrives_late_proves_nothing_of_the_link_that_took_its_place(tenant: Tenant) -> None:
    """Who joins by a link that was passed on by hand hasn't shown that the address is theirs."""
    owner = membership(tenant, tenant.owner)

    def new(again: Invitation | None = None) -> NewInvitation:
        with tenant.tx():
            return renew(again, by=owner) if again else invite("lena@new.example", role=Role.OPERATOR, by=owner)

    first = new()
    new(again=first.invitation)
    with tenant.tx():
        record_emailed(first)
        assert Invitation.objects.get().emailed_at is None
