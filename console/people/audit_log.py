"""The audit log: changes to members, sign-in methods, keys, integrations and articles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.layout import shell_context
from console.timestamps import Timestamp, format_timestamp
from projects.models import AuditEntry, User
from projects.models.key import Scope
from projects.models.permissions import enter_project
from tenancy.scope import tenant_tx

SHOWN = 50
ICONS = {
    "invitation": "mail",
    "member": "user",
    "factor": "fingerprint",
    "key": "key",
    "integration": "plug-connected",
    "article": "book-2",
    "widget": "message-bolt",
}


@dataclass(frozen=True)
class Change:
    """One changed value; empty where there was none before or is none after."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class EntryRow:
    id: str
    icon: str
    by: str
    did: str
    subject: str
    project: str
    changes: list[Change]
    at: Timestamp


@login_required
@require_safe
def trail(request: HttpRequest, project_slug: str) -> HttpResponse:
    """List the organization's newest entries; `before` is an entry id and pages back."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    with tenant_tx(entry.project.organization.pk):
        found = [_row(one) for one in _entries(request.GET.get("before", ""))]
    shown = found[:SHOWN]
    older = shown[-1].id if len(found) > SHOWN else ""
    context = {**shell_context(request, entry), "entries": shown, "older": older}
    return render(request, "people/trail.html", context)


def _entries(before: str) -> list[AuditEntry]:
    """The entries of a page, plus one to detect the next page."""
    rows = AuditEntry.objects.all()
    try:
        return list(rows.filter(pk__lt=UUID(before))[: SHOWN + 1])
    except ValueError:
        return list(rows[: SHOWN + 1])


def _row(entry: AuditEntry) -> EntryRow:
    return EntryRow(
        id=str(entry.pk),
        icon=ICONS[entry.action.partition(".")[0]],
        by=entry.actor,
        did=entry.get_action_display(),
        subject=entry.subject,
        project=entry.project_name,
        changes=list(_changes(entry.before, entry.after)),
        at=format_timestamp(entry.at),
    )


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        was, is_now = _words(before.get(name)), _words(after.get(name))
        if was != is_now:
            yield Change(name.replace("_", " ").capitalize(), was, is_now)


def _words(value: Any) -> str:
    """A value as text: lists joined by commas, None as an empty string."""
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return "" if value is None else str(value)
