"""Conversation rows as API payloads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import cast
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from conversations.common.attachment_links import attachment_url, customer_file_url
from conversations.common.consents import consent_history
from conversations.common.payloads import (
    AttachmentPayload,
    ConsentPayload,
    ConversationPayload,
    CustomerPayload,
    DirectivesPayload,
    MessagePayload,
    OperatorPayload,
    PersonaPayload,
    RatingPayload,
    ReceiptPayload,
    StoredAttachment,
    WaitPayload,
    WrittenPayload,
)
from conversations.common.queries import FIELDS, WAITS, open_waits
from conversations.models import (
    ConsentChange,
    Conversation,
    Directives,
    Message,
    MessageRole,
    Persona,
    PersonaField,
    Receipt,
    Wait,
)
from projects.common.presenters import stamp
from projects.common.stored_sentences import translated
from tenancy.prepared_queries import PreparedQuery
from tools.models import ReceiptState

# A message has come as far as its slowest part: the first of these states that a part has.
PROGRESS = (
    ReceiptState.FAILED,
    ReceiptState.UNKNOWN,
    ReceiptState.ACCEPTED,
    ReceiptState.SENT,
    ReceiptState.DELIVERED,
    ReceiptState.READ,
)


def message_payload(message: Message) -> MessagePayload:
    payload: MessagePayload = {
        "id": str(message.pk),
        "seq": message.seq,
        "role": message.role,
        "content": message.content,
        "blocks": message.blocks,
        "attachments": [_file_of(message, one) for one in message.attachments],
        "turn": str(message.turn_id) if message.turn_id else None,
        "created_at": stamp(message.created_at),
    }
    if message.role == MessageRole.OPERATOR:
        payload["author"] = message.author
    return payload


def messages_with_receipts(conversation: Conversation) -> Callable[[Message], MessagePayload]:
    """A presenter of the conversation's messages, with how far each came on its messenger."""
    receipts: dict[UUID, list[Receipt]] = defaultdict(list)
    for one in Receipt.objects.filter(conversation=conversation):
        receipts[one.message_id].append(one)

    def present(message: Message) -> MessagePayload:
        payload, parts = message_payload(message), receipts.get(message.pk)
        if parts:
            payload["receipt"] = receipt_payload(parts)
        return payload

    return present


def _file_of(message: Message, stored: StoredAttachment) -> AttachmentPayload:
    if message.role != MessageRole.USER:
        return attachment_payload(stored, message.organization_id)
    return {**stored, "url": customer_file_url(cast(UUID, message.organization_id), UUID(stored["id"]))}


def receipt_payload(parts: Iterable[Receipt]) -> ReceiptPayload:
    """How far a message came: the part that came least far decides."""
    last = min(parts, key=lambda part: PROGRESS.index(ReceiptState(part.state)))
    return {"state": last.state, "reason": translated(last.reason)}


def attachment_payload(stored: StoredAttachment, organization_id: UUID | None) -> AttachmentPayload:
    return {**stored, "url": attachment_url(cast(UUID, organization_id), UUID(stored["id"]))}


def directives_payload(directives: Directives) -> DirectivesPayload:
    return {
        "version": directives.version,
        "turn": str(directives.turn_id),
        **cast(WrittenPayload, directives.document),
        "created_at": stamp(directives.created_at),
    }


def customer_payload(persona: Persona) -> CustomerPayload:
    """The customer with every known field and the history of consents."""
    consents = [consent_payload(change) for change in consent_history(persona.pk)]
    return {**_persona_payload(persona, persona.fields.all()), "consents": consents}


def persona_payload(persona: Persona) -> PersonaPayload:
    """The customer with every known field, without the history of consents."""
    return _persona_payload(persona, persona.fields.all())


def consent_payload(change: ConsentChange) -> ConsentPayload:
    return {
        "kind": change.kind,
        "given": change.is_given,
        "quote": change.quote or None,
        "source": change.source,
        "at": stamp(change.created_at),
    }


