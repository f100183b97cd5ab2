"""Onboarding after sign-up: business name and template."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.people.forms import LONGEST_ABOUT, WelcomeForm
from projects.agents.templates_catalogue import business_templates, start_business
from projects.common.places import country_names, zone_groups
from projects.common.translation import lazy
from projects.models import User
from tenancy.tenant_lookup import find_organizations

MOST = 20
FULL = lazy("You’re a member of 20 organizations. Leave one to create another.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest) -> HttpResponse:
    """Create the business from a template and open its playground."""
    if not settings.SIGNUP:
        return redirect("home")
    user = cast(User, request.user)
    form = WelcomeForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and len(find_organizations(user_id=user.pk)) >= MOST:
        form.add_error("name", FULL)
    if form.is_valid():
        starter = business_templates()[form.cleaned_data["starter"]]
        project = start_business(
            form.cleaned_data["name"], starter=starter, owner=user, locale=form.locale, about=form.about_business
        )
        return redirect("playground", project.slug)
    context = {
        "form": form,
        "starters": business_templates().values(),
        "chosen": form["starter"].value(),
        "zones": zone_groups(),
        "countries": country_names().items(),
        "longest_about": LONGEST_ABOUT,
    }
    return render(request, "welcome/welcome.html", context)
