"""Making a todo by hand, and changing one: its words, its type, its tool with what it is given, and whom it may write to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from console.access import enter
from console.agent.form_fields import FormField, FormFields
from console.layout import shell_context
from console.search import customer_names
from console.todos.actions import actor_of
from console.todos.arguments import properties_of
from console.todos.contact_form import CONTACT, Reach, give_contact, reaches_of
from console.todos.contacts import UNNAMED
from console.todos.labels import in_titles, title_of_tool
from console.todos.listing import uuid_of
from conversations.models import Conversation, Persona
from projects.common.api_error import ApiError
from projects.common.differences import Change, label_of
from projects.models import Project
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx
from todos.content.planned_effect import why_fixed
from todos.content.plans import LONGEST_DESCRIPTION, tool_problem
from todos.content.snapshot import compiled_tools
from todos.models import Todo, TodoSource, TodoStatus, TodoType
from todos.services import Changed, edit_todo, get_todo, make_todo
from tools.engine.catalogue import CompiledTool

# Customers to choose from, the newest first.
MOST_CUSTOMERS = 100
ARGUMENT = "arguments."
EDITABLE = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED)


@dataclass(frozen=True)
class Argument:
    """One argument of a tool. What is no text is written as JSON."""

    box: FormField
    label: str
    hint: str
    is_text: bool


@dataclass(frozen=True)
class Typed:
    """What stands in the form: as it is kept, or as it was typed."""

    description: str
    type: str
    tool: str
    recipients: str
    persona: str
    conversation: str
    arguments: Mapping[str, str]
    contact: Mapping[str, str]

    @property
    def addresses(self) -> list[str]:
        return addresses_in(self.recipients)


@dataclass(frozen=True)
class Problem:
    """Why nothing was saved: beside a field, or at the top; and what somebody else changed meanwhile."""

    message: str
    field: str = ""
    changes: Sequence[Change] = ()


def addresses_in(text: str) -> list[str]:
    """The addresses that were typed, one on each line or with commas between."""
    return [address for line in text.replace(",", "\n").splitlines() if (address := line.strip())]


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_todo(request: HttpRequest, project_slug: str) -> HttpResponse:
    """A todo that a person makes. It waits for a yes like any other."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    typed = _typed(request.POST or request.GET)
    problem = None
    if request.method == "POST" and "choose" not in request.POST:
        made, problem = _make(entry, typed)
        if made is not None:
            messages.success(request, "Made. Nothing happens until it is approved.")
            return redirect("todo", project_slug=project_slug, todo_id=made.pk)
    return _show(request, entry, typed, problem)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, project_slug: str, todo_id: UUID) -> HttpResponse:
    """A todo that isn't begun, to be changed. It is reviewed again as a new version."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    with tenant_tx(entry.project.organization.pk):
        todo = get_todo(entry.project, todo_id)
    if request.method != "POST":
        return _show(request, entry, _kept(todo), None, todo=todo)
    typed, problem = _typed(request.POST), None
    if "persona" not in request.POST:
        typed = replace(typed, persona=str(todo.persona_id or ""))
    if "choose" not in request.POST:
        problem = _change(entry, todo, typed, version=request.POST.get("version", ""))
        if problem is None:
            return redirect("todo", project_slug=project_slug, todo_id=todo_id)
        with tenant_tx(entry.project.organization.pk):
            todo = get_todo(entry.project, todo_id)
    return _show(request, entry, typed, problem, todo=todo)


def _make(entry: Entry, typed: Typed) -> tuple[Todo | None, Problem | None]:
    try:
        with tenant_tx(entry.project.organization.pk):
            conversation = _conversation(entry.project, typed)
            persona = conversation.persona_id if conversation else _persona(entry.project, typed)
            made = make_todo(
                entry.project,
                description=_description(typed),
                source=TodoSource.PERSON,
                actor=actor_of(entry),
                type=_type(entry.project, typed),
                conversation_id=conversation.pk if conversation else None,
                persona_id=persona,
                tool=typed.tool,
                arguments=_arguments(entry.project, typed),
                recipients=typed.addresses,
            )
    except ApiError as error:
        return None, Problem(error.message, error.field or "")
    return made, None


def _change(entry: Entry, todo: Todo, typed: Typed, *, version: str) -> Problem | None:
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise Http404
    try:
        with tenant_tx(entry.project.organization.pk):
            changes: dict[str, Any] = {
                "description": _description(typed),
                "type": _type(entry.project, typed),
                "recipients": typed.addresses,
            }
            if (typed.tool or todo.tool) and not _why_fixed(todo):
                changes |= {"tool": typed.tool, "arguments": _arguments(entry.project, typed)}
            if todo.conversation_id is None:
                changes["persona_id"] = _persona(entry.project, typed)
            # What stands in the form is of the customer that the todo was about.
            is_same = changes.get("persona_id", todo.persona_id) == todo.persona_id
            is_reached = is_same and give_contact(entry.project, todo.persona_id, typed.contact)
            edit_todo(todo.pk, changes, actor=actor_of(entry), version=int(version), is_reached_anew=is_reached)
    except Changed as error:
        return Problem(
            "Somebody changed it while you were writing. Save again to put yours in place.", "", error.changes
        )
    except (ApiError, PermissionDenied) as error:
        return Problem(str(error), getattr(error, "field", None) or "")
    return None


def _show(
    request: HttpRequest, entry: Entry, typed: Typed, problem: Problem | None, *, todo: Todo | None = None
) -> HttpResponse:
    boxes = FormFields({problem.field: problem.message} if problem and problem.field else {})
    with tenant_tx(entry.project.organization.pk):
        tools = compiled_tools(entry.project)
        shown: dict[str, Any] = {
            "todo": todo,
            "is_editable": todo is None or todo.status in EDITABLE,
            "typed": typed,
            "description": boxes.field("description", typed.description),
            "recipients": boxes.field("recipients", typed.recipients),
            "type_box": boxes.field("type", typed.type),
            "tool_box": boxes.field("tool", typed.tool),
            "types": list(TodoType.objects.filter(project=entry.project, is_removed=False)),
            "tools": [(name, title_of_tool(name)) for name, tool in tools.items() if not tool_problem(tool, name)],
            "tool_is_fixed": todo is not None and todo.effect_id is not None,
            "why_fixed": _why_fixed(todo) if todo else "",
            "arguments": _boxes(tools.get(typed.tool), typed, boxes) if typed.tool else [],
            "reaches": _reaches(todo, tools, typed, boxes) if todo else [],
            "customers": [] if typed.conversation or (todo and todo.conversation_id) else _customers(entry, todo),
            "conversation": _conversation(entry.project, typed) if typed.conversation else None,
        }
    shown["homeless"] = boxes.unplaced() or ({"": problem.message} if problem and not problem.field else {})
    shown["changes"] = problem.changes if problem else ()
    status = 422 if problem else 200
    return render(request, "todos/form.html", {**shell_context(request, entry), **shown}, status=status)


def _typed(posted: QueryDict) -> Typed:
    names = ("description", "type", "tool", "recipients", "persona", "conversation")
    arguments, contact = (
        {name.removeprefix(prefix): _text(posted, name) for name in posted if name.startswith(prefix)}
        for prefix in (ARGUMENT, CONTACT)
    )
    return Typed(**{name: _text(posted, name) for name in names}, arguments=arguments, contact=contact)


def _text(posted: QueryDict, name: str) -> str:
    return posted.get(name, "").replace("\r\n", "\n").replace("\x00", "").strip()


def _kept(todo: Todo) -> Typed:
    return Typed(
        description=todo.description,
        type=str(todo.type_id or ""),
        tool=todo.tool,
        recipients="\n".join(todo.recipients),
        persona=str(todo.persona_id or ""),
        conversation="",
        arguments={name: _written(value) for name, value in (todo.arguments or {}).items()},
        contact={},
    )


def _reaches(todo: Todo, tools: Mapping[str, CompiledTool], typed: Typed, boxes: FormFields) -> list[Reach]:
    """Where the chosen tools reach the todo's customer."""
    wanted = uuid_of(typed.type)
    kind = TodoType.objects.filter(project=todo.project, pk=wanted).first() if wanted else None
    names = [typed.tool] if typed.tool else list(kind.tools) if kind else []
    persona = todo.persona_id if todo.conversation_id else uuid_of(typed.persona)
    return reaches_of(persona, [tools[name] for name in names if name in tools], typed.contact, boxes)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _why_fixed(todo: Todo) -> str:
    """Why the arguments of what the agent has arranged stay what they are; empty where they can be changed."""
    return in_titles(why_fixed(todo.effect), [todo.effect.tool]) if todo.effect else ""


