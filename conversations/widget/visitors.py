"""Widget visitors, identified by a signed token. Nothing is stored about somebody who only views a page."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.core import signing
from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac

from conversations.calls.web_calls import CallsOff, offers_calls, start_web_call
from conversations.common.payloads import AttachmentPayload
from conversations.handover.customer_files import post_with_files, upload_for_next_message
from conversations.models import Call, Channel, Conversation, Persona
from conversations.turns.channel_signals import ConversationOver, is_closed
from conversations.turns.services import Posted, start_conversation
from conversations.widget.errors import NoVisitor
from projects.models import Project, Widget
from tenancy.scope import current_organization_id, tenant_tx

SALT = "makegood.widget.visitor"
RANGE_SALT = "makegood.widget.range"
DAYS = 30
LONGEST = 4_000


@dataclass(frozen=True)
class Visitor:
    """A visitor. `name` identifies them while signed out; `shopper` holds the shop's claims, valid until `until`."""

    name: str
    shopper: Mapping[str, Any] = field(default_factory=dict)
    until: int = 0

    @property
    def names(self) -> list[str]:
        """The external ids of the customers this visitor may be; new conversations use the first."""
        return [f"shopper:{self.shopper['wp_user_id']}", self.name] if self.shopper else [self.name]


def new_visitor() -> Visitor:
    return Visitor(f"visitor:{secrets.token_urlsafe(32)}", until=_days_from_now(DAYS))


def sign(visitor: Visitor, widget: Widget) -> str:
    """The visitor's token, for the widget's project and key; valid for 30 days or as long as the shop's sign-in."""
    payload = {"name": visitor.name, "shopper": dict(visitor.shopper), "until": visitor.until}
    return signing.dumps({**payload, **_bound_to(widget)}, salt=SALT, compress=True)


def read_visitor(token: str, widget: Widget) -> Visitor:
    """The visitor in a token. Raises NoVisitor if it is forged, expired, or another widget's."""
    if not token or len(token) > LONGEST:
        raise NoVisitor
    try:
        payload = signing.loads(token, salt=SALT, max_age=DAYS * 86_400)
    except signing.BadSignature as error:
        raise NoVisitor from error
    if {name: payload.get(name) for name in _bound_to(widget)} != _bound_to(widget) or payload["until"] <= time.time():
        raise NoVisitor
    return Visitor(payload["name"], payload["shopper"], payload["until"])


def renewed(visitor: Visitor) -> Visitor:
    """The same visitor, valid for 30 days from now."""
    return Visitor(visitor.name, until=_days_from_now(DAYS))


def signed_in(visitor: Visitor, claims: Mapping[str, Any], *, until: int) -> Visitor:
    """The visitor, signed in by the shop. Another person's chats in the same browser are not carried over."""
    known = visitor.shopper.get("wp_user_id", claims["wp_user_id"])
    name = visitor.name if known == claims["wp_user_id"] else new_visitor().name
    return Visitor(name, claims, min(until, _days_from_now(DAYS)))


def _bound_to(widget: Widget) -> dict[str, str]:
    return {"project": str(widget.project_id), "key": widget.public_key}


def _days_from_now(days: int) -> int:
    return int(time.time()) + days * 86_400


def find_conversation(project: Project, visitor: Visitor) -> Conversation | None:
    """The visitor's newest chat. A signed-in shopper's chats are hidden from others in the same browser."""
    return _own(project, visitor).filter(channel=Channel.CHAT).order_by("-pk").first()


def find_call(project: Project, visitor: Visitor, conversation_id: str | None) -> Conversation | None:
    """The conversation of this call, if it is the visitor's own."""
    try:
        wanted = UUID(conversation_id or "")
    except ValueError:
        return None
    return _own(project, visitor).filter(channel=Channel.WEBCALL, pk=wanted).first()


