"""The member's notices in a project: the list behind the bell, its count, and what the browser shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from console.access import enter, zone_of
from console.layout import shell_context
from console.parameters import parse_uuid
from console.timestamps import Timestamp, format_timestamp
from notices.links import path_of
from notices.models import Notice, NoticeKind
from notices.services import claim_for_browser, in_bell, mark_read, unread_count
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx

MOST_LISTED = 50
# Tone and icon of each kind.
LOOKS: Mapping[str, tuple[str, str]] = {
    NoticeKind.WAITS: ("warn", "message-user"),
    NoticeKind.ASSIGNED: ("act", "user"),
    NoticeKind.MENTIONED: ("act", "note"),
    NoticeKind.TO_REVIEW: ("warn", "hourglass"),
    NoticeKind.TODO_FAILED: ("bad", "alert-triangle"),
    NoticeKind.UNKNOWN: ("warn", "help-circle"),
    NoticeKind.BROKEN: ("bad", "writing-sign"),
    NoticeKind.RATED_BADLY: ("bad", "star"),
    NoticeKind.LIMIT: ("warn", "alert-circle"),
    NoticeKind.RECONNECT: ("bad", "plug-connected"),
}


@dataclass(frozen=True)
class Row:
    """A notice in the list."""

    id: UUID
    title: str
    text: str
    tone: str
    icon: str
    is_unread: bool
    at: Timestamp


@never_cache
@login_required
@require_safe
def notices(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The newest notices."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        newest = list(in_bell(entry.member, entry.project.pk).order_by("-created_at", "-id")[:MOST_LISTED])
    rows = [_row(one, zone=zone_of(entry)) for one in newest]
    return render(request, "notices/notices.html", {**shell_context(request, entry), "rows": rows})


@login_required
@require_POST
def read(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Mark one notice as read and go to its page, or mark all as read."""
    entry = enter(request, project_slug, verb=Scope.READ)
    return redirect(_read(entry, request.POST.get("notice", "")))


@never_cache
@login_required
@require_safe
def news(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The number of unread notices, polled by the bell."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        return JsonResponse({"unread": unread_count(entry.member, entry.project.pk)})


@never_cache
@login_required
@require_POST
def browser(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The notices for the browser to show, each given out once."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        due = claim_for_browser(entry.member, entry.project.pk)
    shown = [{"id": str(one.pk), "title": _title(one), "text": one.text, "url": path_of(one)} for one in due]
    return JsonResponse({"notices": shown})


def _read(entry: Entry, wanted: str) -> str:
    """Mark the notice, or all without one, as read. Returns the page to go to. Raises Http404."""
    with tenant_tx(entry.project.organization.pk):
        if not wanted:
            mark_read(entry.member, entry.project.pk)
            return reverse("notices", args=[entry.project.slug])
        rows = in_bell(entry.member, entry.project.pk).select_related("project")
        notice_id = parse_uuid(wanted)
        found = rows.filter(pk=notice_id).first() if notice_id else None
        if found is None:
            raise Http404
        mark_read(entry.member, entry.project.pk, [found.pk])
        return path_of(found)


def _row(notice: Notice, *, zone: str) -> Row:
    tone, icon = LOOKS[notice.kind]
    return Row(
        id=notice.pk,
        title=_title(notice),
        text=notice.text,
        tone=tone,
        icon=icon,
        is_unread=notice.read_at is None,
        at=format_timestamp(notice.created_at, zone=zone),
    )


def _title(notice: Notice) -> str:
    return str(NoticeKind(notice.kind).label)
