"""Members of an organization, and the rules for its owners."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.utils.translation import gettext

from projects.accounts.email_addresses import is_unconfirmed
from projects.common.api_error import Conflict
from projects.common.hooks import Signal
from projects.models import AuditAction, Member, Organization, Role, User
from projects.models.key import Scope
from projects.models.permissions import VERBS
from projects.records.audit import Actor, person, record_change

# A user's role in an organization changed; None after they left. Sent inside the transaction of the change.
member_changed: Signal[[User, UUID, Role | None]] = Signal()


class MemberRefused(Conflict):
    """You can't change this member."""


def find_newcomer(email: str) -> User:
    """The user with this e-mail, if they are not a member yet. Raises MemberRefused with an explanation."""
    user = User.objects.filter(email__iexact=email.strip(), is_active=True).first()
    if user is None:
        raise MemberRefused(
            gettext("%(email)s has no account. Ask the server administrator to create one.") % {"email": email}
        )
    if is_unconfirmed(user):
        raise MemberRefused(
            gettext("%(email)s isn’t confirmed. Invite them on the members page instead.") % {"email": email}
        )
    if Member.objects.filter(user=user).exists():
        raise MemberRefused(gettext("%(email)s is already a member. Change their role instead.") % {"email": email})
    return user


def add_member(user: User, *, role: Role, by: Actor) -> Member:
    """Add a user to the current organization. Raises MemberRefused."""
    check_new_role(role, by=by.role)
    member = Member.objects.create(user=user, role=role)
    _record(AuditAction.ADDED, member, by=by, after=role)
    return member


def set_role(member: Member, *, role: Role, by: Actor) -> None:
    """Change a member's role. If two owners demote each other at once, one succeeds. Raises MemberRefused."""
    current = check_change(member, role=role, by=_current_role(by, member, is_leaving=False))
    if current != role:
        Member.objects.filter(pk=member.pk).update(role=role)
        _record(AuditAction.ROLE_CHANGED, member, by=by, before=current, after=role)
        member_changed.send(member.user, cast(UUID, member.organization_id), role)


def remove_member(member: Member, *, by: Actor) -> None:
    """End a membership. Raises MemberRefused."""
    is_own = member.user_id == by.user.pk
    current = check_change(member, role=None, by=_current_role(by, member, is_leaving=is_own))
    _record(AuditAction.LEFT if is_own else AuditAction.REMOVED, member, by=by, before=current)
    Member.objects.filter(pk=member.pk).delete()
    member_changed.send(member.user, cast(UUID, member.organization_id), None)


def set_developer_tools(member: Member, *, is_on: bool, by: Actor) -> None:
    """Open or close the console's pages for developers to a member. Raises MemberRefused."""
    _current_role(by, member, is_leaving=False)
    if Member.objects.filter(pk=member.pk, developer_tools=not is_on).update(developer_tools=is_on):
        record_change(
            AuditAction.DEVELOPER_TOOLS,
            organization_id=cast(UUID, member.organization_id),
            by=by.user,
            subject=person(member.user),
            before={"developer_tools": "off" if is_on else "on"},
            after={"developer_tools": "on" if is_on else "off"},
        )


def check_new_role(role: Role, *, by: Role) -> None:
    """Check that the role `by` may add a member with this role. Raises MemberRefused."""
    if role == Role.OWNER and by != Role.OWNER:
        raise MemberRefused(gettext("Only an owner can add or change owners."))


def check_change(member: Member, *, role: Role | None, by: Role) -> Role:
    """Check a new role for a member, or None to leave, and return the current role. Locks the organization.

    Raises MemberRefused.
    """
    organization_id = cast(UUID, member.organization_id)
    Organization.objects.select_for_update(no_key=True).get(pk=organization_id)
    current = Role(Member.objects.get(pk=member.pk).role)
    if Role.OWNER in (current, role) and by != Role.OWNER:
        raise MemberRefused(gettext("Only an owner can add or change owners."))
    owners = Member.objects.filter(organization_id=organization_id, role=Role.OWNER)
    if current == Role.OWNER != role and owners.count() == 1:
        raise MemberRefused(gettext("This is the only owner. Make someone else an owner first."))
    return current


def _current_role(by: Actor, member: Member, *, is_leaving: bool) -> Role:
    """The actor's current role, read under the organization's lock so that it can't change before the commit.

    Raises MemberRefused.
    """
    Organization.objects.select_for_update(no_key=True).get(pk=cast(UUID, member.organization_id))
    if by.member_id is None:
        return by.role
    current = Member.objects.filter(pk=by.member_id).values_list("role", flat=True).first()
    if current is None or not (is_leaving or Scope.CONFIGURE in VERBS[current]):
        raise MemberRefused(gettext("You no longer have permission to change members."))
    return Role(current)


def _record(
    action: AuditAction, member: Member, *, by: Actor, before: Role | None = None, after: Role | None = None
) -> None:
    record_change(
        action,
        organization_id=cast(UUID, member.organization_id),
        by=by.user,
        subject=person(member.user),
        before={"role": before.value} if before else {},
        after={"role": after.value} if after else {},
    )
