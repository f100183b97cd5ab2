"""A customer's portal session: what the page shows, and what the customer submits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
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
from conversations.handover.customer_files import post_with_files
from conversations.handover.requests import request_person
from conversations.inbox.ratings import rate
from conversations.live.archive import read_messages
from conversations.live.client import publish_beginning
from conversations.models import Channel, Conversation, Message, MessageRole, Persona
from conversations.portal.cards import PortalMessage, build_cards
from conversations.turns.admission import admit_turn
from conversations.turns.channel_signals import ConversationOver
from conversations.turns.conversation_end import OVER_AFTER
from conversations.turns.services import Posted, start_conversation
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.common.phones import normalize_phone
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.engine.business_state import read_state
from tools.engine.catalogue import why_not
from tools.engine.registry import builtin_tools
from tools.models import Escalation
from tools.services.bookings.finding import BookingLookup, find_upcoming_bookings
from tools.services.bookings.search import config_of
from tools.services.bookings.translations import customer_line
from tools.services.signed_links import PortalTarget, manage_url, read_portal_token
from tools.services.verification.services import RECENT, Proof, last_proof, verification_level

MOST_CONVERSATIONS = 5
MOST_MESSAGES = 200
# Messages of other roles are internal.
SHOWN = ("user", "agent", "operator")
# The tool that verifies a customer, by the level the project requires.
VERIFICATION_TOOLS = {"basic": "verify_caller", "code": "send_verification_code"}
NAMES = {
    Channel.PHONE: gettext_lazy("Phone call"),
    Channel.WEBCALL: gettext_lazy("Web call"),
    Channel.CHAT: gettext_lazy("Chat"),
    Channel.SMS: gettext_lazy("Text messages"),
    Channel.WHATSAPP: "WhatsApp",
    Channel.TELEGRAM: "Telegram",
    Channel.EMAIL: gettext_lazy("E-mail"),
}


@dataclass(frozen=True)
class Visit:
    """A customer on their portal page, inside the tenant's transaction."""

    persona: Persona
    project: Project

    @property
    def business(self) -> str:
        version = self.project.agent_version
        return version.config.business_name if version else self.project.name

    @cached_property
    def is_known(self) -> bool:
        """True if the visitor may see the customer's data, by the same rule as the tools."""
        return verification_level(self.project) == "none" or (
            self._last_proof is not None and self._last_proof.is_recent
        )

    @property
    def names(self) -> list[str]:
        """The `external_id`s of the customer, and of those merged into them."""
        return [self.persona.external_id, *self.persona.absorbed.values_list("external_id", flat=True)]

    def chat(self) -> Conversation | None:
        """The customer's newest conversation in the portal.

        If the visitor's verification has expired, chats from before its expiry are hidden, and a new message begins a
        new one.
        """
        chats = Conversation.objects.filter(persona=self.persona, channel=Channel.PORTAL)
        if self.expired_at is not None:
            chats = chats.filter(created_at__gt=self.expired_at)
        return chats.order_by("-created_at").first()

    @property
    def expired_at(self) -> datetime | None:
        """The time since which the visitor may be somebody else: the end of a verification that wasn't renewed."""
        proof = self._last_proof
        return proof.verified_at + RECENT if proof is not None and not proof.is_recent else None

    @cached_property
    def _last_proof(self) -> Proof | None:
        """Read once per request: a verification in between must not split what is shown from which chat continues."""
        return last_proof(self.project, persona_id=self.persona.pk)


@dataclass(frozen=True)
class PastConversation:
    """A conversation on another channel."""

    conversation: Conversation
    messages: Sequence[PortalMessage]

    @property
    def name(self) -> str:
        """The channel's name in the active language."""
        return str(NAMES.get(Channel(self.conversation.channel), gettext("Conversation")))


@dataclass(frozen=True)
class Transcript:
    """The current chat's messages, and past conversations."""

    chat: Conversation | None
    messages: Sequence[PortalMessage]
    past: Sequence[PastConversation]


@dataclass(frozen=True)
class UpcomingBooking:
    """An upcoming booking as text, with the link to its page."""

    words: str
    url: str


def open_visit(place: PortalTarget) -> Visit:
    """Load the link's customer, or the one they were merged into, inside the tenant's transaction. Raises Http404 for a
    deleted customer.
    """
    found = Persona.objects.filter(pk=place.persona_id, erased_at=None).select_related("merged_into").first()
    if found is None:
        raise Http404
    persona = found.merged_into or found
    project = Project.objects.select_related("agent_version").get(pk=persona.project_id)
    return Visit(persona, project)


def place_of(token: str) -> PortalTarget:
    """The customer that a link belongs to. Raises Http404 for an invalid or expired link."""
    place = read_portal_token(token)
    if place is None:
        raise Http404
    return place


def past_conversations(visit: Visit) -> list[Conversation]:
    """A verified customer's newest conversations on other channels."""
    if not visit.is_known:
        return []
    rows = Conversation.objects.filter(persona=visit.persona).exclude(channel=Channel.PORTAL)
    return list(rows.order_by("-created_at")[:MOST_CONVERSATIONS])


