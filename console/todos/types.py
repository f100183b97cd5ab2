"""The Todos tab of the agent's settings: todo types and standing rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.agent.form_fields import FormField, FormFields
from console.agent.page import page_context, tab_url
from console.parameters import parse_uuid
from console.timestamps import Timestamp, format_timestamp
from console.todos.form import addresses_in
from console.todos.labels import icon_of
from console.todos.plan import plain
from console.undo import announce_undoable
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import Member, Project, Role
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from todos.approvals.standing_rules import end_rule
from todos.content.plans import tool_problem
from todos.content.snapshot import compiled_tools
from todos.content.types import remove_type, save_type, types_of
from todos.models import Approval, SecondApprover, StandingRule, TodoType
from tools.engine.catalogue import CompiledTool
from tools.engine.tool_words import argument_label, summary_of, title_of_tool

TAB = "todos"
APPROVERS = (
    (Role.OPERATOR, lazy("Operators and above")),
    (Role.ADMIN, lazy("Admins and owners")),
    (Role.OWNER, lazy("Owners only")),
)
TEXTS = ("name", "description", "model", "recipients", "limit_argument", "limit_value", "expires_after_hours")
NEW: Mapping[str, Any] = {
    "name": "",
    "description": "",
    "model": "",
    "recipients": "",
    "limit_argument": "",
    "limit_value": "",
    "expires_after_hours": "168",
    "tools": [],
    "approver_role": Role.OPERATOR.value,
    "second_approver": SecondApprover.NEVER.value,
    "is_extracted": True,
}


@dataclass(frozen=True)
class Choice:
    """A tool offered in the type form. `problem` explains why it can't run now."""

    name: str
    title: str
    icon: str
    what: str
    problem: str
    is_chosen: bool


@dataclass(frozen=True)
class Card:
    """The form of one type; `type` is None for a new one."""

    type: TodoType | None
    values: Mapping[str, Any]
    boxes: Mapping[str, FormField]
    tools: list[Choice]
    problems: list[str]
    is_open: bool

    @property
    def chosen(self) -> list[Choice]:
        return [choice for choice in self.tools if choice.is_chosen]


