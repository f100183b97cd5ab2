"""The CSV of effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from console.csv_export import Batch, CsvList, page_by_id
from console.effects.labels import state_label, title_of
from console.effects.views import narrowed, parse_query
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from projects.models.permissions import Entry
from tools.models import Effect

# Large columns that no cell shows.
LARGE = ("told", "excerpt", "result")


@dataclass(frozen=True)
class Line:
    """An effect with its customer's name."""

    effect: Effect
    customer: str


def read_effects(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Line]:
    """The effects that the page's tab and tool select."""
    rows = narrowed(Effect.objects.filter(project_id=entry.project.pk), parse_query(parameters)).defer(*LARGE)
    found = page_by_id(rows, after)
    conversations = {row.conversation_id for row in found.rows if row.conversation_id}
    personas = dict(Conversation.objects.filter(pk__in=conversations).values_list("pk", "persona_id"))
    names = customer_names(set(personas.values()))
    by_conversation = {one: names.get(persona, "") for one, persona in personas.items()}
    lines = [
        Line(row, by_conversation.get(row.conversation_id, "") if row.conversation_id else "") for row in found.rows
    ]
    return Batch(lines, found.next)


EFFECTS: CsvList[Line] = CsvList(
    name="effects",
    is_developer=True,
    columns={
        "Effect": lambda line: title_of(line.effect),
        "State": lambda line: state_label(line.effect).word,
        "Tool": lambda line: line.effect.tool,
        "Kind": lambda line: line.effect.kind,
        "Customer": lambda line: line.customer,
        "Recipient": lambda line: line.effect.recipient,
        "Agent's words": lambda line: line.effect.quote.strip(),
        "Error": lambda line: line.effect.error,
        "Attempts": lambda line: line.effect.attempts,
        "Created": lambda line: line.effect.created_at,
        "Started": lambda line: line.effect.started_at,
        "Finished": lambda line: line.effect.finished_at,
        "Effect ID": lambda line: line.effect.pk,
        "Conversation ID": lambda line: line.effect.conversation_id,
    },
    read=read_effects,
)