def _persona_payload(persona: Persona, known: Iterable[PersonaField]) -> PersonaPayload:
    fields = {field.key: field.value for field in known if field.conversation_id is None}
    return {
        "id": str(persona.pk),
        "external_id": persona.external_id,
        "name": fields.get("name"),
        "phone": fields.get("phone"),
        "email": fields.get("email"),
        "flagged": persona.flagged,
        "flag_reason": persona.flag_reason or None,
        "attributes": fields,
        "created_at": stamp(persona.created_at),
    }


def wait_payload(wait: Wait) -> WaitPayload:
    """A wait as shown by the API, the pages and the live stream."""
    return {
        "waiting": wait.ended_at is None,
        "reason": wait.reason,
        "effect": str(wait.effect_id) if wait.effect_id else None,
        "opened_at": stamp(wait.opened_at),
        "until": stamp(wait.until),
        "ended_at": stamp(wait.ended_at),
        "outcome": wait.outcome or None,
    }


def with_relations(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Conversations with everything `conversation_payload` needs, in a fixed number of queries."""
    waits = Prefetch("waits", open_waits())
    return rows.select_related("persona", "directives", "operator").prefetch_related("persona__fields", waits)


def conversation_payload(conversation: Conversation) -> ConversationPayload:
    """The payload of a conversation loaded through `with_relations`."""
    return _payload(conversation, conversation.persona.fields.all(), conversation.waits.all())


CONVERSATION = PreparedQuery(
    lambda project, conversation: Conversation.objects.select_related("persona", "directives", "operator").filter(
        project_id=project, pk=conversation
    ),
    kinds=(UUID, UUID),
)


def read_conversation(project_id: UUID, conversation_id: UUID) -> ConversationPayload:
    """The payload of one conversation, looked up by keys. Raises Conversation.DoesNotExist."""
    for conversation in CONVERSATION(project_id, conversation_id):
        return _payload(conversation, FIELDS(conversation.persona_id, conversation_id), WAITS(conversation_id))
    raise Conversation.DoesNotExist


def new_conversation_payload(conversation: Conversation) -> ConversationPayload:
    """The payload of a conversation created in the running transaction, which has no waits or directives yet."""
    return _payload(conversation, FIELDS(conversation.persona_id, conversation.pk), ())


def _payload(
    conversation: Conversation, known: Iterable[PersonaField], wait_rows: Iterable[Wait]
) -> ConversationPayload:
    directives, waits, fields = conversation.directives, list(wait_rows), list(known)
    return {
        "id": str(conversation.pk),
        "channel": conversation.channel,
        "status": conversation.status,
        "persona": _persona_payload(conversation.persona, fields),
        "fields": {field.key: field.value for field in fields if field.conversation_id == conversation.pk},
        "metadata": conversation.metadata,
        "operator": operator_payload(conversation),
        "waiting": bool(waits),
        "waits": [wait_payload(wait) for wait in waits],
        "follow_up_at": stamp(conversation.follow_up_at),
        "directives": directives_payload(directives) if directives else None,
        "flag": conversation.flag or None,
        "recovery": conversation.recovery or None,
        "correction": conversation.correction or None,
        "rating": rating_payload(conversation),
        "created_at": stamp(conversation.created_at),
        "updated_at": stamp(conversation.updated_at),
    }


def rating_payload(conversation: Conversation) -> RatingPayload | None:
    """The customer's rating, or None without one."""
    if conversation.rating is None or conversation.rated_at is None:
        return None
    return {
        "score": conversation.rating,
        "comment": conversation.rating_comment,
        "message": conversation.rated_to,
        "at": stamp(conversation.rated_at),
    }


def operator_payload(conversation: Conversation) -> OperatorPayload | None:
    """The operator in charge, or None while the agent answers."""
    if conversation.operator is None:
        return None
    return {"name": conversation.operator.name, "since": stamp(conversation.operator_since)}
