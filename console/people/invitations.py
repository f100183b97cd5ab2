"""Sending, resending and revoking invitations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from allauth.core.ratelimit import consume
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.mail import EmailMessage
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from console.people.member_list import acting, choice_of
from console.people.one_time_secrets import keep_once, take_once
from console.people.refusals import refusals
from projects.accounts.invitations import NewInvitation, open_invitations, record_emailed, renew, revoke
from projects.common.mail import MailResult, deliver
from projects.common.translation import lazy
from projects.models import Invitation, User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx

LINK = "invitation_link"
TOO_MANY = lazy("You’ve sent too many invitations in the last hour. Try again later.")


@dataclass(frozen=True)
class FreshLink:
    """An invitation link that wasn't e-mailed; `delivery` says why."""

    email: str
    url: str
    delivery: str


@login_required
@require_POST
def send_again(request: HttpRequest, project_slug: str, invitation_id: UUID) -> HttpResponse:
    """Issue a new link for the same address; the previous one stops working."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    if not consume(request, action="invite"):
        messages.error(request, TOO_MANY, extra_tags=str(invitation_id))
        return redirect("members", project_slug)
    new = None
    with refusals(request, about=invitation_id), tenant_tx(entry.project.organization.pk):
        new = renew(_find(invitation_id), by=acting(entry))
    if new:
        announce(request, entry, new=new)
    return redirect("members", project_slug)


@login_required
@require_POST
def take_back(request: HttpRequest, project_slug: str, invitation_id: UUID) -> HttpResponse:
    """Revoke an invitation and its link."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    with refusals(request, about=invitation_id), tenant_tx(entry.project.organization.pk):
        invitation = _find(invitation_id)
        revoke(invitation, by=acting(entry))
        messages.success(request, gettext("Invitation for %(email)s revoked.") % {"email": invitation.email})
    return redirect("members", project_slug)


def announce(request: HttpRequest, entry: Entry, *, new: NewInvitation) -> None:
    """E-mail the link. If that fails, the next page shows the link once. Call after the commit."""
    email = new.invitation.email
    url = settings.BASE_URL + reverse("invitation", args=[new.token])
    delivery = deliver(_message(entry, new.invitation, url=url))
    if delivery is MailResult.SENT:
        with tenant_tx(entry.project.organization.pk):
            record_emailed(new)
        messages.success(request, gettext("Invitation sent to %(email)s.") % {"email": email})
    else:
        secret = " ".join((delivery, email, url))
        keep_once(request, LINK, secret, organization_id=entry.project.organization.pk)


def take_link(request: HttpRequest, entry: Entry) -> FreshLink | None:
    """The link that `announce` stored for this page, if any."""
    kept = take_once(request, LINK, organization_id=entry.project.organization.pk)
    if not kept:
        return None
    delivery, email, url = kept.split(" ", 2)
    return FreshLink(email=email, url=url, delivery=delivery)


def _message(entry: Entry, invitation: Invitation, *, url: str) -> EmailMessage:
    organization = " ".join(entry.project.organization.name.split())
    context = {
        "organization": organization,
        "by": entry.member.user.name,
        "role": choice_of(invitation.role),
        "url": url,
        "expires_at": invitation.expires_at,
    }
    body = render_to_string("people/email/invitation.txt", context)
    return EmailMessage(
        gettext("Join %(organization)s on Makegood") % {"organization": organization}, body, to=[invitation.email]
    )


def _find(invitation_id: UUID) -> Invitation:
    invitation = open_invitations().filter(pk=invitation_id).first()
    if invitation is None:
        raise Http404
    return invitation
