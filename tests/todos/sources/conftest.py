from __future__ import annotations

from typing import Any

from django.db import connection

from conversations.live.event_log import open_log
from conversations.models import Conversation, Event
from conversations.turns.channel_signals import apply_signal
from jobs.models import Job
from tests.conversations.promises.conftest import PROMISE, SMS, Desk, begin, desk, talk, worker
from todos.content.lifecycle import Actor
from todos.models import Todo, TodoType
from tools.engine.execution.outcome import Signal

__all__ = ["PROMISE", "SMS", "Desk", "begin", "desk", "talk", "worker"]

CHEF = {"quote": "I'll ask the chef whether the ragù can be made without wine", "what": "ask the chef"}
MAIL, TEAM = "E-mail to the guest", "Message to the team"
LUCIA = Actor("Lucia")


def todos(desk: Desk) -> list[Todo]:
    """All todos, oldest first."""
    with desk.tenant.tx():
        return list(Todo.objects.select_related("type", "effect", "promise").order_by("created_at", "id"))


def finds(desk: Desk, *findings: dict[str, Any]) -> None:
    """Script the next extraction."""
    plain = {"type": MAIL, "description": "Write to Ann.", "title": "", "recipients": []}
    desk.model.script("extract", json={"todos": [{**plain, **finding} for finding in findings]})


def end(desk: Desk) -> None:
    """End the conversation as a tool's signal does."""
    with desk.tenant.tx(), open_log(desk.talk.conversation.pk) as log:
        apply_signal(log, Signal.END, turn_id=None, result={})


def look_through(desk: Desk) -> list[Todo]:
    """End the conversation and run the jobs that follow."""
    end(desk)
    desk.run("extraction")
    return todos(desk)


def jobs(desk: Desk, lane: str) -> list[str]:
    """The states of a lane's jobs, in order."""
    with desk.tenant.tx():
        return list(Job.objects.filter(lane=lane).order_by("created_at", "id").values_list("state", flat=True))


def events(desk: Desk, idn: str) -> list[dict[str, Any]]:
    with desk.tenant.tx():
        rows = Event.objects.filter(conversation=desk.talk.conversation, idn=idn).order_by("seq")
        return [event.payload for event in rows]


def told(desk: Desk) -> list[str]:
    """The proactive messages of the agent."""
    return [payload["text"] for payload in events(desk, "urgent_message")]


def no_types(desk: Desk) -> None:
    with desk.tenant.tx():
        TodoType.objects.update(is_removed=True)


def silent(desk: Desk, *, minutes: float) -> None:
    """Date the conversation's last message this far back."""
    with desk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute(
            "update conversations_conversation set follow_up_at = null, "
            "updated_at = clock_timestamp() - %s * interval '1 minute' where id = %s",
            [minutes, desk.talk.conversation.pk],
        )


def conversation(desk: Desk) -> Conversation:
    with desk.tenant.tx():
        return Conversation.objects.get(pk=desk.talk.conversation.pk)
