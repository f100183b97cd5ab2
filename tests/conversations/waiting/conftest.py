from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.utils import timezone

from conversations.followups.waits import end_wait, open_wait
from conversations.live.event_log import open_log
from conversations.models import Event, MessageRole, Turn, TurnStatus, Wait, WaitOutcome
from jobs.models import Job
from tests.conversations.conftest import Talk, begin, talk, worker
from tools.models import Effect

__all__ = ["begin", "talk", "worker"]

TOOL = "check_availability_tool"
FREE = "Friday at 7 PM is free."


def answered(talk: Talk, words: str = "Hello", reply: str = "Hello!") -> Turn:
    """A turn after its reply, with its jobs finished, without any worker."""
    return answer(talk, talk.say(words), reply)


def answer(talk: Talk, turn: Turn, reply: str) -> Turn:
    """Reply to a turn without any worker."""
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        turn.reply = log.add_message(MessageRole.AGENT, reply, turn=turn, idn="agent_message")
        turn.status, turn.started_at = TurnStatus.DONE, timezone.now()
        log.writes.update(turn, ("status", "reply", "started_at"))
        Job.objects.filter(subject_id=talk.conversation.pk).update(state="done")
    return turn


def planned(talk: Talk, turn: Turn, *, tool: str = TOOL) -> Effect:
    """A planned effect in the ledger."""
    with talk.tenant.tx():
        return Effect.objects.create(
            project_id=talk.tenant.project.pk,
            conversation_id=talk.conversation.pk,
            turn_id=turn.pk,
            effect_key=uuid.uuid4().hex,
            tool=tool,
            kind="availability",
            delivery="idempotent",
            definition={},
        )


def awaited(talk: Talk, turn: Turn, *, seconds: float = 30, tool: str = TOOL) -> Effect:
    """A planned effect with an open wait."""
    effect = planned(talk, turn, tool=tool)
    with logged(talk) as log:
        open_wait(log, reason=tool, seconds=seconds, turn=turn, effect_id=effect.pk)
    return effect


def end(talk: Talk, effect: Effect, *, outcome: WaitOutcome = WaitOutcome.RESULT, told: str = FREE) -> bool:
    with logged(talk) as log:
        return end_wait(log, effect.pk, outcome=outcome, told=told)


@contextmanager
def logged(talk: Talk):
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        yield log


def expire_timer(talk: Talk) -> None:
    """Expire the conversation's waits by the database's clock."""
    with talk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute(
            "update conversations_wait set until = clock_timestamp() - interval '1 second' where conversation_id = %s",
            [talk.conversation.pk],
        )


def urgent(talk: Talk) -> list[dict[str, Any]]:
    """Urgent messages sent to the agent."""
    with talk.tenant.tx():
        events = Event.objects.filter(conversation=talk.conversation, idn="urgent_message").order_by("seq")
        return [event.payload for event in events]


def outcomes(talk: Talk) -> list[str]:
    with talk.tenant.tx():
        return list(
            Wait.objects.filter(conversation=talk.conversation).order_by("opened_at").values_list("outcome", flat=True)
        )


def shown(api: Any, talk: Talk) -> dict[str, Any]:
    """The conversation as the API shows it."""
    found: dict[str, Any] = api.get(f"/api/v1/conversations/{talk.conversation.pk}").json()
    return found


def jobs(talk: Talk, lane: str) -> list[tuple[str, str]]:
    """State and reason of the lane's jobs, in order."""
    with talk.tenant.tx():
        rows = Job.objects.filter(subject_id=talk.conversation.pk, lane=lane).order_by("created_at", "id")
        return [(row.state, row.error) for row in rows]


def origins(talk: Talk) -> list[str]:
    with talk.tenant.tx():
        return list(
            Turn.objects.filter(conversation=talk.conversation).order_by("seq").values_list("origin", flat=True)
        )
