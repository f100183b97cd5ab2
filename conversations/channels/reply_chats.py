"""The chats in which staff can answer a customer who writes on several channels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max

from conversations.channels.registry import PROVIDERS
from conversations.channels.window import is_window_open
from conversations.models import Chat, Conversation, ConversationStatus, Message, MessageRole
from projects.models import Source

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
    chat = Chat.objects.filter(conversation=conversation).order_by("-created_at").first()
    return chat is None or is_window_open(chat)


def _others(conversation: Conversation) -> list[Chat]:
    kinds = Source.objects.filter(project_id=conversation.project_id, kind__in=PROVIDERS).values_list("kind", flat=True)
    chats = Chat.objects.filter(
        project_id=conversation.project_id,
        conversation__persona_id=conversation.persona_id,
        kind__in=list(kinds),
        opted_out_at=None,
    )
    chats = chats.exclude(conversation=conversation).exclude(conversation__status=ConversationStatus.TRANSFERRED)
    return list(chats.select_related("conversation").order_by("-conversation__updated_at")[:MOST_CHATS])


def _last_heard(ids: list[UUID]) -> dict[UUID, datetime]:
    said = Message.objects.filter(conversation_id__in=ids, role=MessageRole.USER)
    return dict(said.values_list("conversation_id").annotate(Max("created_at")))
