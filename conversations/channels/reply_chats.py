"""The chats in which staff can answer a customer who writes on several channels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max, QuerySet

from conversations.channels.registry import PROVIDERS
from conversations.channels.window import is_window_open
from conversations.models import Chat, Conversation, ConversationStatus, Message, MessageRole
from projects.models import Source
from tenancy.prepared_queries import PreparedQuery

MOST_CHATS = 10


@dataclass(frozen=True)
class ReplyChat:
    """A conversation in which the customer can be answered. `is_last` marks the one that they wrote in last, `is_open`
    one that takes free text now.
    """

    conversation_id: UUID
    channel: str
    is_last: bool
    is_open: bool


def reply_chats(conversation: Conversation) -> list[ReplyChat]:
    """The conversation and the customer's other chats, the last used first. Empty if there is no other chat.

    A chat counts if its messenger is connected and the customer hasn't opted out there.
    """
    others = _others(conversation)
    if not others:
        return []
    rows = {conversation.pk: conversation, **{one.conversation.pk: one.conversation for one in others}}
    is_open = {one.conversation.pk: is_window_open(one) for one in others}
    is_open[conversation.pk] = takes_text(conversation)
    heard = _last_heard(list(rows))
    ids = sorted(rows, key=lambda id: heard.get(id) or rows[id].created_at, reverse=True)
    return [ReplyChat(id, rows[id].get_channel_display(), id == ids[0], is_open[id]) for id in ids]


def takes_text(conversation: Conversation) -> bool:
    """False while only a template may be sent to the conversation's chat."""
    chats = _CHATS(conversation.pk)
    return not chats or is_window_open(chats[0])


def _others(conversation: Conversation) -> list[Chat]:
    return _OTHERS(conversation.project_id, conversation.persona_id, conversation.pk)


def _other_chats(project: UUID, persona: UUID, conversation: UUID) -> QuerySet[Chat]:
    kinds = Source.objects.filter(project_id=project, kind__in=list(PROVIDERS)).values("kind")
    chats = Chat.objects.filter(project_id=project, conversation__persona_id=persona, kind__in=kinds, opted_out_at=None)
    chats = chats.exclude(conversation_id=conversation).exclude(conversation__status=ConversationStatus.TRANSFERRED)
    return chats.select_related("conversation").order_by("-conversation__updated_at")[:MOST_CHATS]


_OTHERS = PreparedQuery(_other_chats, kinds=(UUID, UUID, UUID))
# The newest chat of a conversation.
_CHATS = PreparedQuery(
    lambda conversation: Chat.objects.filter(conversation_id=conversation).order_by("-created_at")[:1], kinds=(UUID,)
)


def _last_heard(ids: list[UUID]) -> dict[UUID, datetime]:
    said = Message.objects.filter(conversation_id__in=ids, role=MessageRole.USER)
    return dict(said.values_list("conversation_id").annotate(Max("created_at")))
