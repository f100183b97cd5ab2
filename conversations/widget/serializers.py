"""What the widget's doors accept."""

from __future__ import annotations

from rest_framework import serializers

from conversations.widget import shopper, visitors
from projects.api.serializers import StrictSerializer, TextField


class SessionInput(StrictSerializer):
    token = TextField(longest=visitors.LONGEST, required=False, allow_blank=True, default="")
    # One that is too long is refused as every other that isn't good: the visitor goes on as not signed in.
    shopper = TextField(longest=4 * shopper.LONGEST, required=False, allow_blank=True, default="")


class MessageInput(StrictSerializer):
    content = TextField(longest=4_000)


class PersonInput(StrictSerializer):
    """Which offer of a person is taken up; `request_person` reads how they can be reached."""

    escalation = serializers.UUIDField()
    lead = serializers.DictField()