def transcript_of(visit: Visit) -> Transcript:
    """Everything the page shows of past messages, read in one query."""
    chat, past = visit.chat(), past_conversations(visit)
    by_conversation = _messages_of([*([chat] if chat else []), *past])
    return Transcript(
        chat, by_conversation[chat.pk] if chat else [], [PastConversation(one, by_conversation[one.pk]) for one in past]
    )


def _messages_of(conversations: Collection[Conversation]) -> Mapping[UUID, list[PortalMessage]]:
    """The newest messages of each conversation, in order."""
    newest = Window(RowNumber(), partition_by=F("conversation_id"), order_by=F("seq").desc())
    rows = Message.objects.filter(conversation__in=conversations, role__in=SHOWN).annotate(place=newest)
    by_conversation: dict[UUID, list[PortalMessage]] = defaultdict(list)
    stored = list(rows.filter(place__lte=MOST_MESSAGES).order_by("conversation_id", "seq"))
    archived = [one for one in conversations if one.archived_at is not None]
    old = [message for one in archived for message in _shown(one)[-MOST_MESSAGES:]]
    read = {one.pk for one in archived}
    for message in (*(one for one in stored if one.conversation_id not in read), *old):
        by_conversation[message.conversation_id].append(PortalMessage(message, build_cards(message.blocks)))
    return by_conversation


def _shown(conversation: Conversation) -> list[Message]:
    return [message for message in read_messages(conversation) if message.role in SHOWN]


def asks_for_rating(visit: Visit, transcript: Transcript) -> bool:
    """True if the customer may be asked to rate the chat: somebody answered, and it is over or has been silent for long."""
    chat, last = transcript.chat, transcript.messages[-1].message if transcript.messages else None
    if chat is None or last is None or not config_of(visit.project).ask_for_ratings:
        return False
    is_silent = timezone.now() - last.created_at > OVER_AFTER
    return (chat.is_over or is_silent) and chat.rated_to < chat.last_message and _is_answered(transcript)


def _is_answered(transcript: Transcript) -> bool:
    return any(one.message.role != MessageRole.USER for one in transcript.messages)


def rate_chat(visit: Visit, *, score: int, comment: str) -> Conversation:
    """Store the customer's rating of the chat. Raises ApiError."""
    chat = visit.chat()
    if chat is None:
        raise WrongState
    return rate(chat.pk, score=score, comment=comment)


def upcoming_bookings(visit: Visit) -> list[UpcomingBooking]:
    """A verified customer's upcoming bookings, soonest first, in the active language."""
    if not visit.is_known:
        return []
    now = timezone.now()
    found = find_upcoming_bookings(visit.project, _clue(visit), now=now)
    return [UpcomingBooking(customer_line(one, visit.project, now=now), manage_url(one)) for one in found]


def _clue(visit: Visit) -> BookingLookup:
    """The search for the customer's bookings.

    Bookings made by the customer always match. A verified customer also sees those under their name and the phone
    number on file, as with the tools. A link alone, in a project without verification, opens only the former.
    """
    mine = BookingLookup(persona_id=visit.persona.pk)
    contact = read_contact(visit.persona.pk) if verification_level(visit.project) != "none" else None
    if contact is None:
        return mine
    proven = normalize_phone(contact.phone_on_file, region=config_of(visit.project).region)
    return replace(mine, name=contact.name, proven_phone=proven, is_own_only=True)


def required_proof(visit: Visit) -> str:
    """The verification level to ask an unverified customer for; "" if the agent has no tool for it."""
    tool = VERIFICATION_TOOLS.get(verification_level(visit.project))
    if visit.is_known or tool is None:
        return ""
    closed = why_not(builtin_tools()[tool], read_state(visit.project, channel=Channel.PORTAL))
    return "" if closed else verification_level(visit.project)


def post_customer_message(visit: Visit, content: str, *, attachments: Sequence[UUID]) -> Posted:
    """Post a customer's message. It begins a new conversation if there is none or the last one is closed. Files from
    before an expired verification are refused.

    Two concurrent first messages end up in the same conversation.
    """
    admit_turn(visit.project)
    conversation = visit.chat() or _start_once(visit)
    senders = visit.names if attachments else ()
    post = partial(
        post_with_files, content=content, attachments=attachments, senders=senders, uploaded_after=visit.expired_at
    )
    try:
        with tenant_tx(cast(UUID, visit.persona.organization_id)):
            return post(conversation.pk)
    except Conversation.DoesNotExist:
        # Deleted meanwhile.
        return post(_start_once(visit).pk)
    except ConversationOver:
        return post(_start_once(visit, after=conversation).pk)


def ask_for_person(visit: Visit, escalation: str) -> Escalation:
    """Ask a colleague to take over, because the customer pressed the chat's button. Raises ApiError."""
    chat = visit.chat()
    try:
        if chat is None:
            raise Escalation.DoesNotExist
        return request_person(chat, UUID(escalation), {})
    except (ValueError, Escalation.DoesNotExist) as error:
        message = gettext("This button no longer works. Write that you want to talk to a person.")
        raise ApiError("not_found", message, status=404) from error


def _start_once(visit: Visit, *, after: Conversation | None = None) -> Conversation:
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
