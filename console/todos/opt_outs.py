"""The words with which customers opted out of e-mails or texts, beside the warning that nothing can be sent."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext

from console.todos.warnings import Note
from conversations.models import PersonaField
from projects.common.translation import lazy
from todos.content.deliverability import needs_contact
from todos.models import Todo
from tools.engine.catalogue import CompiledTool

# Message kind: the customer field with the preference, and the noun for the warning.
PREFERENCES = {"email": ("email_opt_in", "e-mails"), "sms": ("sms_opt_in", "texts")}
UNWANTED = "false"
SAID = lazy("They said: “{quote}” Nothing is sent until they agree again.")


def opt_out_notes(todo: Todo, tools: Iterable[CompiledTool]) -> list[Note]:
    """A note for each kind of message that the tools may send and the customer has refused in words."""
    words = dict(PREFERENCES[tool.kind] for tool in tools if needs_contact(tool))
    if todo.persona_id is None or not words:
        return []
    said_no = PersonaField.objects.filter(persona_id=todo.persona_id, key__in=words, value=UNWANTED)
    return [
        Note(
            "warn",
            "alert-triangle",
            gettext("The customer opted out of %(kind)s.") % {"kind": words[field.key]},
            SAID.format(quote=field.quote),
        )
        for field in said_no.exclude(quote="").order_by("key")
    ]
