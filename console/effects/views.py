"""Views for the list of effects and for one effect."""

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
from django.views.decorators.http import require_http_methods, require_safe

from console.access import enter, zone_of
from console.effects.detail import detail_context
from console.effects.errors import error_for_people
from console.effects.labels import WAITING_FOR_DELIVERY, StateLabel, state_label, title_of
from console.effects.unknown_outcomes import open_questions, questions_for
from console.layout import shell_context
from console.parameters import parse_choice, parse_uuid, return_url
from console.timestamps import Timestamp, format_timestamp
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from conversations.tool_runs.effects.resolution import release, resolve
from jobs.errors import WrongState
from projects.common.translation import lazy
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.postgresql.planning import planned_for_values
from tenancy.prepared_queries import PreparedValues
from tenancy.scope import tenant_tx
from todos.executor.resume import why_not_repeatable
from tools.engine.tool_words import tool_choices
from tools.models import Effect, EffectState

PAGE = 40
UNNAMED = lazy("Unnamed customer")
# Tabs by query parameter: label and states.
TABS: Mapping[str, tuple[str, tuple[EffectState, ...]]] = {
    "": (lazy("All"), tuple(EffectState)),
    "unknown": (lazy("Unknown"), (EffectState.UNKNOWN,)),
    "held": (lazy("Held back"), (EffectState.HELD,)),
    "under_way": (lazy("In progress"), (EffectState.PLANNED, EffectState.SENDING)),
    "done": (lazy("Done"), (EffectState.DONE,)),
    "failed": (lazy("Failed"), (EffectState.FAILED,)),
    "cancelled": (lazy("Canceled"), (EffectState.CANCELLED,)),
}
HOT = {"unknown", "held"}
CONFIRMATIONS = {
    "happened": lazy("Marked as done."),
    "not": lazy("Sending it again."),
    "release": lazy("Released. Running now."),
}
# The todo's run is over, so that nothing is sent again.
NOT_SENT_AGAIN = lazy("Marked as not done.")


@dataclass(frozen=True)
class ListQuery:
    """Filters from the query string; an empty value means no filter."""

    tab: str
    tool: str
    before: UUID | None

    def address(self, **changes: Any) -> str:
        """Query string with changes applied; empty values are left out."""
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
    """An effect in the list."""

    id: UUID
    title: str
    state: StateLabel
    quote: str
    tool: str
    customer: str
    error: str
    at: Timestamp


@login_required
@require_safe
def effects(request: HttpRequest, project_slug: str) -> HttpResponse:
    """All effects, newest first."""
    entry = enter(request, project_slug, verb=Scope.READ, is_developer=True)
    query = parse_query(request.GET)
    with tenant_tx(entry.project.organization.pk):
        shown = _shown(entry.project, query, zone=zone_of(entry))
    return render(request, "effects/effects.html", {**shell_context(request, entry), **shown})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def effect(request: HttpRequest, project_slug: str, effect_id: UUID) -> HttpResponse:
    """One effect in detail. POST resolves an unknown outcome or releases a held effect."""
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
                **detail_context(row, zone=zone_of(entry)),
                "questions": questions_for([row], zone=zone_of(entry)) if is_unknown else [],
                "questions_count": 1 if is_unknown else 0,
                "not_again": why_not_repeatable([row.pk]).get(row.pk, ""),
            }
    if is_post:
        return redirect(return_url(request) or request.path)
    return render(request, "effects/effect.html", {**shell_context(request, entry), **shown})


def _answer(request: HttpRequest, entry: Entry, row: Effect) -> None:
    answer, who = request.POST.get("answer", ""), entry.member.pk
    if answer not in CONFIRMATIONS:
        raise Http404
    is_over = row.pk in why_not_repeatable([row.pk])
    try:
        if answer == "release":
            release(entry.project, row.pk, by=who)
        else:
            resolve(entry.project, row.pk, happened=answer == "happened", by=who)
        messages.success(request, NOT_SENT_AGAIN if answer == "not" and is_over else CONFIRMATIONS[answer])
    except WrongState as error:
        messages.error(request, str(error))


def _shown(project: Project, query: ListQuery, *, zone: str) -> dict[str, Any]:
    rows, numbers = Effect.objects.filter(project_id=project.pk), dict(_NUMBERS(project.pk))
    with planned_for_values():
        found = list(narrowed(rows, query).order_by("-created_at", "-id")[: PAGE + 1])
    return {
        "query": query,
        "tabs": _tabs(query, numbers),
        "tools": tool_choices(tool for (tool,) in _TOOLS(project.pk)),
        "rows": _rows(found[:PAGE], zone=zone),
        "next": query.address(before=found[PAGE - 1].pk) if len(found) > PAGE else "",
        "is_first": query.before is None,
        "has_any": bool(numbers),
        **open_questions(project, zone=zone),
    }


_NUMBERS = PreparedValues(
    lambda project: (
        Effect.objects.filter(project_id=project).order_by().values_list("state").annotate(count=Count("pk"))
    ),
    kinds=(UUID,),
)
_TOOLS = PreparedValues(
    lambda project: Effect.objects.filter(project_id=project).order_by("tool").values_list("tool").distinct(),
    kinds=(UUID,),
)


def parse_query(parameters: QueryDict) -> ListQuery:
    return ListQuery(
        tab=parse_choice(parameters, "state", TABS),
        tool=parameters.get("tool", "").replace("\x00", "")[:120],
        before=parse_uuid(parameters.get("before", "")),
    )


def narrowed(rows: QuerySet[Effect], query: ListQuery) -> QuerySet[Effect]:
    """The effects that the filters select, on from `before`."""
    rows = rows.filter(state__in=TABS[query.tab][1]) if query.tab else rows
    rows = rows.filter(tool=query.tool) if query.tool else rows
    return rows.filter(pk__lt=query.before) if query.before else rows


def _tabs(query: ListQuery, numbers: Mapping[str, int]) -> list[Tab]:
    return [
        Tab(
            label,
            count := sum(numbers.get(state, 0) for state in states),
            query.address(state=name),
            is_open=name == query.tab,
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
            state=state_label(row),
            quote=row.quote.strip(),
            tool=row.tool,
            customer=names.get(personas[row.conversation_id], UNNAMED) if row.conversation_id in personas else "",
            error=str(WAITING_FOR_DELIVERY) if row.awaits_receipt else error_for_people(row.error),
            at=format_timestamp(row.created_at, zone=zone),
        )
        for row in found
    ]
