"""The audit log: changes to members, sign-in methods, keys, integrations and articles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from console.layout import shell_context
from console.people.audit_labels import Change, actor_of, list_changes, subject_of
from console.timestamps import Timestamp, format_timestamp
from projects.common.translation import lazy
from projects.models import AuditAction, AuditEntry, User
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
    "customer": "users",
    "limit": "adjustments-horizontal",
    "widget": "message-bolt",
    "list": "download",
    "organization": "users",
}


# Sentences about an entry, with `%(actor)s` and `%(subject)s`. A member who changes something of their own is both.
SENTENCES: Mapping[str, str] = {
    AuditAction.INVITED: lazy("%(actor)s invited %(subject)s"),
    AuditAction.INVITED_AGAIN: lazy("%(actor)s invited %(subject)s again"),
    AuditAction.UNINVITED: lazy("%(actor)s revoked the invitation of %(subject)s"),
    AuditAction.JOINED: lazy("%(actor)s joined %(subject)s"),
    AuditAction.ADDED: lazy("%(actor)s added %(subject)s"),
    AuditAction.ROLE_CHANGED: lazy("%(actor)s changed the role of %(subject)s"),
    AuditAction.REMOVED: lazy("%(actor)s removed %(subject)s"),
    AuditAction.LEFT: lazy("%(actor)s left %(subject)s"),
    AuditAction.PASSKEY_ADDED: lazy("%(actor)s added the passkey %(subject)s"),
    AuditAction.PASSKEY_RENAMED: lazy("%(actor)s renamed the passkey %(subject)s"),
    AuditAction.PASSKEY_REMOVED: lazy("%(actor)s removed the passkey %(subject)s"),
    AuditAction.PASSKEY_COPIED: lazy("%(actor)s couldn’t sign in: the passkey %(subject)s may have been copied"),
    AuditAction.APP_ON: lazy("%(actor)s turned on the authenticator app of %(subject)s"),
    AuditAction.APP_OFF: lazy("%(actor)s turned off the authenticator app of %(subject)s"),
    AuditAction.RECOVERY_CODES: lazy("%(actor)s generated new recovery codes for %(subject)s"),
    AuditAction.FACTOR_TAKEN: lazy("%(actor)s removed a sign-in method of %(subject)s"),
    AuditAction.KEY_MADE: lazy("%(actor)s created the key %(subject)s"),
    AuditAction.KEY_CHANGED: lazy("%(actor)s changed the key %(subject)s"),
    AuditAction.KEY_REVOKED: lazy("%(actor)s revoked the key %(subject)s"),
    AuditAction.KEY_RESTORED: lazy("%(actor)s restored the key %(subject)s"),
    AuditAction.CONNECTED: lazy("%(actor)s connected %(subject)s"),
    AuditAction.CONNECTION_CHANGED: lazy("%(actor)s changed the connection of %(subject)s"),
    AuditAction.DISCONNECTED: lazy("%(actor)s disconnected %(subject)s"),
    AuditAction.ARTICLE_WRITTEN: lazy("%(actor)s wrote the article %(subject)s"),
    AuditAction.ARTICLE_CHANGED: lazy("%(actor)s changed the article %(subject)s"),
    AuditAction.ARTICLE_PUBLISHED: lazy("%(actor)s published the article %(subject)s"),
    AuditAction.ARTICLE_UNPUBLISHED: lazy("%(actor)s unpublished the article %(subject)s"),
    AuditAction.ARTICLE_DELETED: lazy("%(actor)s deleted the article %(subject)s"),
    AuditAction.ARTICLE_RESTORED: lazy("%(actor)s restored the article %(subject)s"),
    AuditAction.WIDGET_CHANGED: lazy("%(actor)s changed %(subject)s"),
    AuditAction.WIDGET_SECRET: lazy("%(actor)s created a new shopper secret for %(subject)s"),
    AuditAction.LIMIT_LIFTED: lazy("%(actor)s raised a limit for a day: %(subject)s"),
    AuditAction.CUSTOMERS_MERGED: lazy("%(actor)s merged the customer %(subject)s"),
    AuditAction.DEVELOPER_TOOLS: lazy("%(actor)s changed the developer tools of %(subject)s"),
    AuditAction.EXPORTED: lazy("%(actor)s exported %(subject)s"),
    AuditAction.CUSTOMER_EXPORTED: lazy("%(actor)s exported everything about %(subject)s"),
    AuditAction.CUSTOMER_ERASED: lazy("%(actor)s erased %(subject)s"),
    AuditAction.ORGANIZATION_EXPORTED: lazy("%(actor)s exported everything of %(subject)s"),
    AuditAction.DELETION_REQUESTED: lazy("%(actor)s requested the deletion of %(subject)s"),
    AuditAction.DELETION_CANCELLED: lazy("%(actor)s canceled the deletion of %(subject)s"),
    AuditAction.LIMIT_CHANGED: lazy("%(actor)s changed %(subject)s"),
}
OF_THEMSELVES: Mapping[str, str] = {
    AuditAction.JOINED: lazy("%(actor)s joined"),
    AuditAction.LEFT: lazy("%(actor)s left"),
    AuditAction.PASSKEY_COPIED: lazy("%(actor)s couldn’t sign in: a passkey may have been copied"),
    AuditAction.APP_ON: lazy("%(actor)s turned on an authenticator app"),
    AuditAction.APP_OFF: lazy("%(actor)s turned off an authenticator app"),
    AuditAction.RECOVERY_CODES: lazy("%(actor)s generated new recovery codes"),
}


@dataclass(frozen=True)
class EntryRow:
    id: str
    icon: str
    sentence: SafeString
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
        sentence=_sentence(entry),
        subject=entry.subject,
        project=entry.project_name,
        changes=list(list_changes(entry.before, entry.after)),
        at=format_timestamp(entry.at),
    )


def _sentence(entry: AuditEntry) -> SafeString:
    """The entry as a sentence, with the names in bold."""
    alone = OF_THEMSELVES.get(entry.action) if entry.subject == entry.actor else None
    sentence = alone or SENTENCES[entry.action]
    names = {"actor": actor_of(entry), "subject": subject_of(entry)}
    bold = {name: format_html('<b class="tb">{}</b>', text) for name, text in names.items()}
    return mark_safe(conditional_escape(str(sentence)) % bold)  # noqa: S308  # both parts are escaped
