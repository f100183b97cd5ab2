"""All addresses."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from config.views import healthz, no_such_page
from projects.api import errors
from projects.catalog import javascript_catalog

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler500 = errors.server_error

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    # allauth's own page would let anyone take an unverified address as theirs.
    path("account/email/", no_such_page),
    path("account/", include("allauth.account.urls")),
    path("account/2fa/", include("projects.pages.people.factor_urls")),
    path("account/2fa/", include("allauth.mfa.urls")),
    path("api/v1/", include("config.api_urls")),
    path("i18n/<str:language>.js", javascript_catalog, name="javascript_catalog"),
    path("", include("conversations.widget.urls")),
    path("", include("conversations.portal.urls")),
    path("", include("projects.pages.widget.urls")),
    path("", include("conversations.pages.urls")),
    # Before the agent's: the last address of the name "agent" is the one that is meant where no section is named.
    path("", include("tools.integrations.pages.urls")),
    path("", include("conversations.pages.todos.urls")),
    path("", include("projects.knowledge.pages.urls")),
    path("", include("projects.pages.agent.urls")),
    path("", include("projects.pages.people.urls")),
    path("", include("tools.book.pages.urls")),
]
