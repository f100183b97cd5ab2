"""Input for the tool caller, from a stored turn or from a conversation sent by the client."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext

from conversations.context.relayed import relayed_words
from conversations.context.summaries import summary_before
from conversations.context.transcript import as_line, read_transcript
from conversations.models import Conversation, Turn, TurnStatus
from projects.common.api_error import Unprocessable
from projects.models import Project
from tools.engine.skills.detect import Exchange, TranscriptLine
from tools.models import Effect, EffectOrigin

# Our roles, by the labels commonly used for them.
SPEAKERS = {
    "agent": "agent",
    "assistant": "agent",
    "bot": "agent",
    "customer": "customer",
    "user": "customer",
    "operator": "operator",
    "system": "system",
}
SPEAKER = re.compile(rf"^\s*({'|'.join(SPEAKERS)})\s*:\s*", re.IGNORECASE)
MOST_LINES = 200


def exchange_after(turn: Turn) -> Exchange:
    """A replied turn as its tool caller read it. Needs the conversation, message and reply selected."""
    summary = summary_before(turn)
    messages = read_transcript(turn, after=summary.until_seq if summary else 0, is_replied=True)
    lines = [as_line(message) for message in messages]
    effects = Effect.objects.filter(conversation_id=turn.conversation_id).exclude(origin=EffectOrigin.CHANNEL)
    if turn.reply is not None:
        effects = effects.filter(created_at__lte=turn.reply.created_at)
    return Exchange(
        answer=turn.reply.content if turn.reply else "",
        lines=[TranscriptLine(role=line.role, content=line.content) for line in lines],
        summary=summary.as_text if summary else "",
        relayed=relayed_words(effects.order_by("created_at")),
    )


def latest_turn(project: Project, conversation_id: UUID) -> Turn:
    """The latest replied turn of a conversation. Raises Http404 if the conversation doesn't exist, ApiError if it has
    no reply.
    """
    if not Conversation.objects.filter(project=project, pk=conversation_id).exists():
        raise Http404
    turn = replied_turns(project).filter(conversation_id=conversation_id).order_by("-seq").first()
    if turn is None:
        raise Unprocessable(
            "no_reply", gettext("The agent has not replied in this conversation yet."), field="conversation"
        )
    return turn


def replied_turns(project: Project) -> QuerySet[Turn]:
    """The project's replied turns, with the relations `exchange_after` needs."""
    rows = Turn.objects.select_related("conversation__summary", "message", "reply")
    return rows.filter(conversation__project=project, status=TurnStatus.DONE, reply__isnull=False)


def written_exchange(lines: Iterable[TranscriptLine], *, answer: str, summary: str = "") -> Exchange:
    """An exchange from the client's lines. Without `answer`, the agent's last line is the answer. Raises ApiError if
    there is none.
    """
    spoken = list(lines)
    if answer:
        spoken = [*spoken, TranscriptLine(role="agent", content=answer)]
    while spoken and spoken[-1].role != "agent":
        spoken.pop()
    if not spoken:
        raise Unprocessable(
            "no_reply", gettext("The conversation has no message from the agent."), field="conversation"
        )
    return Exchange(answer=spoken[-1].content, lines=spoken, summary=summary)


def read_lines(conversation: Any) -> list[TranscriptLine]:
    """Parse a conversation given as text (one `agent: …` per line) or as a list of `{"role", "content"}`. Raises
    ApiError.
    """
    if isinstance(conversation, str):
        return _lines_of_text(conversation)
    if not isinstance(conversation, list):
        _refuse("must be a conversation id, a list of lines or text")
    if len(conversation) > MOST_LINES:
        _refuse(f"has {len(conversation)} lines; the limit is {MOST_LINES}")
    return [_line(line) for line in conversation]


def _lines_of_text(text: str) -> list[TranscriptLine]:
    """A line without a speaker continues the previous speaker's message."""
    turns: list[tuple[str, list[str]]] = []
    for row in text.splitlines():
        if speaker := SPEAKER.match(row):
            turns.append((SPEAKERS[speaker[1].lower()], [row[speaker.end() :]]))
        elif turns:
            turns[-1][1].append(row)
        elif row.strip():
            turns.append(("customer", [row]))
    return [TranscriptLine(role=role, content="\n".join(rows).strip()) for role, rows in turns[-MOST_LINES:]]


def _line(line: Any) -> TranscriptLine:
    role = line.get("role") if isinstance(line, Mapping) else None
    content = line.get("content") if isinstance(line, Mapping) else None
    if not isinstance(role, str) or role.lower() not in SPEAKERS or not isinstance(content, str):
        _refuse('must contain lines such as {"role": "agent", "content": "I\'ll send it."}')
    return TranscriptLine(role=SPEAKERS[str(role).lower()], content=str(content))


def _refuse(problem: str) -> None:
    raise Unprocessable("invalid", f"conversation {problem}.", field="conversation")
