"""A customer who came by their link: what their page shows, and what they say on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.http import Http404
from django.utils import timezone

from conversations.models import Channel, Conversation, Message, Persona
from conversations.outcomes import ConversationOver
from conversations.portal.cards import Card, cards_of
from conversations.requests import request_person
from conversations.services import Posted, post_message, start_conversation
from projects.api.problem import ApiError
from projects.models import Project
from projects.tenancy import tenant_tx
from tools.book.finding import Clue, standing_bookings
from tools.book.links import manage_url
from tools.book.telling import booking_words
from tools.models import Escalation
from tools.portal_links import PortalPlace, read_token

MOST_CONVERSATIONS = 5
MOST_MESSAGES = 200
# What staff and the system say among themselves is none of the customer's.
SHOWN = ("user", "agent", "operator")
CHANNELS = {
    Channel.PHONE: "Phone call",
    Channel.WEBCALL: "Web call",
    Channel.CHAT: "Chat",
    Channel.SMS: "Text messages",
    Channel.WHATSAPP: "WhatsApp",
    Channel.TELEGRAM: "Telegram",
}


@dataclass(frozen=True)
class Visit:
    """A customer on their page, inside the tenant's transaction."""

    persona: Persona
    project: Project

    @property
    def business(self) -> str:
        version = self.project.agent_version
        return version.config.business_name if version else self.project.name

    def chat(self) -> Conversation | None:
        """Their newest conversation on this page."""
        chats = Conversation.objects.filter(persona=self.persona, channel=Channel.PORTAL)
        return chats.order_by("-created_at").first()


@dataclass(frozen=True)
class Said:
    """One message of the page."""

    message: Message
    cards: Sequence[Card]


@dataclass(frozen=True)
class Past:
    """A conversation before this page."""

    title: str
    conversation: Conversation
    messages: Sequence[Said]


@dataclass(frozen=True)
class ToCome:
    """A booking to come, in words, with the link of its own page."""

    words: str
    url: str


def open_visit(place: PortalPlace) -> Visit:
    """The page's customer, inside the tenant's transaction. Raises Http404 for one who is no more."""
    persona = Persona.objects.filter(pk=place.persona_id).first()
    if persona is None:
        raise Http404
    project = Project.objects.select_related("agent_version").get(pk=persona.project_id)
    return Visit(persona, project)


def place_of(token: str) -> PortalPlace:
    """Whose page a link opens. Raises Http404 for one that we never signed, or that is over."""
    place = read_token(token)
    if place is None:
        raise Http404
    return place


def past_conversations(visit: Visit) -> list[Past]:
    """The customer's newest conversations by other ways, each with what was said."""
    rows = Conversation.objects.filter(persona=visit.persona).exclude(channel=Channel.PORTAL)
    return [_past(row) for row in rows.order_by("-created_at")[:MOST_CONVERSATIONS]]


def messages_of(conversation: Conversation | None) -> list[Said]:
    """What was said, the newest of it, in order."""
    if conversation is None:
        return []
    rows = Message.objects.filter(conversation=conversation, role__in=SHOWN).order_by("-seq")[:MOST_MESSAGES]
    return [Said(message, cards_of(message.blocks)) for message in reversed(rows)]


def bookings_to_come(visit: Visit) -> list[ToCome]:
    """The customer's own bookings, the soonest first."""
    now = timezone.now()
    found = standing_bookings(visit.project, Clue(persona_id=visit.persona.pk), now=now)
    return [ToCome(booking_words(one, visit.project, now=now), manage_url(one)) for one in found]


def say(visit: Visit, content: str) -> Posted:
    """Post what the customer writes; the first message begins a conversation, and so does one after one that is over.

    Two first messages at once are both of one conversation (M10).
    """
    conversation = visit.chat() or _begin(visit)
    try:
        with tenant_tx(cast(UUID, visit.persona.organization_id)):
            return post_message(conversation, content)
    except ConversationOver:
        return post_message(_start(visit), content)


def ask_for_person(visit: Visit, escalation: str) -> Escalation:
    """The customer pressed the button of their chat: a colleague is asked to take over (W03). Raises ApiError."""
    chat = visit.chat()
    try:
        if chat is None:
            raise Escalation.DoesNotExist
        return request_person(chat, UUID(escalation), {})
    except (ValueError, Escalation.DoesNotExist) as error:
        raise ApiError("not_found", "This was not offered here. Write that you want a person.", status=404) from error


def _begin(visit: Visit) -> Conversation:
    Persona.objects.select_for_update(no_key=True).get(pk=visit.persona.pk)
    return visit.chat() or _start(visit)


def _start(visit: Visit) -> Conversation:
    return start_conversation(
        visit.project,
        channel=Channel.PORTAL,
        external_id=visit.persona.external_id,
        known={},
        metadata={"via": "portal"},
    )


def _past(conversation: Conversation) -> Past:
    title = CHANNELS.get(Channel(conversation.channel), "Conversation")
    return Past(title, conversation, messages_of(conversation))