@dataclass(frozen=True)
class RuleSummary:
    """A standing rule for display."""

    id: UUID
    tool: str
    title: str
    limits: list[tuple[str, str]]
    type: str
    most_per_day: int
    used: int
    by: str
    at: Timestamp


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def types(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """Todo types and standing rules. POST saves or removes a type, or ends a rule."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.CONFIGURE if is_post else Scope.READ)
    if not is_post:
        return _show(request, entry)
    action, wanted = request.POST.get("do", ""), parse_uuid(request.POST.get("id", ""))
    try:
        with tenant_tx(entry.project.organization.pk):
            words = _change(entry, action, wanted, request.POST)
    except ApiError as error:
        return _show(request, entry, refused=error, wanted=wanted)
    if action == "remove":
        announce_undoable(request, entry, words, kind="todo_type", type=str(wanted))
    else:
        messages.success(request, words)
    return redirect(tab_url(project_slug, TAB))


def _change(entry: Entry, action: str, wanted: UUID | None, posted: QueryDict) -> str:
    is_new = action == "save" and not {"id", "saved_at"} & posted.keys()
    if wanted is None and not is_new:
        raise Http404
    if action == "save":
        saved = save_type(entry.project, _fields(posted), type_id=wanted, started_from=posted.get("saved_at"))
        return gettext("%(name)s saved. Approvals it affects have to be given again.") % {"name": saved.name}
    if wanted is None or action not in ("remove", "end"):
        raise Http404
    if action == "remove":
        remove_type(entry.project, wanted)
        return gettext("Type removed. Its todos need another type before they can be approved.")
    end_rule(entry.project, wanted, by=entry.member.pk)
    return gettext("Rule ended. Todos it approved that haven’t started need review.")


def _fields(posted: QueryDict) -> dict[str, Any]:
    """The submitted values, converted for `save_type`."""
    values = _values(posted)
    return {
        **values,
        "recipients": addresses_in(values["recipients"]),
        "limit_value": _decimal(values["limit_value"]),
        "expires_after_hours": _number(values["expires_after_hours"]),
    }


def _values(posted: QueryDict) -> dict[str, Any]:
    texts = {name: posted.get(name, "").replace("\r\n", "\n").strip() for name in TEXTS}
    return {
        **texts,
        "tools": posted.getlist("tools"),
        "approver_role": posted.get("approver_role", ""),
        "second_approver": posted.get("second_approver", ""),
        "is_extracted": posted.get("is_extracted") == "yes",
    }


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _decimal(text: str) -> Decimal | str | None:
    """A number with a decimal comma or point. Invalid text is returned as it is, for the service to reject."""
    try:
        return Decimal(text.replace(",", ".")) if text else None
    except InvalidOperation:
        return text


def _show(
    request: HttpRequest, entry: Entry, *, refused: ApiError | None = None, wanted: UUID | None = None
) -> HttpResponse:
    context = page_context(request, entry, tab=TAB)
    with tenant_tx(entry.project.organization.pk):
        tools = compiled_tools(entry.project)
        kept: list[TodoType | None] = [*types_of(entry.project), None]
        context["cards"] = [
            _card(kind, tools, request.POST if is_refused else None, refused if is_refused else None)
            for kind in kept
            for is_refused in [refused is not None and (kind.pk if kind else None) == wanted]
        ]
        context["rules"] = _rules(entry.project, zone=zone_of(entry))
    context["approvers"] = APPROVERS
    context["seconds"] = SecondApprover.choices
    return render(request, "todos/types.html", context, status=422 if refused else 200)


def _card(
    kind: TodoType | None, tools: Mapping[str, CompiledTool], posted: QueryDict | None, refused: ApiError | None
) -> Card:
    values = _values(posted) if posted is not None else _kept(kind) if kind else NEW
    boxes = FormFields({refused.field: refused.message} if refused and refused.field else {})
    made = {name: boxes.field(name, values[name]) for name in (*TEXTS, "tools", "approver_role", "second_approver")}
    unplaced = [refused.message] if refused and not refused.field else []
    return Card(
        type=kind,
        values=values,
        boxes={name: FormField(f"{name}", box.value, box.error) for name, box in made.items()},
        tools=_choices(tools, values["tools"]),
        problems=[*unplaced, *boxes.unplaced().values()],
        is_open=refused is not None,
    )


def _kept(kind: TodoType) -> dict[str, Any]:
    limit = kind.limit_value
    return {
        **{name: getattr(kind, name) for name in NEW},
        "recipients": "\n".join(kind.recipients),
        "limit_value": "" if limit is None else f"{limit.normalize():f}",
        "expires_after_hours": str(kind.expires_after_hours),
    }


def _choices(tools: Mapping[str, CompiledTool], chosen: list[str]) -> list[Choice]:
    """Tools that can be selected, plus selected ones that can no longer run."""
    known = {name: tool_problem(tool, name) for name, tool in tools.items()}
    gone = {name: tool_problem(None, name) for name in chosen if name not in known}
    return [
        Choice(
            name=name,
            title=title_of_tool(name),
            icon=icon_of(tools[name].kind) if name in tools else "tool",
            what=summary_of(tools[name]) if name in tools else "",
            problem=problem,
            is_chosen=name in chosen,
        )
        for name, problem in (known | gone).items()
        if not problem or name in chosen
    ]


def _rules(project: Project, *, zone: str) -> list[RuleSummary]:
    rules = list(StandingRule.objects.filter(project=project, ended_at=None).select_related("type"))
    people = Member.objects.filter(pk__in={rule.created_by for rule in rules}).select_related("user")
    names = {member.pk: member.user.name for member in people}
    return [
        RuleSummary(
            id=rule.pk,
            tool=rule.tool,
            title=title_of_tool(rule.tool),
            limits=[(argument_label(name), _limit(limit)) for name, limit in rule.allowed.items()],
            type=rule.type.name if rule.type else "",
            most_per_day=rule.most_per_day,
            used=Approval.objects.filter(rule=rule).count(),
            by=names.get(rule.created_by, gettext("an API key")),
            at=format_timestamp(rule.created_at, zone=zone),
        )
        for rule in rules
    ]


def _limit(limit: Mapping[str, Any]) -> str:
    """A rule's limit on one argument, as a phrase."""
    [(kind, bound)] = limit.items()
    if kind == "anything":
        return gettext("anything")
    if kind == "at_most":
        return gettext("at most %(bound)s") % {"bound": bound}
    if kind == "one_of":
        return gettext("one of %(values)s") % {"values": ", ".join(f"“{plain(one)}”" for one in bound)}
    return gettext("exactly “%(value)s”") % {"value": plain(bound)}
