"""Unapproved addresses that a run tried to write to, offered to the next reviewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from todos.content.snapshot import recipients_of
from todos.models import Todo, TodoCall, TodoStatus, TodoStep
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.schemas import handler_of


def requested_recipients(todo: Todo, *, tools: Mapping[str, CompiledTool]) -> list[str]:
    """The addresses, as the model wrote them, for which the todo returned to review. Those already among its recipients
    are left out.
    """
    if todo.status != TodoStatus.PENDING_REVIEW or todo.version == 1 or todo.tool:
        return []
    last = TodoStep.objects.filter(todo=todo).order_by("-approval__version", "-number").first()
    if last is None:
        return []
    known = {address.casefold() for address in recipients_of(todo)}
    wanted = _refused_addresses(last, tools)
    return [address for address in dict.fromkeys(wanted) if address.casefold() not in known]


def _refused_addresses(step: TodoStep, tools: Mapping[str, CompiledTool]) -> Iterator[str]:
    for call in TodoCall.objects.filter(step=step, effect=None, is_error=True).order_by("index"):
        tool = tools.get(call.name)
        handler = handler_of(tool.name, tool.definition) if tool else None
        address = (
            str((call.arguments or {}).get(handler.addressee, "")).strip() if handler and handler.addressee else ""
        )
        if _is_address(address):
            yield address


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True
