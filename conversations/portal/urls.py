"""Addresses of the customer's page."""

from __future__ import annotations

from django.urls import path

from conversations.portal import pages

urlpatterns = [
    path("c/<str:token>", pages.portal, name="portal"),
    path("c/<str:token>/events", pages.events, name="portal_events"),
]
