"""A customer who came by their link: what their page shows, and what they say on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import cast
from uuid import UUID

from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from conversations.common.contacts import read_contact
from conversations.handover.requests import request_person
from conversations.live.publish import publish_beginning
from conversations.models import Channel, Conversation, Message, Persona
from conversations.portal.cards import Card, cards_of
from conversations.turns.channel_signals import ConversationOver
from conversations.turns.services import Posted, post_message, start_conversation
from projects.common.api_error import ApiError
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.engine.business_state import read_state
from tools.engine.catalogue import why_not
from tools.engine.registry import builtin_tools
from tools.models import Escalation
from tools.services.bookings.finding import BookingLookup, find_upcoming_bookings
from tools.services.bookings.translations import customer_line
from tools.services.signed_links import PortalTarget, manage_url, read_portal_token
from tools.services.verification.services import RECENT, Proof, last_proof, verification_level

MOST_CONVERSATIONS = 5
MOST_MESSAGES = 200
# What staff and the system say among themselves is none of the customer's.
SHOWN = ("user", "agent", "operator")
# What the agent finds out with who a visitor is, by the level that the project asks for (D14).
PROVED_BY = {"basic": "verify_caller", "code": "send_verification_code"}
NAMES = {
    Channel.PHONE: gettext_lazy("Phone call"),
    Channel.WEBCALL: gettext_lazy("Web call"),
    Channel.CHAT: gettext_lazy("Chat"),
    Channel.SMS: gettext_lazy("Text messages"),
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

    @cached_property
    def is_known(self) -> bool:
        """Whether whoever came by the link may see what is the customer's, by the rule of the tools (D14)."""
        return verification_level(self.project) == "none" or (
            self._last_proof is not None and self._last_proof.is_recent
        )

    def chat(self) -> Conversation | None:
        """Their newest conversation on this page.

        Of one in which somebody was verified, whoever isn't any more sees nothing and goes on with nothing: they begin anew.
        """
        chats = Conversation.objects.filter(persona=self.persona, channel=Channel.PORTAL)
        if self._last_proof is not None and not self._last_proof.is_recent:
            chats = chats.filter(created_at__gt=self._last_proof.verified_at + RECENT)
        return chats.order_by("-created_at").first()

    @cached_property
    def _last_proof(self) -> Proof | None:
        """Read once: what is shown and which chat goes on must not differ over a proof that comes between."""
        return last_proof(self.project, persona_id=self.persona.pk)


@dataclass(frozen=True)
class PortalMessage:
    """One message of the page."""

    message: Message
    cards: Sequence[Card]


@dataclass(frozen=True)
class Past:
    """A conversation before this page."""

    conversation: Conversation
    messages: Sequence[PortalMessage]

    @property
    def name(self) -> str:
        """The channel's name in the active language."""
        return str(NAMES.get(Channel(self.conversation.channel), gettext("Conversation")))


@dataclass(frozen=True)
class Transcript:
    """What was said: in the page's chat, if there is one, and before."""

    chat: Conversation | None
    said: Sequence[PortalMessage]
    past: Sequence[Past]


@dataclass(frozen=True)
class ToCome:
    """A booking to come, in words, with the link of its own page."""

    words: str
    url: str


def open_visit(place: PortalTarget) -> Visit:
    """The page's customer, inside the tenant's transaction. Raises Http404 for one who is no more."""
    persona = Persona.objects.filter(pk=place.persona_id).first()
    if persona is None:
        raise Http404
    project = Project.objects.select_related("agent_version").get(pk=persona.project_id)
    return Visit(persona, project)


def place_of(token: str) -> PortalTarget:
    """Whose page a link opens. Raises Http404 for one that we never signed, or that is over."""
    place = read_portal_token(token)
    if place is None:
        raise Http404
    return place


def past_conversations(visit: Visit) -> list[Conversation]:
    """The customer's newest conversations by other ways, for one who is known."""
    if not visit.is_known:
        return []
    rows = Conversation.objects.filter(persona=visit.persona).exclude(channel=Channel.PORTAL)
    return list(rows.order_by("-created_at")[:MOST_CONVERSATIONS])


