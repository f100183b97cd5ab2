"""Begins exports, and records them in the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast
from uuid import UUID

from django.http import Http404

from conversations.common.merged import find_persona
from privacy.export.customer import CustomerExport
from projects.models import AuditAction, Project, User
from projects.records.audit import record_change


def begin_customer_export(
    project: Project, persona_id: UUID, *, authorize: Callable[[], object], by: User | None, actor: str = ""
) -> CustomerExport:
    """An export of everything about a customer. Runs in the tenant's transaction, which records it.

    `authorize` is called again and again while the export is sent. Raises Http404 for an unknown customer.
    """
    found = find_persona(project.pk, persona_id)
    if found is None:
        raise Http404
    organization_id = cast(UUID, project.organization_id)
    record_change(
        AuditAction.CUSTOMER_EXPORTED,
        organization_id=organization_id,
        by=by,
        actor=actor,
        subject="a customer",
        project=project,
        after={"customer": str(found.pk)},
    )
    return CustomerExport(organization_id, project.pk, found.pk, authorize)
