"""Quality scores of a conversation, and recovery from low ones."""

from __future__ import annotations

from conversations.live.event_log import ConversationLog
from conversations.models import Turn
from conversations.prompts.observer import Quality
from conversations.turns.flags import low_score

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
