"""The time at which a caller has heard a reply. A promise that nobody heard doesn't count.

The tool caller of a spoken reply waits until its words were heard. The call's process starts it then; without one, it
runs when they must have been heard.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from conversations.calls.transcript import CHARACTERS_PER_SECOND
from conversations.common.voice_session import is_voice_call
from conversations.live.event_log import ConversationLog
from conversations.models import Call, CallState
from conversations.turns.after_reply import HEARD_FIRST
from jobs import wakeups
from jobs.models import Job, State

# The voice begins this long after the words were written.
LATENCY = timedelta(seconds=3)


def heard_at(log: ConversationLog, text: str) -> datetime | None:
    """When a caller will have heard this reply; None if it isn't spoken."""
    if not is_voice_call(log.conversation):
        return None
    if not Call.objects.filter(conversation=log.conversation, provider="twilio", state=CallState.LIVE).exists():
        return None
    return log.now + LATENCY + timedelta(seconds=len(text) / CHARACTERS_PER_SECOND)


def release_analysis(turns: Collection[UUID]) -> None:
    """Let the tool caller of these turns run now."""
    keys = [f"{HEARD_FIRST}:{turn}" for turn in turns]
    if keys and Job.objects.filter(key__in=keys, state=State.QUEUED).update(run_after=Now()):
        transaction.on_commit(partial(wakeups.hint, [HEARD_FIRST]))
