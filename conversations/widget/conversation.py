"""A visitor's conversation: found, started with the first message, and continued."""

from __future__ import annotations

from django.db.models import Q

from conversations.models import Channel, Conversation, Persona
from conversations.turns.channel_signals import ConversationOver
from conversations.turns.services import Posted, post_message, start_conversation
from conversations.widget.visitors import Visitor
from projects.models import Project
from tenancy.scope import current_organization_id, tenant_tx


def find_conversation(project: Project, visitor: Visitor) -> Conversation | None:
    """The visitor's newest chat. A signed-in shopper's chats are hidden from others in the same browser."""
    own = Q(shopper__isnull=True)
    if visitor.shopper:
        own |= Q(shopper__wp_user_id=visitor.shopper["wp_user_id"])
    chats = Conversation.objects.filter(own, project=project, channel=Channel.CHAT)
    return chats.filter(persona__external_id__in=visitor.names).order_by("-pk").first()


def attach_shopper(conversation: Conversation, visitor: Visitor) -> None:
    """Continue the conversation as the shopper who signed in meanwhile."""
    if visitor.shopper and conversation.shopper != visitor.shopper:
        Conversation.objects.filter(pk=conversation.pk).update(shopper=dict(visitor.shopper))


def post_visitor_message(project: Project, visitor: Visitor, content: str) -> Posted:
    """Post a visitor's message. It begins a new conversation if there is none or the last one is closed.

    Two concurrent first messages end up in the same conversation.
    """
    conversation = find_conversation(project, visitor) or _start_once(project, visitor)
    attach_shopper(conversation, visitor)
    try:
        with tenant_tx(current_organization_id()):
            return post_message(conversation.pk, content)
    except ConversationOver:
        if conversation.operator_id is not None:
            raise
        return post_message(_start_once(project, visitor, after=conversation).pk, content)


def _start_once(project: Project, visitor: Visitor, *, after: Conversation | None = None) -> Conversation:
    """Start a conversation, unless a concurrent message has started one since `after`."""
    persona, _ = Persona.objects.get_or_create(project=project, external_id=visitor.names[0])
    Persona.objects.select_for_update(no_key=True).get(pk=persona.pk)
    newest = find_conversation(project, visitor)
    return _start(project, visitor) if newest is None or newest == after else newest


def _start(project: Project, visitor: Visitor) -> Conversation:
    known = {name: visitor.shopper[name] for name in ("name", "email") if visitor.shopper.get(name)}
    started = start_conversation(
        project, channel=Channel.CHAT, external_id=visitor.names[0], known=known, metadata={"via": "widget"}
    )
    attach_shopper(started, visitor)
    return started
