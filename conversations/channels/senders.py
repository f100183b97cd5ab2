"""The customer behind a sender. Only what the provider vouches for, a number or an address, links two chats."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from conversations.channels.items import Sender
from conversations.common.merged import find_persona
from conversations.customers.search import customers_on_file
from conversations.models import Chat, Persona
from projects.models import Project

MOST_CHATS = 10


def external_id_of(sender: Sender, chat: Chat, project: Project) -> str:
    """The identifier of the chat's customer: of who has it already, has another chat with this contact, or has the
    contact on file from staff or the API; else a new one, the same for two first messages at once.
    """
    found = _chatting(chat, project) or _on_file(sender, project)
    if found is not None:
        return found.external_id
    return (f"contact:{sender.contact}" if sender.contact else f"{chat.kind}:{sender.external_id}")[:200]


def _chatting(chat: Chat, project: Project) -> Persona | None:
    """The customer of this chat, or of the newest other one with its contact."""
    chats = Chat.objects.filter(project=project, conversation__isnull=False)
    own = chats.filter(pk=chat.pk)
    others = chats.filter(contact=chat.contact).exclude(pk=chat.pk).order_by("-created_at") if chat.contact else own
    for persona_id in [*_customers_of(own), *_customers_of(others)]:
        if (found := find_persona(project.pk, persona_id)) is not None:
            return found
    return None


def _customers_of(chats: QuerySet[Chat]) -> list[UUID]:
    return list(chats.values_list("conversation__persona_id", flat=True)[:MOST_CHATS])


def _on_file(sender: Sender, project: Project) -> Persona | None:
    """The only customer with this contact on file. What somebody merely said in a chat is not on file."""
    if not sender.contact:
        return None
    found = list(customers_on_file(project, phone=sender.phone or None, email=sender.email or None)[:2])
    return found[0] if len(found) == 1 else None
