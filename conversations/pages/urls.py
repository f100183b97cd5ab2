"""Addresses of the pages of conversations."""

from __future__ import annotations

from django.urls import path

from conversations.pages import dashboard, failed_jobs, listing, playground

urlpatterns = [
    path("", playground.home, name="home"),
    path("p/<slug:project_slug>/", dashboard.dashboard, name="dashboard"),
    path("p/<slug:project_slug>/playground", playground.playground, name="playground"),
    path("p/<slug:project_slug>/conversations", listing.conversations, name="conversations"),
    path("p/<slug:project_slug>/conversations/<uuid:conversation_id>", listing.conversation, name="conversation"),
    path("p/<slug:project_slug>/jobs/failed", failed_jobs.failed_jobs, name="failed_jobs"),
]
