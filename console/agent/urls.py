"""URLs of the agent's configuration."""

from __future__ import annotations

from django.urls import path

from console.agent.attributes import attributes_page
from console.agent.history import history_page
from console.agent.limits import limits_page
from console.agent.model_test import model_test
from console.agent.organization import delete_organization, export_organization, keep_organization
from console.agent.privacy import privacy_page, stored_page
from console.agent.publish import publish_page
from console.agent.sections import BUSINESS, SECTIONS
from console.agent.settings import settings_page

AGENT = "p/<slug:project_slug>/agent"

urlpatterns = [
    path(f"{AGENT}/models/test", model_test, name="agent_model_test"),
    *(
        path(f"{AGENT}/{section.slug}", settings_page, {"section": section.slug}, name="agent")
        for section in SECTIONS
        if section is not BUSINESS
    ),
    path(f"{AGENT}/attributes", attributes_page, {"section": "attributes"}, name="agent"),
    path(f"{AGENT}/privacy", privacy_page, {"section": "privacy"}, name="agent"),
    path(f"{AGENT}/privacy/stored", stored_page, name="stored_data"),
    path(f"{AGENT}/privacy/organization/export", export_organization, name="export_organization"),
    path(f"{AGENT}/privacy/organization/delete", delete_organization, name="delete_organization"),
    path(f"{AGENT}/privacy/organization/keep", keep_organization, name="keep_organization"),
    path(f"{AGENT}/limits", limits_page, {"section": "limits"}, name="agent"),
    path(f"{AGENT}/publish", publish_page, {"section": "publish"}, name="agent"),
    path(f"{AGENT}/history", history_page, {"section": "history"}, name="agent"),
    # Reversing `agent` without a section picks the last pattern.
    path(AGENT, settings_page, {"section": BUSINESS.slug}, name="agent"),
]
