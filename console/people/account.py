"""The user's account: name, sign-in methods, organizations."""

from __future__ import annotations

from typing import cast

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, override
from django.views.decorators.http import require_http_methods, require_POST

from console.people.forms import NameForm
from console.people.member_list import choice_of
from projects.accounts.languages import language_of_request
from projects.models import Member, User
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = NameForm(request.POST if request.method == "POST" else None, initial={"name": user.get_full_name()})
    if form.is_valid():
        user.first_name, _, user.last_name = form.cleaned_data["name"].partition(" ")
        user.save(update_fields=["first_name", "last_name"])
        messages.success(request, gettext("Name saved."))
        return redirect("account")
    context = {
        "form": form,
        "has_second_factor": is_mfa_enabled(user, [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]),
        "memberships": _memberships(user),
        "may_start": settings.SIGNUP,
        "languages": settings.STAFF_LANGUAGES,
    }
    return render(request, "people/account.html", context)


@login_required
@require_POST
def shortcuts(request: HttpRequest) -> HttpResponse:
    """Turn single-key shortcuts on or off, from the account's form or from the list of shortcuts."""
    user = cast(User, request.user)
    user.single_keys = request.POST.get("single_keys") == "on"
    user.save(update_fields=["single_keys"])
    if request.headers.get("Accept") == "application/json":
        return HttpResponse(status=204)
    messages.success(request, gettext("Shortcuts saved."))
    return redirect("account")


@login_required
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose the language of pages and e-mails. An unknown one leaves the choice to the browser."""
    user = cast(User, request.user)
    asked = request.POST.get("language", "")
    user.language = asked if asked in dict(settings.STAFF_LANGUAGES) else ""
    user.save(update_fields=["language"])
    with override(language_of_request(request, user)):
        messages.success(request, gettext("Language saved."))
    return redirect("account")


def _memberships(user: User) -> list[dict[str, str]]:
    """The user's organizations with their role, oldest membership first."""
    found = []
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            member = Member.objects.select_related("organization").get(user=user)
            found.append({"organization": member.organization.name, "role": choice_of(member.role).title})
    return found
