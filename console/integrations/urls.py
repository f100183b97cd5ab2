"""URLs of the integrations page."""

from __future__ import annotations

from django.urls import path

from console.integrations.views import TAB, disconnect, integrations_page, test

INTEGRATIONS = f"p/<slug:project_slug>/agent/{TAB}"

urlpatterns = [
    path(f"{INTEGRATIONS}/<slug:kind>/disconnect", disconnect, name="integration_disconnect"),
    path(f"{INTEGRATIONS}/<slug:kind>/test", test, name="integration_test"),
    path(INTEGRATIONS, integrations_page, {"section": TAB}, name="agent"),
]
