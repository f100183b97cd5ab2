"""Request bodies of the conversations API."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rest_framework import serializers

from conversations.common.payloads import MessagePayload
from conversations.live.stream import StreamCursor
from conversations.models import Channel
from conversations.models.persona import PersonaField
from projects.api.authentication import Caller
from projects.api.serializers import StrictSerializer, TextField
from projects.common.api_error import ApiError
from projects.common.characters import has_control_characters

MAX_METADATA_KEYS = MAX_ATTRIBUTES = 50
LONGEST_KEY = PersonaField._meta.get_field("key").max_length or 0
WRONG_KEY = "has the invalid key {key}. Use 1 to {longest} printable characters without surrounding spaces."
OWN = ("name", "phone", "email")
PHONE = (
    "A phone number with country code, such as +39 312 345 6789. Without one, the project's region applies."
    " Stored as +393123456789."
)


class LineField(serializers.CharField):
    """A single line of text about a customer, without characters that could break prompts or pages."""

    default_error_messages = {"controls": "contains control characters. Send a single line without them."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if has_control_characters(text):
            self.fail("controls")
        return text


class PersonaInput(StrictSerializer):
    external_id = serializers.CharField(max_length=200)
    name = LineField(max_length=80, required=False)
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


class MessageInput(StrictSerializer):
    content = TextField(longest=8_000)


class EventInput(StrictSerializer):
    idn = serializers.RegexField(
        r"^[a-z][a-z0-9_]{0,79}$",
        max_length=80,
        error_messages={
            "invalid": "must be a lowercase letter followed by lowercase letters, digits or _; at most 80 characters."
        },
    )
    payload = serializers.DictField(required=False, default=dict)


class PersonaPatch(StrictSerializer):
    name = LineField(max_length=80, required=False)
    phone = serializers.CharField(max_length=40, required=False, help_text=PHONE)
    email = serializers.EmailField(required=False)
    attributes = serializers.DictField(child=LineField(max_length=500), required=False)

    def validate_attributes(self, value: dict[str, str]) -> dict[str, str]:
        """Attributes that have a field of their own follow that field's rules."""
        if len(value) > MAX_ATTRIBUTES:
            raise serializers.ValidationError(f"has {len(value)} keys; the limit is {MAX_ATTRIBUTES}.")
        for key in value:
            if not 1 <= len(key) <= LONGEST_KEY or not key.isprintable() or key != key.strip():
                raise serializers.ValidationError(
                    WRONG_KEY.format(key=ascii(key[: 2 * LONGEST_KEY]), longest=LONGEST_KEY)
                )
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
        raise ApiError("invalid_wait", "wait must be a number of seconds from 0 to 60.", field="wait")
    return min(seconds, MAX_SECONDS)
