"""Who belongs to an organization, and the laws that hold for its owners."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from projects.api.problem import Conflict
from projects.models import Member, Organization, Role, User


class MemberRefused(Conflict):
    """This change of the organization's members is not allowed."""


def find_newcomer(email: str) -> User:
    """The user with this e-mail, who is no member here yet. Raises MemberRefused with a sentence that says what to do."""
    user = User.objects.filter(email__iexact=email.strip(), is_active=True).first()
    if user is None:
        raise MemberRefused(f"Nobody has signed up as {email}; ask the operator of this server for an account first.")
    if Member.objects.filter(user=user).exists():
        raise MemberRefused(f"{email} is a member already; change their role instead.")
    return user


def add_member(user: User, *, role: Role, by: Role) -> Member:
    """Make a user a member of the running transaction's organization. Raises MemberRefused."""
    check_new_role(role, by=by)
    return Member.objects.create(user=user, role=role)


def set_role(member: Member, *, role: Role, by: Role) -> None:
    """Give a member another role. Two owners who demote each other at once: one wins. Raises MemberRefused."""
    check_change(member, role=role, by=by)
    Member.objects.filter(pk=member.pk).update(role=role)


def remove_member(member: Member, *, by: Role) -> None:
    """End a membership. Raises MemberRefused."""
    check_change(member, role=None, by=by)
    Member.objects.filter(pk=member.pk).delete()


def check_new_role(role: Role, *, by: Role) -> None:
    """Whether someone with the role `by` may make a member with this role. Raises MemberRefused."""
    if role == Role.OWNER and by != Role.OWNER:
        raise MemberRefused("Only an owner says who the owners are.")


def check_change(member: Member, *, role: Role | None, by: Role) -> None:
    """Whether a member may get another role, or None to leave. Locks the organization. Raises MemberRefused."""
    organization_id = cast(UUID, member.organization_id)
    Organization.objects.select_for_update().get(pk=organization_id)
    standing = Member.objects.get(pk=member.pk).role
    if Role.OWNER in (standing, role) and by != Role.OWNER:
        raise MemberRefused("Only an owner says who the owners are.")
    owners = Member.objects.filter(organization_id=organization_id, role=Role.OWNER)
    if standing == Role.OWNER != role and owners.count() == 1:
        raise MemberRefused("This is the only owner; make someone else an owner first.")
