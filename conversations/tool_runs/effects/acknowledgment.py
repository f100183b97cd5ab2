"""Acknowledgment of an event over the API, by a client that reads the conversation's stream."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404
from pydantic import ValidationError

from conversations.live.event_log import open_log
from conversations.tool_runs.effects.conversation_run import ConversationRun
from conversations.tool_runs.effects.outcome_events import conversation_of
from jobs.errors import WrongState
from projects.models import Project
from tools.engine.events.subscribers import is_delivered
from tools.engine.execution.event_delivery import ACKNOWLEDGED
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.run import definition_of
from tools.models import Effect, EffectState
from tools.models.effect import EVENT_ADAPTER

NO_EVENT = "This effect is no event, so nobody has to acknowledge it."
NOT_SENT = "Only a sent event can be acknowledged; this one is {state}."
ACKNOWLEDGEABLE = (EffectState.SENDING, EffectState.UNKNOWN)


def acknowledge(project: Project, effect_id: UUID) -> Effect:
    """Record that the subscriber of an event has received it: the effect is done. A repetition changes nothing.

    Raises Http404, and WrongState for an effect that is no event, was not sent, or failed. Of two concurrent calls both
    succeed.
    """
    effect = Effect.objects.filter(project_id=project.pk, pk=effect_id).first()
    if effect is None:
        raise Http404
    if not _is_event(effect):
        raise WrongState(NO_EVENT)
    outcome = Outcome.done(ACKNOWLEDGED, result=effect.result or {}, adapter=EVENT_ADAPTER)
    with open_log(conversation_of(effect)) as log:
        effect.refresh_from_db()
        if effect.acknowledged_at is not None:
            return effect
        if effect.state not in ACKNOWLEDGEABLE:
            raise WrongState(NOT_SENT.format(state=EffectState(effect.state).value))
        ConversationRun(log, effect).settle(outcome)
    return effect


def _is_event(effect: Effect) -> bool:
    try:
        return is_delivered(effect.tool, definition_of(effect))
    except ValidationError:
        return False
