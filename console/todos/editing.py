"""The forms to create and edit a todo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.access import enter
from console.agent.form_fields import FormFields
from console.layout import shell_context
from console.parameters import parse_uuid
from console.todos.actions import actor_of
from console.todos.contact_form import ContactField, contact_fields, save_contact
from console.todos.contacts import UNNAMED
from console.todos.form import (
    Problem,
    TodoForm,
    argument_fields,
    find_conversation,
    find_persona,
    find_type,
    parse_arguments,
    parse_form,
    problem_of,
    require_description,
    stored_form,
)
from console.todos.labels import with_tool_titles
from conversations.common.customer_names import customer_names
from conversations.models import Persona
from projects.common.api_error import ApiError
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from todos.content.planned_effect import why_fixed
from todos.content.plans import tool_problem
from todos.content.snapshot import compiled_tools
from todos.models import Todo, TodoSource, TodoStatus, TodoType
from todos.services import TodoChanged, edit_todo, get_todo, make_todo
from tools.engine.catalogue import CompiledTool
from tools.engine.tool_words import title_of_tool

# Customers offered for selection, newest first.
MOST_CUSTOMERS = 100
EDITABLE = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_todo(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Create a todo by hand. It needs approval like any other."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    form = parse_form(request.POST or request.GET)
    problem = None
    if request.method == "POST" and "choose" not in request.POST:
        made, problem = _create(entry, form)
        if made is not None:
            messages.success(request, gettext("Todo created. It needs approval before anything happens."))
            return redirect("todo", project_slug=project_slug, todo_id=made.pk)
    return _render(request, entry, form, problem)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, project_slug: str, todo_id: UUID) -> HttpResponse:
    """Edit a todo that hasn't started. The new version needs approval again."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    with tenant_tx(entry.project.organization.pk):
        todo = get_todo(entry.project, todo_id)
    if request.method != "POST":
        return _render(request, entry, stored_form(todo), None, todo=todo)
    form, problem = parse_form(request.POST), None
    if "persona" not in request.POST:
        form = replace(form, persona=str(todo.persona_id or ""))
    if "choose" not in request.POST:
        problem = _change(entry, todo, form, version=request.POST.get("version", ""))
        if problem is None:
            return redirect("todo", project_slug=project_slug, todo_id=todo_id)
        with tenant_tx(entry.project.organization.pk):
            todo = get_todo(entry.project, todo_id)
    return _render(request, entry, form, problem, todo=todo)


def _create(entry: Entry, form: TodoForm) -> tuple[Todo | None, Problem | None]:
    try:
        with tenant_tx(entry.project.organization.pk):
            conversation = find_conversation(entry.project, form)
            persona = conversation.persona_id if conversation else find_persona(entry.project, form)
            made = make_todo(
                entry.project,
                description=require_description(form),
                source=TodoSource.PERSON,
                actor=actor_of(entry),
                type=find_type(entry.project, form),
                conversation_id=conversation.pk if conversation else None,
                persona_id=persona,
                tool=form.tool,
                arguments=parse_arguments(entry.project, form),
                recipients=form.addresses,
            )
    except ApiError as error:
        return None, problem_of(error)
    return made, None


def _change(entry: Entry, todo: Todo, form: TodoForm, *, version: str) -> Problem | None:
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise Http404
    try:
        with tenant_tx(entry.project.organization.pk):
            changes: dict[str, Any] = {
                "description": require_description(form),
                "type": find_type(entry.project, form),
                "recipients": form.addresses,
            }
            if (form.tool or todo.tool) and not _why_fixed(todo):
                changes |= {"tool": form.tool, "arguments": parse_arguments(entry.project, form)}
            if todo.conversation_id is None:
                changes["persona_id"] = find_persona(entry.project, form)
            # The submitted contact details belong to the customer shown in the form, so skip them if the customer changed.
            is_same = changes.get("persona_id", todo.persona_id) == todo.persona_id
            is_reached = is_same and save_contact(entry.project, todo.persona_id, form.contact)
            edit_todo(todo.pk, changes, actor=actor_of(entry), version=int(version), is_contact_changed=is_reached)
    except TodoChanged as error:
        return Problem(
            gettext("Someone else edited this todo. Save again to overwrite their changes."), "", error.changes
        )
    except ApiError as error:
        return problem_of(error)
    except PermissionDenied as error:
        return Problem(str(error))
    return None


def _render(
    request: HttpRequest, entry: Entry, form: TodoForm, problem: Problem | None, *, todo: Todo | None = None
) -> HttpResponse:
    boxes = FormFields({problem.field: problem.message} if problem and problem.field else {})
    with tenant_tx(entry.project.organization.pk):
        tools = compiled_tools(entry.project)
        shown: dict[str, Any] = {
            "todo": todo,
            "status": TodoStatus(todo.status).sentence if todo else "",
            "is_editable": todo is None or todo.status in EDITABLE,
            "form": form,
            "description": boxes.field("description", form.description),
            "recipients": boxes.field("recipients", form.recipients),
            "type_box": boxes.field("type", form.type),
            "tool_box": boxes.field("tool", form.tool),
            "types": list(TodoType.objects.filter(project=entry.project, is_removed=False)),
            "tools": [(name, title_of_tool(name)) for name, tool in tools.items() if not tool_problem(tool, name)],
            "tool_is_fixed": todo is not None and todo.effect_id is not None,
            "why_fixed": _why_fixed(todo) if todo else "",
            "arguments": argument_fields(tools.get(form.tool), form, boxes) if form.tool else [],
            "contact_fields": _contact_fields(todo, tools, form, boxes) if todo else [],
            "customers": [] if form.conversation or (todo and todo.conversation_id) else _customers(entry, todo),
            "conversation": find_conversation(entry.project, form) if form.conversation else None,
        }
    shown["homeless"] = boxes.unplaced() or ({"": problem.message} if problem and not problem.field else {})
    shown["changes"] = problem.changes if problem else ()
    status = 422 if problem else 200
    return render(request, "todos/form.html", {**shell_context(request, entry), **shown}, status=status)


def _contact_fields(
    todo: Todo, tools: Mapping[str, CompiledTool], form: TodoForm, boxes: FormFields
) -> list[ContactField]:
    """Contact fields that the selected tools need."""
    wanted = parse_uuid(form.type)
    kind = TodoType.objects.filter(project=todo.project, pk=wanted).first() if wanted else None
    names = [form.tool] if form.tool else list(kind.tools) if kind else []
    persona = todo.persona_id if todo.conversation_id else parse_uuid(form.persona)
    return contact_fields(persona, [tools[name] for name in names if name in tools], form.contact, boxes)


def _why_fixed(todo: Todo) -> str:
    """Why the arguments of a planned effect can't be changed; empty if they can."""
    return with_tool_titles(why_fixed(todo.effect), [todo.effect.tool]) if todo.effect else ""


def _customers(entry: Entry, todo: Todo | None) -> list[tuple[UUID, str]]:
    """The newest identifiable customers, plus the todo's own."""
    newest = Persona.objects.filter(project=entry.project).order_by("-id").values_list("pk", flat=True)[:MOST_CUSTOMERS]
    mine = [todo.persona_id] if todo and todo.persona_id else []
    known = {**dict.fromkeys(mine, UNNAMED), **customer_names([*newest, *mine])}
    return sorted(known.items(), key=lambda item: item[1].casefold())
