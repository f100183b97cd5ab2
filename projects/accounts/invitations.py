"""Invitations: sending, renewing, revoking and accepting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext

from projects.accounts.email_addresses import release_address
from projects.accounts.members import check_new_role
from projects.common.api_error import Conflict
from projects.models import AuditAction, Invitation, Member, Organization, Role, User
from projects.models.invitation import LIFETIME
from projects.records.audit import person, record_change
from tenancy.scope import current_organization_id, tenant_tx
from tenancy.tenant_lookup import find_invitation

MAX_OPEN = 50
INVITERS = (Role.OWNER, Role.ADMIN)


class InvitationRefused(Conflict):
    """This invitation is not possible."""


class InvitationOver(Conflict):
    """This invitation was used, revoked or has expired. Ask the person who invited you for a new one."""


@dataclass(frozen=True)
class NewInvitation:
    """An invitation with a new link; `token` is available only here."""

    invitation: Invitation
    token: str


@dataclass(frozen=True)
class Offer:
    """The terms of an open invitation, for the holder of its link."""

    organization_id: UUID
    organization: str
    invitation_id: UUID
    email: str
    role: Role
    invited_by: str
    was_emailed: bool


def open_invitations() -> QuerySet[Invitation]:
    """Invitations that are neither accepted nor revoked, expired ones included, in the current organization."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None)


def invite(email: str, *, role: Role, by: Member) -> NewInvitation:
    """Invite an address; an expired invitation is renewed. Raises InvitationRefused, MemberRefused.

    Concurrent invitations of one address are serialized, and the second is refused.
    """
    check_new_role(role, by=Role(by.role))
    Organization.objects.select_for_update(no_key=True).get(pk=current_organization_id())
    if Member.objects.filter(user__email__iexact=email).exists():
        raise InvitationRefused(
            gettext("%(email)s is already a member. Change their role in the list.") % {"email": email}
        )
    existing = open_invitations().filter(email__iexact=email).first()
    if existing is None:
        return _create(email, role=role, by=by)
    if not existing.is_expired:
        raise InvitationRefused(
            gettext("%(email)s was already invited. Send that invitation again instead.") % {"email": email}
        )
    existing.role = role
    return _renew(existing, by=by, action=AuditAction.INVITED)


def renew(invitation: Invitation, *, by: Member) -> NewInvitation:
    """Replace the link of an open invitation. Raises InvitationOver, MemberRefused."""
    check_new_role(Role(invitation.role), by=Role(by.role))
    return _renew(invitation, by=by, action=AuditAction.INVITED_AGAIN)


def revoke(invitation: Invitation, *, by: Member) -> None:
    """Revoke an invitation. Raises MemberRefused, and InvitationOver if it was used or revoked in the meantime."""
    check_new_role(Role(invitation.role), by=Role(by.role))
    if open_invitations().filter(pk=invitation.pk).update(revoked_at=Now()) != 1:
        raise InvitationOver
    _record(AuditAction.UNINVITED, invitation, by=by)


def record_emailed(new: NewInvitation) -> None:
    """Record that the mail server accepted the e-mail with this link. A link renewed in the meantime is not affected."""
    digest = Invitation.digest_of(new.token)
    Invitation.objects.filter(pk=new.invitation.pk, digest=digest).update(emailed_at=Now())


def read_offer(token: str) -> Offer | None:
    """The offer behind a link, or None if there is none or it is no longer valid. Opens its own transaction."""
    place = find_invitation(Invitation.digest_of(token))
    if place is None:
        return None
    with tenant_tx(place.organization_id):
        invitation = _find_valid(place.invitation_id)
        organization = Organization.objects.get(pk=place.organization_id)
    if invitation is None:
        return None
    return Offer(
        organization_id=place.organization_id,
        organization=organization.name,
        invitation_id=invitation.pk,
        email=invitation.email,
        role=Role(invitation.role),
        invited_by=invitation.invited_by.name if invitation.invited_by else "",
        was_emailed=invitation.emailed_at is not None,
    )


