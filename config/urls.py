"""All URLs."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from config.views import healthz, no_such_page
from projects.api import errors

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler500 = errors.server_error

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    # allauth's page would let people claim an unverified address.
    path("account/email/", no_such_page),
    path("account/", include("allauth.account.urls")),
    path("account/2fa/", include("console.people.mfa_urls")),
    path("account/2fa/", include("allauth.mfa.urls")),
    path("api/v1/", include("config.api_urls")),
    path("", include("conversations.widget.urls")),
    path("", include("conversations.portal.urls")),
    path("", include("console.widget.urls")),
    path("", include("console.urls")),
    # Before the agent's: `reverse("agent")` without a section uses the last URL of that name.
    path("", include("console.integrations.urls")),
    path("", include("console.todos.urls")),
    path("", include("console.knowledge.urls")),
    path("", include("console.agent.urls")),
    path("", include("console.people.urls")),
    path("", include("console.bookings.urls")),
]
