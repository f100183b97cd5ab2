"""Updates for the voice model of a live call: new directives, urgent messages, corrections.

Each update is an event of the conversation and has its number. Updates are sent in order, and of several directives
only the newest. Nothing is sent while the caller speaks, or after the agent has spoken three times without an answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from conversations.common.voice_session import is_caller_speaking
from conversations.context.urgent_messages import is_from_business, text_for_agent
from conversations.live.hub import Room, hub
from conversations.live.stream import PING_SECONDS, PINGED, RETRY, Frame, Frames
from conversations.models import Conversation, ConversationStatus, Directives, Event, VoiceSession
from conversations.models.event import URGENT
from conversations.promises.apply_verdicts import UNBACKED
from conversations.prompts.reply import view_of
from conversations.prompts.session import SessionContext, update_text
from conversations.turns.channel_signals import TRANSFERRED
from conversations.turns.services import has_talked_enough
from conversations.voice.turns import unanswered
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

DIRECTIVES_WRITTEN = "directives_written"
CONVERSATION = PreparedQuery(lambda conversation: Conversation.objects.filter(pk=conversation), kinds=(UUID,))
EVENTS = PreparedQuery(
    lambda conversation, after, last: Event.objects.filter(
        conversation_id=conversation,
        idn__in=(DIRECTIVES_WRITTEN, URGENT, UNBACKED),
        seq__gt=after,
        seq__lte=last,
    ).order_by("seq"),
    kinds=(UUID, int, int),
)
DIRECTIVES = PreparedQuery(
    lambda conversation, version: Directives.objects.filter(conversation_id=conversation, version=version),
    kinds=(UUID, int),
)
OVER = "The call is over for you. Say nothing more."


@dataclass(frozen=True)
class UpdatesCursor:
    """A conversation and the number of the last update given; None if the voice model was given none yet."""

    organization_id: UUID
    conversation_id: UUID
    after: int | None


@dataclass(frozen=True)
class Due:
    """The updates to send now, as frames.

    `after` is how far the conversation has been read, `last_event` its newest event. `stop` says why the voice model
    must not speak any more: `{"code", "number"?}`, else empty.
    """

    frames: list[Frame]
    after: int | None
    last_event: int
    stop: Mapping[str, str] = field(default_factory=dict)


async def update_frames(cursor: UpdatesCursor) -> Frames:
    """Updates as server-sent events until the call is over; the last event is `stop` with the reason."""
    after = cursor.after
    async with hub().listen(Room(cursor.organization_id, cursor.conversation_id), after=0) as listener:
        yield [RETRY]
        while True:
            due = await in_db(due_after, cursor, after)
            listener.after, after = due.last_event, due.after
            if due.frames:
                yield due.frames
            if due.stop:
                yield [Frame("stop", {"reason": OVER, **due.stop})]
                return
            if await listener.next_within(random.uniform(*PING_SECONDS)) is None:  # noqa: S311  # spreads work, guards nothing
                yield [PINGED]


def due_after(cursor: UpdatesCursor, after: int | None) -> Due:
    """The updates due now. With `after` None, those that an earlier reply has told are left out."""
    with tenant_tx(cursor.organization_id, plans_once=True):
        conversation = next(iter(CONVERSATION(cursor.conversation_id)), None)
        if conversation is None:
            return Due([], after, 0, stop={"code": "ended"})
        if stop := stop_of(conversation):
            # A caller who hung up or was transferred must not be spoken to.
            return Due([], after, conversation.last_event, stop=stop)
        frames = [_frame(event) for event in _updates(conversation, after)]
        # Checked last, so that a caller who began to speak meanwhile is not interrupted.
        if frames and _is_held(conversation):
            return Due([], after, conversation.last_event)
        return Due(frames, conversation.last_event, conversation.last_event)


def stop_of(conversation: Conversation) -> dict[str, str]:
    """Why the voice must not speak any more, with the number that the call goes to; empty while it may."""
    if conversation.status == ConversationStatus.TRANSFERRED:
        transfer = Event.objects.filter(conversation=conversation, idn=TRANSFERRED).order_by("-seq").first()
        number = str(transfer.payload.get("number") or "") if transfer else ""
        return {"code": "transferred", **({"number": number} if number else {})}
    if conversation.operator_id is not None:
        return {"code": "operator"}
    return {} if conversation.status == ConversationStatus.OPEN else {"code": "ended"}


def cursor_for(conversation: Conversation, seen: int | None) -> UpdatesCursor:
    """Where a stream begins: after the latest update that the bridge has seen (`seen`) or reported as applied."""
    session = VoiceSession.objects.filter(conversation=conversation).first()
    applied = (session.applied or None) if session else None
    known = [number for number in (seen, applied) if number is not None]
    return UpdatesCursor(cast(UUID, conversation.organization_id), conversation.pk, max(known, default=None))


def _is_held(conversation: Conversation) -> bool:
    if is_caller_speaking(conversation.pk):
        return True
    return has_talked_enough(conversation) and not unanswered(conversation)


def _updates(conversation: Conversation, after: int | None) -> Sequence[Event]:
    # Events added since the conversation was read come with the next read.
    found = EVENTS(conversation.pk, after or 0, conversation.last_event)
    newest = max((event.seq for event in found if event.idn == DIRECTIVES_WRITTEN), default=0)
    return [
        event
        for event in found
        if event.seq == newest
        or (event.idn != DIRECTIVES_WRITTEN and (after is not None or _is_untold(conversation, event)))
    ]


def _is_untold(conversation: Conversation, event: Event) -> bool:
    if event.idn == UNBACKED:
        return bool(conversation.correction)
    return int(event.payload["told_by"]) > conversation.last_turn


def _frame(event: Event) -> Frame:
    return Frame(_NAMES[event.idn], {**_PAYLOADS[event.idn](event), "seq": event.seq}, event.seq)


def _directives(event: Event) -> dict[str, Any]:
    [written] = DIRECTIVES(event.conversation_id, event.payload["version"])
    text = update_text(SessionContext(directives=view_of(written)))
    return {"version": written.version, "turn": str(written.turn_id), "text": text}


def _urgent(event: Event) -> dict[str, Any]:
    text = text_for_agent(event.payload)
    context = SessionContext(from_business=text) if is_from_business(event.payload) else SessionContext(urgent=text)
    return {"text": update_text(context)}


def _correction(event: Event) -> dict[str, Any]:
    return {
        "turn": event.payload["turn"],
        "text": update_text(SessionContext(correction=event.payload["quote"])),
    }


_NAMES: Mapping[str, str] = {DIRECTIVES_WRITTEN: "directives", URGENT: "urgent_message", UNBACKED: "correction"}
_PAYLOADS: Mapping[str, Callable[[Event], dict[str, Any]]] = {
    DIRECTIVES_WRITTEN: _directives,
    URGENT: _urgent,
    UNBACKED: _correction,
}