def accept(invitation_id: UUID, *, user: User) -> Member:
    """Make the invited user a member, once; an existing member keeps their role. Raises InvitationOver,
    InvitationRefused.

    Of two concurrent calls, one succeeds.
    """
    invitation = _find_valid(invitation_id)
    if invitation is None:
        raise InvitationOver
    if invitation.email.lower() != user.email.lower():
        raise InvitationRefused(gettext("This invitation is for %(email)s.") % {"email": invitation.email})
    if open_invitations().filter(pk=invitation_id, expires_at__gt=Now()).update(accepted_at=Now()) != 1:
        raise InvitationOver
    member, is_new = Member.objects.get_or_create(user=user, defaults={"role": invitation.role})
    if is_new:
        record_change(
            AuditAction.JOINED,
            organization_id=cast(UUID, invitation.organization_id),
            by=user,
            subject=person(user),
            after={"role": invitation.role},
        )
    return member


def accept_as_newcomer(offer: Offer, *, name: str, password_hash: str) -> User:
    """Create the invited person's account and membership, in the offer's transaction.

    The address counts as verified if our e-mail reached it. Raises InvitationOver, and IntegrityError if the address
    got an account in the meantime.
    """
    first_name, _, last_name = name.partition(" ")
    release_address(offer.email)
    user = User.objects.create(
        email=User.objects.normalize_email(offer.email),
        password=password_hash,
        first_name=first_name,
        last_name=last_name,
    )
    EmailAddress.objects.create(user=user, email=offer.email, primary=True, verified=offer.was_emailed)
    accept(offer.invitation_id, user=user)
    return user


def is_inviter_authorized(invitation: Invitation, *, roles: dict[int, str]) -> bool:
    """True while the inviter is a member who may invite; `roles` maps user ids to roles."""
    by = roles.get(invitation.invited_by_id or 0)
    return by == Role.OWNER if invitation.role == Role.OWNER else by in INVITERS


def _find_valid(invitation_id: UUID) -> Invitation | None:
    invitation = open_invitations().select_related("invited_by").filter(pk=invitation_id).first()
    if invitation is None or invitation.is_expired:
        return None
    roles = dict(Member.objects.filter(user=invitation.invited_by).values_list("user_id", "role"))
    return invitation if is_inviter_authorized(invitation, roles=roles) else None


def _create(email: str, *, role: Role, by: Member) -> NewInvitation:
    if open_invitations().count() >= MAX_OPEN:
        raise InvitationRefused(
            gettext("%(max_open)s invitations are open. Revoke one you no longer need.") % {"max_open": MAX_OPEN}
        )
    token = Invitation.make_token()
    invitation = Invitation.objects.create(
        email=email,
        role=role,
        digest=Invitation.digest_of(token),
        invited_by_id=by.user_id,
        expires_at=timezone.now() + LIFETIME,
    )
    _record(AuditAction.INVITED, invitation, by=by)
    return NewInvitation(invitation=invitation, token=token)


def _renew(invitation: Invitation, *, by: Member, action: AuditAction) -> NewInvitation:
    token = Invitation.make_token()
    changes = {
        "role": invitation.role,
        "digest": Invitation.digest_of(token),
        "invited_by_id": by.user_id,
        "expires_at": Now() + LIFETIME,
        "emailed_at": None,
    }
    if open_invitations().filter(pk=invitation.pk).update(**changes) != 1:
        raise InvitationOver
    _record(action, invitation, by=by)
    return NewInvitation(invitation=invitation, token=token)


def _record(action: AuditAction, invitation: Invitation, *, by: Member) -> None:
    """Write the audit entry, with the address and the role but never the link."""
    role = {"role": invitation.role}
    is_revoked = action == AuditAction.UNINVITED
    record_change(
        action,
        organization_id=cast(UUID, invitation.organization_id),
        by=by.user,
        subject=invitation.email,
        before=role if is_revoked else {},
        after={} if is_revoked else role,
    )
