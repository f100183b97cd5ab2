"""The members page: members and open invitations."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from allauth.core.ratelimit import consume
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from console.layout import shell_context
from console.people.forms import InvitationForm, RoleForm
from console.people.invitations import TOO_MANY, announce, take_link
from console.people.member_list import acting, find_member, invitation_rows, member_rows, roles_for
from console.people.refusals import refusals, take_refusals
from projects.accounts.invitations import NewInvitation, invite
from projects.accounts.members import remove_member, set_developer_tools, set_role
from projects.common.api_error import Conflict
from projects.common.mail import has_server
from projects.models import Role, User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from projects.records.audit import Actor
from tenancy.scope import tenant_tx


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def members(request: HttpRequest, project_slug: str) -> HttpResponse:
    """List members and invitations; POST invites someone."""
    is_post = request.method == "POST"
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    form = InvitationForm(request.POST if is_post else None, initial={"role": Role.OPERATOR})
    if is_post and form.is_valid() and (new := _invite(request, entry, form=form)):
        announce(request, entry, new=new)
        return redirect("members", project_slug)
    return render(request, "people/members.html", _context(request, entry, form=form))


@login_required
@require_POST
def change_role(request: HttpRequest, project_slug: str, member_id: UUID) -> HttpResponse:
    """Change a member's role."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    form = RoleForm(request.POST)
    if form.is_valid():
        with refusals(request, about=member_id), tenant_tx(entry.project.organization.pk):
            set_role(find_member(member_id), role=Role(form.cleaned_data["role"]), by=Actor.of(acting(entry)))
    return redirect("members", project_slug)


@login_required
@require_POST
def change_developer_tools(request: HttpRequest, project_slug: str, member_id: UUID) -> HttpResponse:
    """Open or close the pages for developers to a member."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    is_on = request.POST.get("developer_tools") == "on"
    with refusals(request, about=member_id), tenant_tx(entry.project.organization.pk):
        set_developer_tools(find_member(member_id), is_on=is_on, by=Actor.of(acting(entry)))
    return redirect("members", project_slug)


@login_required
@require_POST
def remove(request: HttpRequest, project_slug: str, member_id: UUID) -> HttpResponse:
    """Remove a member. Members may remove themselves."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.READ)
    is_own = member_id == entry.member.pk
    if not is_own and not entry.may(Scope.CONFIGURE):
        raise PermissionDenied(gettext("Only owners and admins can remove members."))
    with refusals(request, about=member_id), tenant_tx(entry.project.organization.pk):
        remove_member(find_member(member_id), by=Actor.of(acting(entry)))
        return redirect("home" if is_own else reverse("members", args=[project_slug]))
    return redirect("members", project_slug)


def _invite(request: HttpRequest, entry: Entry, *, form: InvitationForm) -> NewInvitation | None:
    """The new invitation, or None with an error on the form."""
    if not consume(request, action="invite"):
        form.add_error("email", TOO_MANY)
        return None
    email, role = form.cleaned_data["email"], Role(form.cleaned_data["role"])
    try:
        with tenant_tx(entry.project.organization.pk):
            return invite(email, role=role, by=acting(entry))
    except Conflict as error:
        form.add_error(error.field or "email", error.message)
        return None


def _context(request: HttpRequest, entry: Entry, *, form: InvitationForm) -> dict[str, Any]:
    context = shell_context(request, entry)
    manages = entry.may(Scope.CONFIGURE)
    refused = take_refusals(request)
    with tenant_tx(entry.project.organization.pk):
        people = member_rows(entry, refused=refused)
        invited = invitation_rows(entry, refused=refused) if manages else []
    return {
        **context,
        "form": form,
        "people": people,
        "invited": invited,
        "roles": roles_for(Role(entry.member.role)),
        "all_roles": roles_for(Role.OWNER),
        "manages": manages,
        "has_mail_server": has_server(),
        "fresh": take_link(request, entry),
    }
