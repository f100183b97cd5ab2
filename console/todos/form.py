"""Values of the todo form: parsing, validation and tool arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import QueryDict
from django.utils.translation import gettext

from console.agent.form_fields import FormField, FormFields
from console.parameters import parse_uuid
from console.todos.arguments import properties_of, sample_of
from console.todos.contact_form import CONTACT
from conversations.models import Conversation, Persona
from projects.common.api_error import ApiError
from projects.common.differences import Change
from projects.common.numbers import grouped
from projects.models import Project
from todos.content.plans import LONGEST_DESCRIPTION
from todos.content.snapshot import compiled_tools
from todos.models import Todo, TodoType
from tools.engine.catalogue import CompiledTool
from tools.engine.tool_words import argument_label

ARGUMENT = "arguments."


@dataclass(frozen=True)
class Argument:
    """A tool argument in the form. Values other than text are edited as JSON, of which `sample` shows the form."""

    box: FormField
    label: str
    is_text: bool
    sample: str = ""


@dataclass(frozen=True)
class TodoForm:
    """Form values, either stored or submitted."""

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
    """Why nothing was saved. Without a `field` it is shown at the top. `changes` are concurrent edits by someone else."""

    message: str
    field: str = ""
    changes: Sequence[Change] = ()


def problem_of(error: ApiError) -> Problem:
    """The error for the form, which shows the labels of arguments in place of their paths."""
    field = error.field or ""
    if not field.startswith(ARGUMENT):
        return Problem(error.message, field)
    label = " › ".join(argument_label(name) for name in field.removeprefix(ARGUMENT).split("."))
    return Problem(error.message.replace(field, f"“{label}”"), field)


def addresses_in(text: str) -> list[str]:
    """Addresses separated by line breaks or commas."""
    return [address for line in text.replace(",", "\n").splitlines() if (address := line.strip())]


def parse_form(posted: QueryDict) -> TodoForm:
    names = ("description", "type", "tool", "recipients", "persona", "conversation")
    arguments, contact = (
        {name.removeprefix(prefix): _text(posted, name) for name in posted if name.startswith(prefix)}
        for prefix in (ARGUMENT, CONTACT)
    )
    return TodoForm(**{name: _text(posted, name) for name in names}, arguments=arguments, contact=contact)


def _text(posted: QueryDict, name: str) -> str:
    return posted.get(name, "").replace("\r\n", "\n").replace("\x00", "").strip()


def stored_form(todo: Todo) -> TodoForm:
    return TodoForm(
        description=todo.description,
        type=str(todo.type_id or ""),
        tool=todo.tool,
        recipients="\n".join(todo.recipients),
        persona=str(todo.persona_id or ""),
        conversation="",
        arguments={name: _as_text(value) for name, value in (todo.arguments or {}).items()},
        contact={},
    )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def argument_fields(tool: CompiledTool | None, form: TodoForm, boxes: FormFields) -> list[Argument]:
    """The tool's arguments, plus submitted values it doesn't take."""
    properties = properties_of(tool) if tool else {}
    return [
        Argument(
            boxes.field(f"{ARGUMENT}{name}", form.arguments.get(name, "")),
            argument_label(name),
            is_text=_is_text(properties.get(name)),
            sample=json.dumps(sample_of(properties.get(name, {})), ensure_ascii=False),
        )
        for name in dict.fromkeys([*properties, *form.arguments])
    ]


def parse_arguments(project: Project, form: TodoForm) -> dict[str, Any] | None:
    """The submitted arguments without empty fields. Raises ApiError for invalid JSON."""
    if not form.tool:
        return None
    tool = compiled_tools(project).get(form.tool)
    properties = properties_of(tool) if tool else {}
    return {
        name: text if _is_text(properties.get(name)) else _json(name, text)
        for name, text in form.arguments.items()
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
        raise ApiError(
            "invalid_arguments",
            gettext("%(where)s: enter a number, true, false or JSON.") % {"where": where},
            field=where,
        ) from error


def require_description(form: TodoForm) -> str:
    if not form.description:
        raise ApiError("required", gettext("Enter a description."), field="description")
    if len(form.description) > LONGEST_DESCRIPTION:
        message = gettext("Use at most %(longest_description)s characters. This has %(description)s.") % {
            "longest_description": grouped(LONGEST_DESCRIPTION),
            "description": grouped(len(form.description)),
        }
        raise ApiError("too_long", message, field="description")
    return form.description


def find_type(project: Project, form: TodoForm) -> TodoType | None:
    wanted = parse_uuid(form.type)
    if wanted is None:
        return None
    found = TodoType.objects.filter(project=project, pk=wanted).first()
    if found is None:
        raise ApiError("invalid_type", gettext("This type no longer exists."), field="type")
    return found


def find_conversation(project: Project, form: TodoForm) -> Conversation | None:
    wanted = parse_uuid(form.conversation)
    return Conversation.objects.filter(project=project, pk=wanted).first() if wanted else None


def find_persona(project: Project, form: TodoForm) -> UUID | None:
    wanted = parse_uuid(form.persona)
    return Persona.objects.filter(project=project, pk=wanted).values_list("pk", flat=True).first() if wanted else None
