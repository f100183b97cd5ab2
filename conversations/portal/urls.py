"""URLs of the customer portal."""

from __future__ import annotations

from django.urls import path

from conversations.portal import calls, files, pages
from conversations.portal.catalog import javascript_catalog

urlpatterns = [
    path("c/<str:token>", pages.portal, name="portal"),
    path("c/<str:token>/events", pages.events, name="portal_events"),
    path("c/<str:token>/attachments", files.upload, name="portal_attachments"),
    path("c/<str:token>/calls", calls.start, name="portal_calls"),
    path("c/<str:token>/calls/<uuid:call_id>", calls.call, name="portal_call"),
    path("c/<str:token>/calls/<uuid:call_id>/events", calls.events, name="portal_call_events"),
    path("i18n/<str:language>.js", javascript_catalog, name="javascript_catalog"),
]