def _own(project: Project, visitor: Visitor) -> QuerySet[Conversation]:
    """The visitor's conversations."""
    own = Q(shopper__isnull=True)
    if visitor.shopper:
        own |= Q(shopper__wp_user_id=visitor.shopper["wp_user_id"])
    personas = Persona.objects.filter(project=project, external_id__in=visitor.names)
    ids = dict(personas.values_list("pk", "merged_into_id"))
    # If the visitor was merged into a customer, only the visitor's own chats are shown, not that customer's.
    begun = Q(persona_id__in=[id for id, target in ids.items() if target is None], begun_as_id=None)
    merged = Q(persona_id__in=[target for target in ids.values() if target], begun_as_id__in=list(ids))
    return Conversation.objects.filter(own, begun | merged, project=project)


def attach_shopper(conversation: Conversation, visitor: Visitor) -> None:
    """Continue the conversation as the shopper who signed in meanwhile."""
    if visitor.shopper and conversation.shopper != visitor.shopper:
        Conversation.objects.filter(pk=conversation.pk).update(shopper=dict(visitor.shopper), visitor="")


def upload_visitor_file(project: Project, visitor: Visitor, content: bytes, *, name: str) -> AttachmentPayload:
    """Store a file for the visitor's next message. Raises ApiError."""
    conversation = find_conversation(project, visitor)
    if conversation is not None and is_closed(conversation) and conversation.operator_id is not None:
        raise ConversationOver
    return upload_for_next_message(project, visitor.names[0], content, name=name)


def post_visitor_message(
    project: Project, visitor: Visitor, content: str, *, address: str, attachments: Sequence[UUID]
) -> Posted:
    """Post a visitor's message. It begins a new conversation if there is none or the last one is closed.

    Two concurrent first messages end up in the same conversation. `address` is the range that the request came from.
    """
    conversation = find_conversation(project, visitor) or _start_once(project, visitor, address=address)
    attach_shopper(conversation, visitor)
    try:
        with tenant_tx(current_organization_id()):
            return post_with_files(conversation.pk, content, attachments, senders=visitor.names)
    except Conversation.DoesNotExist:
        return post_visitor_message(project, visitor, content, address=address, attachments=attachments)
    except ConversationOver:
        if conversation.operator_id is not None:
            raise
        begun = _start_once(project, visitor, address=address, after=conversation)
        return post_with_files(begun.pk, content, attachments, senders=visitor.names)


def _start_once(project: Project, visitor: Visitor, *, address: str, after: Conversation | None = None) -> Conversation:
    """Start a conversation, unless a concurrent message has started one since `after`."""
    own = Persona.objects.filter(project=project, external_id=visitor.names[0])
    # They may be erased meanwhile.
    while own.select_for_update(no_key=True, of=("self",)).values_list("pk").first() is None:
        Persona.objects.get_or_create(project=project, external_id=visitor.names[0])
    newest = find_conversation(project, visitor)
    return _start(project, visitor, address=address) if newest is None or newest == after else newest


def start_visitor_call(project: Project, visitor: Visitor, *, offer: str, address: str) -> Call:
    """Start a call of the visitor. `address` is the range that the request came from. Raises ApiError."""
    if not offers_calls(project):
        raise CallsOff
    return start_web_call(_start(project, visitor, address=address, channel=Channel.WEBCALL), offer=offer)


def _start(project: Project, visitor: Visitor, *, address: str, channel: Channel = Channel.CHAT) -> Conversation:
    known = {name: visitor.shopper[name] for name in ("name", "email") if visitor.shopper.get(name)}
    started = start_conversation(
        project,
        channel=channel,
        external_id=visitor.names[0],
        known=known,
        metadata={"via": "widget"},
        visitor="" if visitor.shopper else _range_digest(project, address),
    )
    attach_shopper(started, visitor)
    return started


def _range_digest(project: Project, address: str) -> str:
    """The address range of an anonymous visitor as it is stored: its digest, which tells ranges apart and no more."""
    return salted_hmac(RANGE_SALT, f"{project.pk}:{address}", algorithm="sha256").hexdigest()[:16]
