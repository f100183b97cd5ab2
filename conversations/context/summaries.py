"""The rolling summary of a long conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from conversations.context.transcript import TranscriptMessage, clip, size_of
from conversations.models import Conversation, MessageRole, Summary, Turn
from tenancy.prepared_queries import PreparedQuery

# A longer transcript is summarized; its newest messages, up to KEPT_BYTES, stay verbatim.
DUE_BYTES = 8_000
KEPT_BYTES = 3_000
KEPT_MESSAGES = 4
# The most that one call summarizes; the next turn continues.
MAX_CALL_BYTES = 14_000
MAX_TEXT_BYTES = 2_000
MAX_FACT_BYTES = 200
MAX_FACTS_BYTES = 2_500

# Queried separately: most conversations are too short to have a summary.
NEWEST = PreparedQuery(lambda summary: Summary.objects.filter(pk=summary), kinds=(UUID,))


def is_due(messages: Sequence[TranscriptMessage]) -> bool:
    """Return True if the messages since the last summary are too large."""
    return size_of(messages) > DUE_BYTES and len(messages) > KEPT_MESSAGES


def messages_to_fold(messages: Sequence[TranscriptMessage]) -> list[TranscriptMessage]:
    """The oldest messages to summarize, ending with a reply. The newest KEPT_BYTES and KEPT_MESSAGES stay verbatim.

    Every summarized message has a lower number than every remaining one, so a message that waits for its turn is never
    skipped.
    """
    left, folded, fold, highest = size_of(messages), 0, 0, 0
    for index, message in enumerate(messages[: max(0, len(messages) - KEPT_MESSAGES)]):
        left, folded, highest = left - message.size, folded + message.size, max(highest, message.seq)
        later = messages[index + 1 :]
        if message.role == MessageRole.AGENT and highest < min(one.seq for one in later):
            fold = index + 1
        if fold and (left <= KEPT_BYTES or folded > MAX_CALL_BYTES):
            break
    return list(messages[:fold])


def summary_before(turn: Turn) -> Summary | None:
    """The newest summary that doesn't cover the turn's own messages."""
    newest = next(iter(NEWEST(turn.conversation.summary_id)), None) if turn.conversation.summary_id else None
    first = turn.message or turn.reply
    if newest is None or first is None or newest.until_seq < first.seq:
        return newest
    older = Summary.objects.filter(conversation_id=turn.conversation_id, until_seq__lt=first.seq)
    return older.order_by("-until_seq").first()


def store_summary(
    conversation: Conversation, *, until_seq: int, text: str, facts: Mapping[str, str], previous: Summary | None
) -> Summary:
    """Store a summary. Earlier facts are carried over unless a new value replaces them, so the model can't drop one."""
    known: Mapping[str, str] = previous.facts if previous else {}
    summary = Summary.objects.create(
        conversation=conversation,
        until_seq=until_seq,
        text=_one_line(text, MAX_TEXT_BYTES),
        facts=_fit_facts({field: value for field, value in known.items() if field not in facts} | dict(facts)),
    )
    Conversation.objects.filter(pk=conversation.pk).update(summary=summary)
    return summary


def _fit_facts(facts: Mapping[str, str]) -> dict[str, str]:
    """Drop the oldest facts until the rest fit into MAX_FACTS_BYTES."""
    lines = [(_one_line(field, 40), _one_line(value, MAX_FACT_BYTES)) for field, value in facts.items()]
    while sum(len(f"{field}: {value}".encode()) + 1 for field, value in lines) > MAX_FACTS_BYTES:
        lines.pop(0)
    return dict(lines)


def _one_line(text: str, longest: int) -> str:
    return clip(" ".join(text.split()), longest=longest)
