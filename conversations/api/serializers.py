"""What the API accepts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from conversations.models import Channel
from projects.api.serializers import StrictSerializer, TextField

MAX_METADATA_KEYS = 50
PHONE = "A number with its country, such as +39 312 345 6789; without it, one of the project's region. Kept as +393123456789."


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
            raise serializers.ValidationError(f"metadata has {len(value)} keys; the limit is {MAX_METADATA_KEYS}.")
        return value


class MessageInput(StrictSerializer):
    content = TextField(longest=8_000)


class EventInput(StrictSerializer):
    idn = serializers.RegexField(
        r"^[a-z][a-z0-9_]{0,79}$",
        max_length=80,
        error_messages={"invalid": "must be a small letter, then small letters, digits or _; at most 80."},
    )
    payload = serializers.DictField(required=False, default=dict)


class PersonaPatch(StrictSerializer):
    name = serializers.CharField(max_length=80, required=False)
    phone = serializers.CharField(max_length=40, required=False, help_text=PHONE)
    email = serializers.EmailField(required=False)
    attributes = serializers.DictField(child=serializers.CharField(max_length=500), required=False)


class EffectResolution(StrictSerializer):
    happened = serializers.BooleanField()
