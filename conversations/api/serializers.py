"""Request bodies of the conversations API."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.common.payloads import MessagePayload
from conversations.handover.attachments import MAX_PER_ANSWER
from conversations.handover.customer_files import FileInput, content_field
from conversations.live.stream import StreamCursor
from conversations.models import Channel
from projects.api.authentication import Caller
from projects.api.serializers import VISIBLE, StrictSerializer, TextField
from projects.common.api_error import ApiError

MAX_METADATA_KEYS = MAX_ATTRIBUTES = 50
LONGEST_ATTRIBUTE = 500
OWN = ("name", "phone", "email")
PHONE = (
    "A phone number with country code, such as +39 312 345 6789. Without one, the project's region applies."
    " Stored as +393123456789."
)


# Each event of a stream, as clients of `text/event-stream` read it.
STREAM_EVENT = {
    "type": "object",
    "required": ["data"],
    "properties": {
        "event": {"type": "string", "description": "Its type, such as `message` or `token`."},
        "data": {"type": "string", "description": "A JSON object, as text."},
        "id": {"type": "string", "description": "For `Last-Event-ID`. Tokens have none."},
        "retry": {"type": "integer"},
    },
}


class PersonaInput(StrictSerializer):
    external_id = serializers.CharField(max_length=200)
    name = serializers.CharField(max_length=80, required=False)
    phone = serializers.CharField(max_length=40, required=False, help_text=PHONE)
    email = serializers.EmailField(required=False)


class ConversationInput(StrictSerializer):
    channel = serializers.ChoiceField(choices=Channel.choices)
    persona = PersonaInput()
    metadata = serializers.DictField(required=False, default=dict)

    def validate_metadata(self, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) > MAX_METADATA_KEYS:
            raise serializers.ValidationError(f"has {len(value)} keys; the limit is {MAX_METADATA_KEYS}.")
        return value


class MessageInput(FileInput):
    content = content_field(longest=8_000)


class OperatorMessageInput(StrictSerializer):
    content = TextField(longest=8_000)
    attachments = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        default=list,
        max_length=MAX_PER_ANSWER,
        help_text="ids of uploaded files",
    )


class EventInput(StrictSerializer):
    idn = serializers.RegexField(
        r"^[a-z][a-z0-9_]{0,79}$",
        max_length=80,
        error_messages={
            "invalid": "must be a lowercase letter followed by lowercase letters, digits or _; at most 80 characters."
        },
    )
    payload = serializers.DictField(required=False, default=dict)


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "minLength": 1, "maxLength": LONGEST_ATTRIBUTE, "pattern": VISIBLE},
            {"type": "boolean", "description": 'Stored as the text "true" or "false".'},
        ]
    }
)
class AttributeField(TextField):
    """A customer's attribute: text, or a boolean, as a consent is."""

    def to_internal_value(self, data: Any) -> str:
        text = json.dumps(data) if isinstance(data, bool) else data
        return super().to_internal_value(text).strip()


class PersonaPatch(StrictSerializer):
    name = serializers.CharField(max_length=80, required=False)
    phone = serializers.CharField(max_length=40, required=False, help_text=PHONE)
    email = serializers.EmailField(required=False)
    attributes = serializers.DictField(child=AttributeField(longest=LONGEST_ATTRIBUTE), required=False)

    def validate_attributes(self, value: dict[str, str]) -> dict[str, str]:
        """Attributes that have a field of their own follow that field's rules."""
        if len(value) > MAX_ATTRIBUTES:
            raise serializers.ValidationError(f"has {len(value)} keys; the limit is {MAX_ATTRIBUTES}.")
        own = PersonaPatch(data={name: value[name] for name in OWN if name in value})
        own.is_valid(raise_exception=True)
        return value


class EffectResolution(StrictSerializer):
    happened = serializers.BooleanField()


MAX_SECONDS = 60.0


@dataclass(frozen=True)
class ReplyWait:
    """A client waiting for the reply to its message."""

    organization_id: UUID
    conversation_id: UUID
    turn_id: UUID
    message: MessagePayload
    seconds: float


@dataclass(frozen=True)
class OpenStream:
    """A client admitted to a conversation's stream, which starts at `cursor`."""

    caller: Caller
    cursor: StreamCursor


@dataclass(frozen=True)
class TurnStream(OpenStream):
    """A stream that ends with one turn's reply."""

    turn_id: UUID


def wait_seconds(text: str) -> float:
    """The `wait` parameter in seconds, capped at 60; 0 if missing. Raises ApiError."""
    try:
        seconds = float(text or "0")
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ApiError(
            "invalid_wait", "wait must be a number of seconds, such as 30. Waiting ends after 60.", field="wait"
        )
    return min(seconds, MAX_SECONDS)
