"""Flags that ask staff to look at a conversation or a caller: their reasons, and clearing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, Event, Message, Persona, Turn
from conversations.prompts.observer import Quality
from jobs.errors import WrongState
from projects.models import User

MAX_FLAG = 300
MAX_REASONS, MAX_EVENTS = 5, 100
CLEARED = "flag_cleared"
ANALYSIS_FAILED, ANALYSIS_REOPENED = "analysis_failed", "analysis_reopened"
FILES_FAILED, FILES_REOPENED = "files_failed", "files_reopened"
CALL_CUT_OFF = "call_cut_off"
# Events that withdraw a flag, and the key of what they and the flag's event are about.
WITHDRAWN_BY = {ANALYSIS_REOPENED: (ANALYSIS_FAILED, "turn"), FILES_REOPENED: (FILES_FAILED, "message")}


def low_score(score: int, reason: str) -> str:
    return f"Quality {score} of 10: {reason}"


def broken_claim(quotes: Sequence[str]) -> str:
    return f"Claimed but not done: “{'” and “'.join(quotes)}”"[:MAX_FLAG]


def no_reply(reason: str) -> str:
    return f"Reply failed: {reason}"[:MAX_FLAG]


def not_analyzed(seq: int, reason: str) -> str:
    return f"{_not_analyzed(seq)} Run its tool caller again, under Failures or in the turn’s inspector. {reason}"[
        :MAX_FLAG
    ]


def _not_analyzed(seq: int) -> str:
    return f"The reply of turn {seq} was not checked for promises."


def unread_files(seq: int, reason: str) -> str:
    return f"{_unread_files(seq)} Run their job again, under Failures. {reason}"[:MAX_FLAG]


def _unread_files(seq: int) -> str:
    return f"The files of message {seq} are not attached."


def words_lost() -> str:
    return "The call ended while the line was cut. Words of both sides may be missing, and what the agent promised."


def flag_unanalyzed(log: ConversationLog, turn: Turn, *, reason: str) -> None:
    """Flag the conversation because the analysis of a reply failed permanently."""
    log.conversation.flag = not_analyzed(turn.seq, reason)
    log.add_event(ANALYSIS_FAILED, payload={"turn": str(turn.pk), "seq": turn.seq, "reason": reason})


def unflag_unanalyzed(log: ConversationLog, turn: Turn) -> None:
    """Withdraw the flag of a failed analysis, because it runs again. An earlier reason becomes the flag again."""
    log.add_event(ANALYSIS_REOPENED, payload={"turn": str(turn.pk)})
    _withdraw(log, _not_analyzed(turn.seq))


def flag_unread_files(log: ConversationLog, message: Message, *, reason: str) -> None:
    """Flag the conversation because the files of a message could not be attached."""
    log.conversation.flag = unread_files(message.seq, reason)
    log.add_event(FILES_FAILED, payload={"message": str(message.pk), "seq": message.seq, "reason": reason})


def unflag_unread_files(log: ConversationLog, message: Message) -> None:
    """Withdraw the flag of unread files once they are attached. An earlier reason becomes the flag again."""
    log.add_event(FILES_REOPENED, payload={"message": str(message.pk)})
    _withdraw(log, _unread_files(message.seq))


def flag_cut_off(log: ConversationLog) -> None:
    """Flag the conversation because its call ended while nobody listened."""
    log.conversation.flag = words_lost()
    log.add_event(CALL_CUT_OFF, payload={})


def _withdraw(log: ConversationLog, beginning: str) -> None:
    if log.conversation.flag.startswith(beginning):
        others = (reason for reason in flag_reasons(log.conversation) if not reason.startswith(beginning))
        log.conversation.flag = next(others, "")


def flag_reasons(conversation: Conversation) -> list[str]:
    """The reasons for the conversation's flag, newest first: the flag itself, then those logged since it was last
    cleared.
    """
    if not conversation.flag:
        return []
    idns = [*REASONS, *WITHDRAWN_BY, CLEARED]
    rows = Event.objects.filter(conversation=conversation, idn__in=idns).order_by("-seq")[:MAX_EVENTS]
    claims: dict[str, list[str]] = {}
    since, withdrawn = list[Event](), set[tuple[str, str]]()
    for event in rows:
        if event.idn == CLEARED:
            break
        if event.idn in WITHDRAWN_BY:
            idn, key = WITHDRAWN_BY[event.idn]
            withdrawn.add((idn, event.payload[key]))
        elif not any((event.idn, value) in withdrawn for value in _subjects_of(event)):
            since.append(event)
        if event.idn == "claim_unbacked":
            # All claims of one reply are one reason, with the quotes in their order.
            quotes = claims.setdefault(event.payload["turn"], [])
            quotes[:] = [event.payload["quote"], *(quote for quote in quotes if quote != event.payload["quote"])]
    reasons = [REASONS[event.idn](event.payload, claims) for event in since]
    return list(dict.fromkeys([conversation.flag, *reasons]))[:MAX_REASONS]


def _subjects_of(event: Event) -> Iterator[str]:
    """The turn or message that an event is about."""
    return (str(event.payload[key]) for key in ("turn", "message") if key in event.payload)


# By event idn: builds the flag's wording from the event's payload and the claims of each turn.
REASONS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Sequence[str]]], str]] = {
    "quality_low": lambda payload, claims: low_score(payload["score"], payload["reason"]),
    "claim_unbacked": lambda payload, claims: broken_claim(claims[payload["turn"]]),
    ANALYSIS_FAILED: lambda payload, claims: not_analyzed(payload["seq"], payload["reason"]),
    FILES_FAILED: lambda payload, claims: unread_files(payload["seq"], payload["reason"]),
    CALL_CUT_OFF: lambda payload, claims: words_lost(),
    "reply_failed": lambda payload, claims: no_reply(payload["message"]),
}


def clear_flag(conversation_id: UUID, *, by: User) -> str:
    """Clear the conversation's flag and log its reason and who cleared it. Returns the reason.

    If two people clear it at once, one of them gets WrongState. Raises Conversation.DoesNotExist.
    """
    with open_log(conversation_id) as log:
        reason = log.conversation.flag
        if not reason:
            raise WrongState(gettext("The flag has already been cleared."))
        log.conversation.flag = ""
        log.add_event("flag_cleared", payload={"reason": reason, "by": by.name})
    return reason


def restore_flag(conversation_id: UUID, reason: str, *, by: User) -> None:
    """Undo the clearing of a flag. Raises WrongState if the conversation has a new one, Conversation.DoesNotExist."""
    with open_log(conversation_id) as log:
        if log.conversation.flag:
            raise WrongState(gettext("The conversation has been flagged again."))
        flag_again(log, reason, by=by)


def flag_again(log: ConversationLog, reason: str, *, by: User) -> None:
    """Set a flag that was cleared."""
    log.conversation.flag = reason
    log.add_event("flag_restored", payload={"reason": reason, "by": by.name})


def clear_caller_flag(conversation_id: UUID, *, by: User) -> None:
    """Clear the flag of the conversation's customer and log its reason and who cleared it. Raises WrongState if there
    is none.
    """
    with open_log(conversation_id) as log:
        persona = Persona.objects.select_for_update().get(pk=log.conversation.persona_id)
        if not persona.flagged:
            raise WrongState(gettext("The caller's flag has already been cleared."))
        log.add_event("caller_flag_cleared", payload={"reason": persona.flag_reason, "by": by.name})
        persona.flagged, persona.flag_reason = False, ""
        persona.save(update_fields=["flagged", "flag_reason"])


RECOVER_AT = 3
MAX_REASON = 250


def store_quality(log: ConversationLog, turn: Turn, quality: Quality) -> None:
    """Store a turn's score and reason. A low score flags the conversation and instructs the next replies to recover,
    until a better score.
    """
    reason = " ".join(quality.reason.split())[:MAX_REASON]
    log.writes.change(Turn, turn.pk, quality_score=quality.score, quality_reason=reason)
    is_low = quality.score <= RECOVER_AT
    log.conversation.recovery = reason if is_low else ""
    if is_low:
        log.conversation.flag = low_score(quality.score, reason)
        log.add_event("quality_low", payload={"turn": str(turn.pk), "score": quality.score, "reason": reason})
