"""The words of a caller who types: stored as events, and said to the model in their order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from conversations.calls.store import KeptCall
from conversations.calls.web_calls import TYPED_WORDS
from conversations.live.hub import Room, hub
from conversations.models import Conversation, Event
from conversations.voice.reports import REPORTED
from jobs.fence import reading
from jobs.lanes import ClaimedJob
from tenancy.threads import in_db

# Events that Redis did not deliver are found by looking.
LOOK_SECONDS = 2.0
REPORT = "typed:"


@dataclass(frozen=True)
class TypedWords:
    """Words that the caller typed. `report_id` is the same however often it is read."""

    seq: int
    text: str

    @property
    def report_id(self) -> str:
        return f"{REPORT}{self.seq}"


async def typed_words(job: ClaimedJob, kept: KeptCall) -> AsyncIterator[TypedWords]:
    """The words that were not reported yet, as they are typed."""
    after = await in_db(_last_reported, job, kept)
    async with hub().listen(Room(kept.organization_id, kept.conversation_id), after=0) as listener:
        while True:
            last_event, found = await in_db(_typed_after, job, kept, after)
            for words in found:
                yield words
                after = words.seq
            listener.after = last_event
            await listener.next_within(LOOK_SECONDS)


def _typed_after(job: ClaimedJob, kept: KeptCall, after: int) -> tuple[int, list[TypedWords]]:
    with reading(job):
        last_event = Conversation.objects.values_list("last_event", flat=True).get(pk=kept.conversation_id)
        events = Event.objects.filter(conversation_id=kept.conversation_id, idn=TYPED_WORDS, seq__gt=after)
        return last_event, [TypedWords(event.seq, event.payload["text"]) for event in events.order_by("seq")]


def _last_reported(job: ClaimedJob, kept: KeptCall) -> int:
    with reading(job):
        events = Event.objects.filter(
            conversation_id=kept.conversation_id, idn=REPORTED, payload__id__startswith=REPORT
        )
        newest = events.order_by("-seq").first()
        return int(newest.payload["id"].removeprefix(REPORT)) if newest else 0
