"""The rolling summary of a long conversation: when it is due, what it covers, how it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from conversations.context.transcript import TranscriptMessage, clip, size_of
from conversations.models import Conversation, MessageRole, Summary, Turn
from tenancy.prepared_queries import PreparedQuery

# A transcript of more bytes is due to be summarised; so many of its newest stay as they were said.
DUE_BYTES = 8_000
KEPT_BYTES = 3_000
KEPT_MESSAGES = 4
# What one call folds at most; the next turn goes on.
FOLDED_BYTES = 14_000
LONGEST_TEXT = 2_000
LONGEST_FACT = 200
MOST_FACTS_BYTES = 2_500

# Few conversations are so long that they have one.
NEWEST = PreparedQuery(lambda summary: Summary.objects.filter(pk=summary), kinds=(UUID,))


def is_due(messages: Sequence[TranscriptMessage]) -> bool:
    """Whether the messages since the last summary weigh too much."""
    return size_of(messages) > DUE_BYTES and len(messages) > KEPT_MESSAGES


def to_fold(messages: Sequence[TranscriptMessage]) -> list[TranscriptMessage]:
    """The oldest messages, up to a reply, that leave the newest KEPT_BYTES and KEPT_MESSAGES as they were said.

    What is folded has lower numbers than all that is not: a message that waits for its turn is never skipped over.
    """
    left, folded, fold, highest = size_of(messages), 0, 0, 0
    for index, message in enumerate(messages[: max(0, len(messages) - KEPT_MESSAGES)]):
        left, folded, highest = left - message.size, folded + message.size, max(highest, message.seq)
        later = messages[index + 1 :]
        if message.role == MessageRole.AGENT and highest < min(one.seq for one in later):
            fold = index + 1
        if fold and (left <= KEPT_BYTES or folded > FOLDED_BYTES):
            break
    return list(messages[:fold])


def summary_before(turn: Turn) -> Summary | None:
    """The newest summary that leaves the turn's own messages as they were said."""
    newest = next(iter(NEWEST(turn.conversation.summary_id)), None) if turn.conversation.summary_id else None
    first = turn.message or turn.reply
    if newest is None or first is None or newest.until_seq < first.seq:
        return newest
    older = Summary.objects.filter(conversation_id=turn.conversation_id, until_seq__lt=first.seq)
    return older.order_by("-until_seq").first()


def keep_summary(
    conversation: Conversation, *, until_seq: int, text: str, facts: Mapping[str, str], previous: Summary | None
) -> Summary:
    """Store a summary. Facts are carried on: a new one replaces its field's older value, and none is forgotten by a model."""
    known: Mapping[str, str] = previous.facts if previous else {}
    kept = Summary.objects.create(
        conversation=conversation,
        until_seq=until_seq,
        text=_line(text, LONGEST_TEXT),
        facts=_within({field: value for field, value in known.items() if field not in facts} | dict(facts)),
    )
    Conversation.objects.filter(pk=conversation.pk).update(summary=kept)
    return kept


def _within(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts, the oldest left out when all together are too long."""
    lines = [(_line(field, 40), _line(value, LONGEST_FACT)) for field, value in facts.items()]
    while sum(len(f"{field}: {value}".encode()) + 1 for field, value in lines) > MOST_FACTS_BYTES:
        lines.pop(0)
    return dict(lines)


def _line(text: str, longest: int) -> str:
    return clip(" ".join(text.split()), longest=longest)
