"""System events from outside: each starts what it names, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from conversations.common.place import place_in
from conversations.followups.waits import ACTIVATE, activate_waiting, end_activated_waits
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, Turn
from conversations.models.event import URGENT, EventType
from conversations.turns.admission import admit_turn
from conversations.turns.services import post_message
from jobs.enqueue import enqueue
from projects.api.serializers import is_empty
from projects.common.api_error import ApiError, Unprocessable
from projects.common.numbers import grouped
from tools.engine.events.posted import plan_posted_event
from tools.engine.events.subscribers import named_events
from tools.engine.ledger import job_for
from tools.engine.presenters import effect_payload
from tools.models import Effect

USER_MESSAGE = "user_message"
SYSTEM_EVENTS = (URGENT, ACTIVATE, USER_MESSAGE)
LONGEST_MESSAGE = 8_000


@dataclass(frozen=True)
class StartedByEvent:
    """The agent's turn, or the delivery to a subscriber, that an event started."""

    turn: Turn | None = None
    effect: Effect | None = None


class UnknownEvent(ApiError):
    """The event starts nothing in this project."""

    status = 422

    def __init__(self, idn: str, *, known: list[str]) -> None:
        super().__init__(
            "unknown_event",
            f"{idn} starts nothing. Events that do: {', '.join(known)}. Add a subscription for events of your own.",
            field="idn",
        )


def post_event(conversation: Conversation, idn: str, payload: Mapping[str, Any]) -> StartedByEvent:
    """Append a system event and start the tool or turn that it names. Raises ApiError; UnknownEvent if it names none."""
    if idn == USER_MESSAGE:
        text = _message(payload)
        admit_turn(conversation.project)
        return StartedByEvent(turn=post_message(conversation.pk, text).turn)
    with open_log(conversation.pk) as log:
        if idn == URGENT:
            return StartedByEvent(turn=end_activated_waits(log, payload))
        if idn == ACTIVATE:
            activate_waiting(log, payload)
            return StartedByEvent()
        return StartedByEvent(effect=_plan_delivery(log, idn, payload))


def _message(payload: Mapping[str, Any]) -> str:
    """The text of a customer's message. Raises ApiError."""
    text = payload.get("text")
    if not isinstance(text, str) or is_empty(text) or len(text) > LONGEST_MESSAGE:
        raise Unprocessable(
            "invalid",
            gettext("text must be text of at most %(longest_message)s characters.")
            % {"longest_message": grouped(LONGEST_MESSAGE)},
            field="payload.text",
        )
    return text


def _plan_delivery(log: ConversationLog, idn: str, payload: Mapping[str, Any]) -> Effect:
    """Plan the delivery of a custom event to its subscriber, as an effect with its job."""
    project_id = log.conversation.project_id
    place = place_in(log.conversation, config=None, contact=None)
    effect = plan_posted_event(idn, payload, place, number=log.conversation.last_event + 1)
    if effect is None:
        raise UnknownEvent(idn, known=[*SYSTEM_EVENTS, *sorted(named_events(project_id))])
    log.add_event(idn, payload=dict(payload))
    log.add_event("effect_planned", payload=effect_payload(effect), type=EventType.EFFECT)
    enqueue([job_for(effect)])
    return effect
