"""The CSV of the audit log."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from console.csv_export import Batch, CsvList, page_by_id
from console.people.audit_labels import list_changes, subject_of
from projects.models import AuditEntry
from projects.models.key import Scope
from projects.models.permissions import Entry


def read_entries(entry: Entry, parameters: QueryDict, after: Any) -> Batch[AuditEntry]:
    """All entries of the organization."""
    return page_by_id(AuditEntry.objects.all(), after)


def _changes(row: AuditEntry) -> str:
    """One line for each changed value."""
    changes = list_changes(row.before, row.after)
    return "\n".join(f"{one.name}: {' → '.join(part for part in (one.before, one.after) if part)}" for one in changes)


AUDIT_LOG: CsvList[AuditEntry] = CsvList(
    name="audit log",
    columns={
        "Time": lambda row: row.at,
        "Who": lambda row: row.actor,
        "Action": lambda row: row.get_action_display(),
        "Subject": subject_of,
        "Project": lambda row: row.project_name,
        "Changes": _changes,
        "Entry ID": lambda row: row.pk,
    },
    read=read_entries,
    scope=Scope.CONFIGURE,
)