def _boxes(tool: CompiledTool | None, typed: Typed, boxes: FormFields) -> list[Argument]:
    """What the tool takes, and what stands there although it doesn't."""
    properties = properties_of(tool) if tool else {}
    return [
        Argument(
            boxes.field(f"{ARGUMENT}{name}", typed.arguments.get(name, "")),
            label_of(name),
            str(properties.get(name, {}).get("description", "")),
            is_text=_is_text(properties.get(name)),
        )
        for name in dict.fromkeys([*properties, *typed.arguments])
    ]


def _arguments(project: Project, typed: Typed) -> dict[str, Any] | None:
    """The arguments as typed; an empty field is left out. Raises ApiError for what is no JSON."""
    if not typed.tool:
        return None
    tool = compiled_tools(project).get(typed.tool)
    properties = properties_of(tool) if tool else {}
    return {
        name: text if _is_text(properties.get(name)) else _json(name, text)
        for name, text in typed.arguments.items()
        if text
    }


def _is_text(schema: Mapping[str, Any] | None) -> bool:
    if schema is None:
        return False
    kinds = [schema, *schema.get("anyOf", [])]
    return any(kind.get("type") == "string" or "enum" in kind for kind in kinds)


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f"{ARGUMENT}{name}"
        raise ApiError("invalid_arguments", f"{where}: write a number, true, false, or JSON.", field=where) from error


