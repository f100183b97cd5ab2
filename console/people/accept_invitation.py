"""Accepting an invitation, with an existing account or a new one."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from console.people.forms import JoinForm
from console.people.member_list import choice_of
from projects.accounts.accounts import INVITATION_TOKEN, prefill_sign_in
from projects.accounts.email_addresses import find_unclaimed
from projects.accounts.invitations import Offer, accept, accept_as_newcomer, read_offer
from projects.common.api_error import Conflict
from projects.models import Project, User
from tenancy.scope import tenant_tx

BACKEND = "django.contrib.auth.backends.ModelBackend"


@never_cache
@require_safe
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Move the token into the session and redirect, to keep it out of the browser's address bar."""
    if read_offer(token) is None:
        return _expired(request)
    request.session[INVITATION_TOKEN] = token
    return redirect("join")


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest) -> HttpResponse:
    """Show the invitation with the step that fits the visitor: accept, sign in, switch accounts or sign up."""
    offer = read_offer(request.session.get(INVITATION_TOKEN, ""))
    if offer is None:
        return _expired(request)
    if request.user.is_authenticated:
        return _join_as_user(request, offer)
    if User.objects.filter(email__iexact=offer.email).exists() and not find_unclaimed(offer.email):
        prefill_sign_in(request, offer.email)
        return _page(request, offer, step="sign_in")
    return _join_as_newcomer(request, offer)


def _join_as_user(request: HttpRequest, offer: Offer) -> HttpResponse:
    user = cast(User, request.user)
    if user.email.lower() != offer.email.lower():
        return _page(request, offer, step="other", token=request.session[INVITATION_TOKEN])
    if request.method != "POST":
        return _page(request, offer, step="accept")
    try:
        with tenant_tx(offer.organization_id):
            accept(offer.invitation_id, user=user)
    except Conflict:
        return _expired(request)
    return _finish(request, offer)


def _join_as_newcomer(request: HttpRequest, offer: Offer) -> HttpResponse:
    if request.method != "POST":
        return _page(request, offer, step="new", form=JoinForm(email=offer.email))
    form = JoinForm(request.POST, email=offer.email)
    if not form.is_valid():
        return _page(request, offer, step="new", form=form)
    password_hash = make_password(form.cleaned_data["password"])
    try:
        with tenant_tx(offer.organization_id):
            user = accept_as_newcomer(offer, name=form.cleaned_data["name"], password_hash=password_hash)
    except Conflict:
        return _expired(request)
    except IntegrityError:
        # A concurrent sign-up took this address.
        return redirect("join")
    login(request, user, backend=BACKEND)
    return _finish(request, offer)


def _finish(request: HttpRequest, offer: Offer) -> HttpResponse:
    """Redirect to the organization just joined."""
    del request.session[INVITATION_TOKEN]
    messages.success(
        request,
        gettext("You joined %(organization)s as %(role)s.")
        % {"organization": offer.organization, "role": choice_of(offer.role).title},
    )
    with tenant_tx(offer.organization_id):
        first = Project.objects.order_by("created_at").first()
    return redirect("dashboard", first.slug) if first else redirect("home")


def _page(
    request: HttpRequest, offer: Offer, *, step: str, form: JoinForm | None = None, token: str = ""
) -> HttpResponse:
    context = {"offer": offer, "role": choice_of(offer.role), "step": step, "form": form, "token": token}
    return render(request, "people/join.html", context)


def _expired(request: HttpRequest) -> HttpResponse:
    request.session.pop(INVITATION_TOKEN, None)
    return render(request, "people/join_over.html", status=410)
