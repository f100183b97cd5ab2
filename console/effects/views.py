"""Effects: everything that tools did, what is not certain of it, and one of them in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.effects.detail import inside_of
from console.effects.labels import StateLabel, standing_of, title_of
from console.effects.unknown_outcomes import ask, questions_of
from console.layout import shell_context
from console.search import customer_names
from console.timestamps import Moment, moment_of
from conversations.models import Conversation
from conversations.tool_runs.effects.resolution import release, resolve
from jobs.errors import WrongState
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from todos.executor.resume import why_not_again
from tools.models import Effect, EffectState

PAGE = 40
UNNAMED = "Unnamed customer"
# Tabs by the address's word: the states that each holds.
TABS: Mapping[str, tuple[str, tuple[EffectState, ...]]] = {
    "": ("All", tuple(EffectState)),
    "unknown": ("Unknown", (EffectState.UNKNOWN,)),
    "held": ("Held back", (EffectState.HELD,)),
    "under_way": ("Under way", (EffectState.PLANNED, EffectState.SENDING)),
    "done": ("Done", (EffectState.DONE,)),
    "failed": ("Failed", (EffectState.FAILED,)),
    "cancelled": ("Cancelled", (EffectState.CANCELLED,)),
}
HOT = {"unknown", "held"}
ANSWERED = {
    "happened": "It counts as done.",
    "not": "It is sent again now.",
    "release": "It is released, and runs now.",
}
# Of what is not sent again by itself, because its todo's run is over
NOT_SENT_AGAIN = "It counts as not done."


@dataclass(frozen=True)
class ListQuery:
    """What the address asks for; empty means anything."""

    tab: str
    tool: str
    before: UUID | None

    def address(self, **changes: Any) -> str:
        """The query of this list with changes; an empty value leaves a parameter out."""
        known = {"state": self.tab, "tool": self.tool}
        return "?" + urlencode({name: value for name, value in (known | changes).items() if value})


@dataclass(frozen=True)
class Tab:
    label: str
    count: int
    address: str
    is_open: bool
    is_hot: bool


@dataclass(frozen=True)
class Row:
    """One effect as the list shows it."""

    id: UUID
    title: str
    standing: StateLabel
    quote: str
    tool: str
    customer: str
    error: str
    at: Moment


@login_required
@require_safe
def effects(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The ledger, newest first."""
    entry = enter(request, project_slug, verb=Scope.READ)
    asked = _asked(request.GET)
    with tenant_tx(entry.project.organization.pk):
        shown = _shown(entry.project, asked, zone=zone_of(entry))
    return render(request, "effects/effects.html", {**shell_context(request, entry), **shown})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def effect(request: HttpRequest, project_slug: str, effect_id: UUID) -> HttpResponse:
    """One effect with all that is known of it; POST answers its question, or releases it."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        row = Effect.objects.filter(project_id=entry.project.pk, pk=effect_id).first()
        if row is None:
            raise Http404
        if is_post:
            _answer(request, entry, row)
        else:
            is_unknown = row.state == EffectState.UNKNOWN
            shown = {
                **inside_of(row, zone=zone_of(entry)),
                "questions": ask([row], zone=zone_of(entry)) if is_unknown else [],
                "questions_count": 1 if is_unknown else 0,
                "not_again": why_not_again([row.pk]).get(row.pk, ""),
            }
    if is_post:
        return redirect(_way_back(request) or request.path)
    return render(request, "effects/effect.html", {**shell_context(request, entry), **shown})


def _answer(request: HttpRequest, entry: Entry, row: Effect) -> None:
    answer, who = request.POST.get("answer", ""), entry.member.pk
    if answer not in ANSWERED:
        raise Http404
    is_over = row.pk in why_not_again([row.pk])
    try:
        if answer == "release":
            release(entry.project, row.pk, by=who)
        else:
            resolve(entry.project, row.pk, happened=answer == "happened", by=who)
        messages.success(request, NOT_SENT_AGAIN if answer == "not" and is_over else ANSWERED[answer])
    except WrongState as error:
        messages.warning(request, str(error))


def _way_back(request: HttpRequest) -> str:
    """The page of this site that the answer was given on, if it says so."""
    address = request.POST.get("back", "")
    return address if url_has_allowed_host_and_scheme(address, allowed_hosts=None) else ""


def _shown(project: Project, asked: ListQuery, *, zone: str) -> dict[str, Any]:
    rows = Effect.objects.filter(project_id=project.pk)
    numbers = {row["state"]: row["count"] for row in rows.order_by().values("state").annotate(count=Count("pk"))}
    found = list(_narrowed(rows, asked).order_by("-created_at", "-id")[: PAGE + 1])
    return {
        "asked": asked,
        "tabs": _tabs(asked, numbers),
        "tools": list(rows.order_by("tool").values_list("tool", flat=True).distinct()),
        "rows": _rows(found[:PAGE], zone=zone),
        "next": asked.address(before=found[PAGE - 1].pk) if len(found) > PAGE else "",
        "is_first": asked.before is None,
        "has_any": bool(numbers),
        **questions_of(project, zone=zone),
    }


def _asked(query: QueryDict) -> ListQuery:
    tab = query.get("state", "")
    return ListQuery(
        tab=tab if tab in TABS else "",
        tool=query.get("tool", "").replace("\x00", "")[:120],
        before=_uuid(query.get("before", "")),
    )


def _narrowed(rows: QuerySet[Effect], asked: ListQuery) -> QuerySet[Effect]:
    rows = rows.filter(state__in=TABS[asked.tab][1]) if asked.tab else rows
    rows = rows.filter(tool=asked.tool) if asked.tool else rows
    return rows.filter(pk__lt=asked.before) if asked.before else rows


def _tabs(asked: ListQuery, numbers: Mapping[str, int]) -> list[Tab]:
    return [
        Tab(
            label,
            count := sum(numbers.get(state, 0) for state in states),
            asked.address(state=name),
            is_open=name == asked.tab,
            is_hot=name in HOT and count > 0,
        )
        for name, (label, states) in TABS.items()
    ]


def _rows(found: list[Effect], *, zone: str) -> list[Row]:
    wanted = {row.conversation_id for row in found if row.conversation_id}
    personas = dict(Conversation.objects.filter(pk__in=wanted).values_list("pk", "persona_id"))
    names = customer_names(set(personas.values()))
    return [
        Row(
            id=row.pk,
            title=title_of(row),
            standing=standing_of(row),
            quote=row.quote.strip(),
            tool=row.tool,
            customer=names.get(personas[row.conversation_id], UNNAMED) if row.conversation_id in personas else "",
            error=row.error,
            at=moment_of(row.created_at, zone=zone),
        )
        for row in found
    ]


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
