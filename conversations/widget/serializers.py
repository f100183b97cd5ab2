"""Request bodies of the widget's endpoints."""

from __future__ import annotations

from rest_framework import serializers

from conversations.widget import shopper, visitors
from projects.api.serializers import StrictSerializer, TextField


class SessionInput(StrictSerializer):
    token = TextField(longest=visitors.LONGEST, required=False, allow_blank=True, default="")
    # A longer limit than `read_shopper` has: an oversized token must not fail the session, only the sign-in.
    shopper = TextField(longest=4 * shopper.LONGEST, required=False, allow_blank=True, default="")


class MessageInput(StrictSerializer):
    content = TextField(longest=4_000)


class PersonInput(StrictSerializer):
    """The accepted offer of a person; `request_person` validates the contact details in `lead`."""

    escalation = serializers.UUIDField()
    lead = serializers.DictField()
