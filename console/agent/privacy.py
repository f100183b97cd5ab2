"""The privacy page: how long records are kept, what was erased, and what is stored where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.agent.organization import organization_context
from console.agent.page import page_context, tab_url
from console.agent.stored_data import stored_tables
from console.timestamps import Timestamp, format_timestamp
from privacy.models import Erasure, ErasureState, RetentionRun
from privacy.retention.policy import DEFAULT_DAYS, FEWEST_DAYS, FOREVER, KEYS, policy_of
from projects.agents.attribute_changes import AttributeEdit, change_attributes, text_of_value
from projects.models import Project, User
from projects.models.agent_errors import SettingsRefused
from projects.models.attribute import AttributeType
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from projects.records.attributes import resolve_attributes
from tenancy.personal_data import Kept
from tenancy.scope import tenant_tx

MOST_ERASURES = 20
TITLES: Mapping[Kept, Any] = {
    Kept.TRANSCRIPTS: lazy("Conversations"),
    Kept.ARCHIVE: lazy("Archive"),
    Kept.EVENTS: lazy("Event logs"),
    Kept.PROMPTS: lazy("Prompts"),
    Kept.EFFECTS: lazy("Action contents"),
    Kept.JOBS: lazy("Finished jobs"),
}
HINTS: Mapping[Kept, Any] = {
    Kept.TRANSCRIPTS: lazy(
        "Messages, files, notes and what the agent derived from them, counted from the last activity. "
        "Customers, bookings, tickets and todos are kept, and so are conversations with open work."
    ),
    Kept.ARCHIVE: lazy(
        "Messages and event logs of conversations without activity since are compressed. They stay readable and part of"
        " exports, and are restored when the conversation continues. The search no longer finds them."
    ),
    Kept.EVENTS: lazy("Each step of a conversation, counted from its last activity. Messages are kept."),
    Kept.PROMPTS: lazy("Requests to the model and its responses. Token counts and costs are kept."),
    Kept.EFFECTS: lazy(
        "Recipients, contents and responses of messages, bookings and requests. The record that they happened is kept."
    ),
    Kept.JOBS: lazy("The jobs of each turn. Failed jobs are kept."),
}
STATES: Mapping[str, tuple[str, Any]] = {
    ErasureState.QUEUED: ("act", lazy("Queued")),
    ErasureState.RUNNING: ("act", lazy("Running")),
    ErasureState.CALENDAR: ("act", lazy("Updating the calendar")),
    ErasureState.DONE: ("ok", lazy("Done")),
    ErasureState.FAILED: ("bad", lazy("Failed")),
}


@dataclass(frozen=True)
class Period:
    """A kind of record in the form. `days` is empty if it is kept until somebody deletes it."""

    kind: str
    title: str
    hint: str
    days: str
    was: str
    fewest: int
    default: str
    error: str = ""


@dataclass(frozen=True)
class ErasureRow:
    at: Timestamp
    by: str
    tone: str
    word: str
    waits_for: str
    removed: str
    left: list[str]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def privacy_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """Show the periods and erasures; POST saves the periods."""
    is_saved = request.method == "POST"
    verb = Scope.CONFIGURE if is_saved else Scope.READ
    entry = enter_project(cast(User, request.user), project_slug, verb=verb)
    return _save(request, entry) if is_saved else _show(request, entry)


@login_required
@require_safe
def stored_page(request: HttpRequest, project_slug: str) -> HttpResponse:
    """List what is stored where, how long, and what an erasure does with it."""
    entry = enter(request, project_slug, verb=Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        tables = stored_tables(policy_of(entry.project))
    return render(request, "agent/stored.html", {**page_context(request, entry, tab="privacy"), "groups": tables})


def _save(request: HttpRequest, entry: Entry) -> HttpResponse:
    typed = {kind: request.POST.get(f"days_{kind}", "").strip()[:20] for kind in Kept}
    edits = [
        AttributeEdit(KEYS[kind], AttributeType.JSON, _as_json(typed[kind]), request.POST.get(f"was_{kind}", ""))
        for kind in Kept
        if typed[kind] != request.POST.get(f"shown_{kind}", "")
    ]
    try:
        with tenant_tx(entry.project.organization.pk):
            changed = change_attributes(entry.project, edits)
    except SettingsRefused as refusal:
        return _show(request, entry, typed=typed, errors=refusal.errors)
    messages.success(request, gettext("Saved. Takes effect tonight.") if changed else gettext("No changes."))
    return redirect(tab_url(entry.project.slug, "privacy"))


def _show(
    request: HttpRequest,
    entry: Entry,
    *,
    typed: Mapping[Kept, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> HttpResponse:
    zone = zone_of(entry)
    with tenant_tx(entry.project.organization.pk):
        context = {
            "periods": _periods(entry.project, typed=typed or {}, errors=errors or {}),
            "night": _night(entry.project, zone=zone),
            "erasures": _erasures(entry.project, zone=zone),
            **organization_context(entry),
        }
    shown = {**page_context(request, entry, tab="privacy"), **context}
    return render(request, "agent/privacy.html", shown, status=422 if errors else 200)


def _periods(project: Project, *, typed: Mapping[Kept, str], errors: Mapping[str, str]) -> list[Period]:
    attributes, policy = resolve_attributes(project), policy_of(project)
    return [
        Period(
            kind=kind.value,
            title=str(TITLES[kind]),
            hint=str(HINTS[kind]),
            days=typed.get(kind, _text(policy.days[kind])),
            was=text_of_value(attributes.get(KEYS[kind])),
            fewest=FEWEST_DAYS.get(kind, 1),
            default=_default(kind),
            error=_error(kind, errors),
        )
        for kind in Kept
    ]


def _error(kind: Kept, errors: Mapping[str, str]) -> str:
    text = errors.get(KEYS[kind], "")
    if KEYS[kind] not in text:
        return text
    fewest = FEWEST_DAYS.get(kind, 1)
    sentence = ngettext(
        "Enter {fewest} day or more, or leave it empty to keep these records.",
        "Enter {fewest} days or more, or leave it empty to keep these records.",
        fewest,
    )
    return sentence.format(fewest=fewest)


def _default(kind: Kept) -> str:
    days = DEFAULT_DAYS[kind]
    if days is None:
        return gettext("Kept unless you enter a number.")
    return gettext("{days} days unless you change it.").format(days=days)


def _text(days: int | None) -> str:
    return "" if days is None else str(days)


def _as_json(text: str) -> str:
    """The attribute's value as JSON; text that is no number is refused where it is set."""
    if not text:
        return f'"{FOREVER}"'
    return str(int(text)) if text.isascii() and text.isdigit() else json.dumps(text)


def _night(project: Project, *, zone: str) -> dict[str, Any]:
    run = RetentionRun.objects.filter(project=project).first()
    if run is None:
        return {}
    removed = [(str(TITLES[Kept(kind)]), number) for kind, number in run.removed.items() if number]
    return {
        "removed": removed,
        "ended": format_timestamp(run.finished_at, zone=zone) if run.finished_at else None,
        "is_running": run.started_at is not None and run.finished_at is None,
        "next": format_timestamp(run.due_at, zone=zone),
        "error": run.error,
    }


def _erasures(project: Project, *, zone: str) -> list[ErasureRow]:
    return [_erasure(row, zone=zone) for row in Erasure.objects.filter(project=project)[:MOST_ERASURES]]


def _erasure(row: Erasure, *, zone: str) -> ErasureRow:
    tone, word = STATES[row.state]
    number = row.removed.get("conversations", 0)
    removed = ngettext("{number} conversation", "{number} conversations", number).format(number=number)
    return ErasureRow(
        at=format_timestamp(row.created_at, zone=zone),
        by=row.requested_by,
        tone=tone,
        word=str(word),
        waits_for=row.waits_for,
        removed=removed,
        left=list(row.left),
    )