def transcript_of(visit: Visit) -> Transcript:
    """What the page shows of what was said, in one statement for all conversations."""
    chat, past = visit.chat(), past_conversations(visit)
    said = _messages_of([*([chat] if chat else []), *past])
    return Transcript(chat, said[chat.pk] if chat else [], [Past(one, said[one.pk]) for one in past])


def _messages_of(conversations: Collection[Conversation]) -> Mapping[UUID, list[PortalMessage]]:
    """The newest messages of each, in order."""
    newest = Window(RowNumber(), partition_by=F("conversation_id"), order_by=F("seq").desc())
    rows = Message.objects.filter(conversation__in=conversations, role__in=SHOWN).annotate(place=newest)
    said: dict[UUID, list[PortalMessage]] = defaultdict(list)
    for message in rows.filter(place__lte=MOST_MESSAGES).order_by("conversation_id", "seq"):
        said[message.conversation_id].append(PortalMessage(message, cards_of(message.blocks)))
    return said


def bookings_to_come(visit: Visit) -> list[ToCome]:
    """The customer's own bookings, the soonest first, for one who is known; in the active language."""
    if not visit.is_known:
        return []
    now = timezone.now()
    found = find_upcoming_bookings(visit.project, _clue(visit), now=now)
    return [ToCome(customer_line(one, visit.project, now=now), manage_url(one)) for one in found]


def _clue(visit: Visit) -> BookingLookup:
    """What is theirs: what they booked; and, for somebody who has proved who they are, what is under their name and the number on
    file, as the tools find it (D14). A link alone, where nobody has to prove anything, opens no more than their own.
    """
    mine = BookingLookup(persona_id=visit.persona.pk)
    contact = read_contact(visit.persona.pk) if verification_level(visit.project) != "none" else None
    if contact is None:
        return mine
    return replace(mine, phone=contact.phone_on_file, name=contact.name)


def proof_asked_of(visit: Visit) -> str:
    """How somebody who isn't known proves who they are: the project's level; "" where the agent has no tool for it (F08)."""
    tool = PROVED_BY.get(verification_level(visit.project))
    if visit.is_known or tool is None:
        return ""
    closed = why_not(builtin_tools()[tool], read_state(visit.project, channel=Channel.PORTAL))
    return "" if closed else verification_level(visit.project)


def say(visit: Visit, content: str) -> Posted:
    """Post what the customer writes; the first message begins a conversation, and so does one after one that is over.

    Two first messages at once are both of one conversation (M10).
    """
    conversation = visit.chat() or _begin(visit)
    try:
        with tenant_tx(cast(UUID, visit.persona.organization_id)):
            return post_message(conversation.pk, content)
    except ConversationOver:
        return post_message(_begin(visit, after=conversation).pk, content)


def ask_for_person(visit: Visit, escalation: str) -> Escalation:
    """The customer pressed the button of their chat: a colleague is asked to take over (W03). Raises ApiError."""
    chat = visit.chat()
    try:
        if chat is None:
            raise Escalation.DoesNotExist
        return request_person(chat, UUID(escalation), {})
    except (ValueError, Escalation.DoesNotExist) as error:
        message = gettext("This button no longer works. Write that you want a person.")
        raise ApiError("not_found", message, status=404) from error


def _begin(visit: Visit, *, after: Conversation | None = None) -> Conversation:
    Persona.objects.select_for_update(no_key=True).get(pk=visit.persona.pk)
    newest = visit.chat()
    return _start(visit) if newest is None or newest == after else newest


def _start(visit: Visit) -> Conversation:
    transaction.on_commit(partial(publish_beginning, visit.persona.pk))
    return start_conversation(
        visit.project,
        channel=Channel.PORTAL,
        external_id=visit.persona.external_id,
        known={},
        metadata={"via": "portal"},
    )
