"""Questions to staff about effects of unknown outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from console.effects.errors import error_for_people
from console.effects.labels import title_of
from console.timestamps import Timestamp, format_timestamp
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from projects.models import Project
from tenancy.prepared_queries import PreparedNewest
from todos.executor.resume import why_not_repeatable
from tools.engine.attention import unknown_effects
from tools.models import Effect

SHOWN = 5


@dataclass(frozen=True)
class Question:
    """An effect that may have happened. `why` tells how the outcome got lost.

    `is_sent_again` is True if the answer "it did not happen" sends it again.
    """

    id: UUID
    title: str
    customer: str
    quote: str
    why: str
    is_sent_again: bool
    at: Timestamp


def open_questions(project: Project, *, zone: str) -> dict[str, Any]:
    """Context for `effects/_questions.html`: the newest questions and their total."""
    effects = _UNKNOWN.newest(project.pk)
    return {
        "questions": questions_for(effects, zone=zone),
        "questions_count": _UNKNOWN.count(project.pk, newest=effects),
    }


_UNKNOWN = PreparedNewest(lambda project: unknown_effects(Project(pk=project)), kinds=(UUID,), most=SHOWN)


def questions_for(effects: list[Effect], *, zone: str) -> list[Question]:
    """A question for each effect."""
    if not effects:
        return []
    wanted = {effect.conversation_id for effect in effects if effect.conversation_id}
    personas = dict(Conversation.objects.filter(pk__in=wanted).values_list("pk", "persona_id"))
    names = customer_names(set(personas.values()))
    over = why_not_repeatable(effect.pk for effect in effects)
    return [
        Question(
            id=effect.pk,
            title=title_of(effect),
            customer=names.get(personas[effect.conversation_id], "") if effect.conversation_id in personas else "",
            quote=effect.quote.strip(),
            why=error_for_people(effect.error) or gettext("It started, but its result wasn’t recorded."),
            is_sent_again=effect.pk not in over,
            at=format_timestamp(effect.started_at or effect.created_at, zone=zone),
        )
        for effect in effects
    ]
