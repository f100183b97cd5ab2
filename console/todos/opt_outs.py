"""What a customer doesn't want to get, said before somebody approves a letter to them (T11, L10)."""

from __future__ import annotations

from collections.abc import Iterable

from console.todos.warnings import Note
from conversations.models import PersonaField
from todos.content.deliverability import needs_contact
from todos.models import Todo
from tools.engine.catalogue import CompiledTool

# By the kind of letter: the field in which the observer keeps the wish, and what is not wanted.
WISHES = {"email": ("email_opt_in", "e-mails"), "sms": ("sms_opt_in", "texts")}
UNWANTED = "false"


def wishes_against(todo: Todo, tools: Iterable[CompiledTool]) -> list[Note]:
    """A note for each kind of letter among the tools that the todo's customer has said no to. Whether it goes is up to staff."""
    words = dict(WISHES[tool.kind] for tool in tools if needs_contact(tool))
    if todo.persona_id is None or not words:
        return []
    said_no = PersonaField.objects.filter(persona_id=todo.persona_id, key__in=words, value=UNWANTED).order_by("key")
    return [
        Note("warn", "alert-triangle", f"The customer wants no {words[field.key]}.", _because(field.quote))
        for field in said_no
    ]


def _because(quote: str) -> str:
    said = f"They said: “{quote}” " if quote else ""
    return f"{said}Approved as it is, it is sent all the same. To do it another way, edit it."
