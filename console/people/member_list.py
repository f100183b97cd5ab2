"""Rows of the members page, with the actions open to the current member."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext

from console.timestamps import Timestamp, format_timestamp
from projects.accounts.invitations import is_inviter_authorized, open_invitations
from projects.common.translation import lazy
from projects.models import Invitation, Member, Role
from projects.models.key import Scope
from projects.models.permissions import Entry

SHOWN = 500
LINES = {
    Role.OWNER: lazy("Everything an admin can do, plus managing owners."),
    Role.ADMIN: lazy("Everything an operator can do, plus managing the agent, tools, knowledge, members and API keys."),
    Role.OPERATOR: lazy("Talks to customers, approves todos, handles tickets and bookings, and confirms outcomes."),
    Role.VIEWER: lazy("Read-only access to everything an operator sees."),
}


@dataclass(frozen=True)
class RoleChoice:
    """A role with its title and a one-line description."""

    value: str
    title: str
    line: str


@dataclass(frozen=True)
class MemberRow:
    id: str
    name: str
    email: str
    initials: str
    role: RoleChoice
    since: Timestamp
    is_you: bool
    roles: list[RoleChoice]
    """Roles this member can be given; empty if the role can't be changed."""
    is_only_owner: bool
    has_developer_tools: bool
    may_switch: bool
    """The reader may open or close the pages for developers to this member."""
    refused: str


@dataclass(frozen=True)
class InvitationRow:
    id: str
    email: str
    role: RoleChoice
    by: str
    emailed: Timestamp | None
    expires: Timestamp
    is_expired: bool
    is_void: bool
    """The inviter may no longer invite."""
    may_change: bool
    refused: str


def acting(entry: Entry) -> Member:
    """The acting member, reloaded in this transaction. Raises Http404 if they have left."""
    return find_member(entry.member.pk)


def find_member(member_id: UUID) -> Member:
    """A member of the transaction's organization. Raises Http404."""
    member = Member.objects.filter(pk=member_id).first()
    if member is None:
        raise Http404
    return member


def roles_for(role: Role) -> list[RoleChoice]:
    """Roles that a member with this role may assign."""
    return [choice_of(one) for one in Role if role == Role.OWNER or one != Role.OWNER]


def choice_of(role: str) -> RoleChoice:
    title, _, _ = Role(role).label.partition(": ")
    return RoleChoice(value=role, title=title, line=LINES[Role(role)])


def member_rows(entry: Entry, *, refused: Mapping[str, str]) -> list[MemberRow]:
    """All members, oldest membership first."""
    people = list(Member.objects.select_related("user").order_by("created_at")[:SHOWN])
    owners = sum(member.role == Role.OWNER for member in people)
    return [_member_row(entry, member, owners=owners, refused=refused) for member in people]


def _member_row(entry: Entry, member: Member, *, owners: int, refused: Mapping[str, str]) -> MemberRow:
    by = Role(entry.member.role)
    may_change = entry.may(Scope.CONFIGURE) and (member.role != Role.OWNER or by == Role.OWNER)
    return MemberRow(
        id=str(member.pk),
        name=member.user.name,
        email=member.user.email,
        initials=member.user.initials,
        role=choice_of(member.role),
        since=format_timestamp(member.created_at),
        is_you=member.pk == entry.member.pk,
        roles=roles_for(by) if may_change else [],
        has_developer_tools=member.developer_tools,
        may_switch=entry.may(Scope.CONFIGURE),
        is_only_owner=member.role == Role.OWNER and owners == 1,
        refused=refused.get(str(member.pk), ""),
    )


def invitation_rows(entry: Entry, *, refused: Mapping[str, str]) -> list[InvitationRow]:
    """Open invitations, newest first."""
    roles = dict(Member.objects.values_list("user_id", "role"))
    invitations = open_invitations().select_related("invited_by")
    return [_invitation_row(entry, one, roles=roles, refused=refused) for one in invitations]


def _invitation_row(
    entry: Entry, invitation: Invitation, *, roles: dict[int, str], refused: Mapping[str, str]
) -> InvitationRow:
    return InvitationRow(
        id=str(invitation.pk),
        email=invitation.email,
        role=choice_of(invitation.role),
        by=invitation.invited_by.name if invitation.invited_by else gettext("a former member"),
        emailed=format_timestamp(invitation.emailed_at) if invitation.emailed_at else None,
        expires=format_timestamp(invitation.expires_at),
        is_expired=invitation.is_expired,
        is_void=not is_inviter_authorized(invitation, roles=roles),
        may_change=invitation.role != Role.OWNER or entry.member.role == Role.OWNER,
        refused=refused.get(str(invitation.pk), ""),
    )
