"""All addresses."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from config.views import healthz
from conversations import views as pages
from projects.api import errors

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler500 = errors.server_error

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("account/", include("allauth.account.urls")),
    path("api/v1/", include("config.api_urls")),
    path("", pages.home, name="home"),
    path("p/<slug:project_slug>/playground", pages.playground, name="playground"),
]
