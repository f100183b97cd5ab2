"""Concurrent changes to unversioned settings: the page shows the conflicting save."""

from __future__ import annotations

from projects.agents.concurrent_edits import changes_of, last_to_change
from projects.agents.services import create_project
from projects.common.differences import Change
from projects.models import AuditAction, Project
from projects.records.audit import record_change
from tests.conftest import Tenant

CHANGED, MADE = AuditAction.CONNECTION_CHANGED, AuditAction.CONNECTED


def note(tenant: Tenant, actor: str, *, action: AuditAction = CHANGED, subject: str = "Mail", project: Project) -> None:
    record_change(
        action, organization_id=tenant.organization.pk, by=None, actor=actor, subject=subject, project=project
    )


def test_the_last_editor_is_named(tenant: Tenant) -> None:
    """Only entries about this object, project and kind of change count."""
    with tenant.tx():
        note(tenant, "Anna", project=tenant.project)
        note(tenant, "Bruno", project=tenant.project)
        note(tenant, "Carla", project=tenant.project, subject="Texts")
        note(tenant, "Dino", project=tenant.project, action=AuditAction.DISCONNECTED)
        note(tenant, "Elsa", project=create_project("Other", config=tenant.project.agent_version.config))
        assert last_to_change(tenant.project, "Mail", CHANGED, MADE) == "Bruno"
        assert last_to_change(tenant.project, "Calendar", CHANGED, MADE) == "Someone"


def test_differences_use_the_pages_field_titles() -> None:
    standing = {"sites": ["a"], "brand": "#111111", "language": "it"}
    typed = {"sites": ["a", "b"], "brand": "#222222", "language": "it"}
    assert changes_of(standing, typed, titles={"brand": "Colour"}) == [
        Change("Sites", "a", "a\nb"),
        Change("Colour", "#111111", "#222222"),
    ]
