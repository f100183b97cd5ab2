"""Addresses of the pages of the agent's settings."""

from __future__ import annotations

from django.urls import path

from projects.pages.agent.attributes import attributes_page
from projects.pages.agent.history import history_page
from projects.pages.agent.model_test import model_test
from projects.pages.agent.sections import BUSINESS, SECTIONS
from projects.pages.agent.settings import settings_page

AGENT = "p/<slug:project_slug>/agent"

urlpatterns = [
    path(f"{AGENT}/models/test", model_test, name="agent_model_test"),
    *(
        path(f"{AGENT}/{section.slug}", settings_page, {"section": section.slug}, name="agent")
        for section in SECTIONS
        if section is not BUSINESS
    ),
    path(f"{AGENT}/attributes", attributes_page, {"section": "attributes"}, name="agent"),
    path(f"{AGENT}/history", history_page, {"section": "history"}, name="agent"),
    # The last of a name is the one that is meant where no section is named.
    path(AGENT, settings_page, {"section": BUSINESS.slug}, name="agent"),
]