def _description(typed: Typed) -> str:
    if not typed.description:
        raise ApiError("required", "Say what is to be done.", field="description")
    if len(typed.description) > LONGEST_DESCRIPTION:
        message = f"It has {len(typed.description):,} characters; the limit is {LONGEST_DESCRIPTION:,}."
        raise ApiError("too_long", message, field="description")
    return typed.description


def _type(project: Project, typed: Typed) -> TodoType | None:
    wanted = uuid_of(typed.type)
    if wanted is None:
        return None
    found = TodoType.objects.filter(project=project, pk=wanted).first()
    if found is None:
        raise ApiError("invalid_type", "This type doesn’t exist any more.", field="type")
    return found


def _conversation(project: Project, typed: Typed) -> Conversation | None:
    wanted = uuid_of(typed.conversation)
    return Conversation.objects.filter(project=project, pk=wanted).first() if wanted else None


def _persona(project: Project, typed: Typed) -> UUID | None:
    wanted = uuid_of(typed.persona)
    return Persona.objects.filter(project=project, pk=wanted).values_list("pk", flat=True).first() if wanted else None


def _customers(entry: Entry, todo: Todo | None) -> list[tuple[UUID, str]]:
    """The newest customers who have a name, a number or an address, and whose the todo is."""
    newest = Persona.objects.filter(project=entry.project).order_by("-id").values_list("pk", flat=True)[:MOST_CUSTOMERS]
    mine = [todo.persona_id] if todo and todo.persona_id else []
    known = {**dict.fromkeys(mine, UNNAMED), **customer_names([*newest, *mine])}
    return sorted(known.items(), key=lambda item: item[1].casefold())
