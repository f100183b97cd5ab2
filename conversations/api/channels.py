"""Channels that the project connects: a provider's account, and the address of our webhook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from django.conf import settings
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.messengers import IncomingDeliveryPayload, delivery_payload
from conversations.calls.relay import twiml
from conversations.calls.relay.store import PROVIDER as TWILIO
from conversations.calls.web_calls import PROVIDER as OPENAI
from conversations.channels.incoming import recent_deliveries
from conversations.channels.twilio import MESSAGES
from conversations.models import Call, CallState
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import Unprocessable
from projects.common.presenters import Id, Stamp, stamp
from projects.connections import openai_sip, twilio
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source, disconnect_source, find_source
from projects.models import Source
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope

SIP_HOST = "sip.openai.com"
DELIVERIES = 10


class DeliveryPayload(TypedDict):
    """A call that the provider announced."""

    id: Id
    external_id: str
    state: Annotated[str, CallState]
    received_at: Stamp


class ChannelPayload(TypedDict):
    """A channel. The secret is never returned. `webhook` is the address for the provider, `address` the one that calls
    are sent to, if the provider has one. `messages_webhook` is the address for messages, with those that arrived last.
    """

    kind: str
    state: Annotated[str, "`connected`, `rejected` if the provider refuses the key, or `not_connected`."]
    settings: Annotated[dict[str, Any], "The settings, empty if the channel isn't connected."]
    webhook: str
    address: str
    messages_webhook: Annotated[str, "Empty for a channel of calls only."]
    last_deliveries: list[DeliveryPayload]
    last_messages: list[IncomingDeliveryPayload]


@extend_schema_field(
    {
        "oneOf": [
            {
                "type": "object",
                "properties": {"api_key": {"type": "string"}, "webhook_secret": {"type": "string"}},
                "additionalProperties": False,
            },
            {"type": "string"},
        ]
    }
)
class SecretField(serializers.JSONField):
    pass


class ChannelInput(StrictSerializer):
    """`secret` is the account's auth token, or for OpenAI the API key and the webhook's signing secret. Without it, the
    stored one stays.
    """

    settings = serializers.DictField(required=False, default=dict)
    secret = SecretField(required=False, write_only=True)


@dataclass(frozen=True)
class ChannelKind:
    """The differences between channels: the webhook's path, the secret's stored form, and whose calls come over it."""

    webhook: str
    provider: str
    read_secret: Callable[[Any], str]
    messages: str = ""


def _text(document: Any) -> str:
    """A secret that is one text. Raises ValueError."""
    if not isinstance(document, str):
        raise ValueError("Send a text.")
    return document


CHANNELS = {
    openai_sip.KIND: ChannelKind("/hooks/openai/calls", OPENAI, lambda given: openai_sip.secrets_from(given).stored),
    twilio.KIND: ChannelKind(twiml.ARRIVED, TWILIO, _text, MESSAGES),
}


class ChannelDetail(ProjectView):
    """A channel of calls: OpenAI's, or that of a subclass."""

    kind = openai_sip.KIND
    scopes: ClassVar = {"GET": Scope.READ, "PUT": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="channels_read")
    def get(self, request: Request) -> TypedResponse[ChannelPayload]:
        """Returns a channel's state, the addresses to give to the provider, and its last calls."""
        return TypedResponse(self._payload())

    @extend_schema(operation_id="channels_connect", request=ChannelInput)
    def put(self, request: Request) -> TypedResponse[ChannelPayload]:
        """Connects a channel, or changes its connection. `settings.base_url` names another server of the same form."""
        data = self.valid(ChannelInput)
        try:
            secret = CHANNELS[self.kind].read_secret(data["secret"]) if "secret" in data else ""
        except ValueError as error:
            raise Unprocessable("invalid", f"secret: {error}", field="secret") from None
        edit = SourceEdit(data["settings"], secret)
        try:
            connect_source(self.project, KINDS[self.kind], edit, by=self.caller.user)
        except SettingsRefused as refusal:
            field, message = next(iter(refusal.errors.items()))
            path = field if field == "secret" else f"settings.{field}"
            raise Unprocessable("invalid", f"{path}: {message}", field=path) from None
        return TypedResponse(self._payload())

    @extend_schema(operation_id="channels_disconnect", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Disconnects a channel. Its secret is deleted. A call that goes on is not ended."""
        disconnect_source(self.project, KINDS[self.kind], by=self.caller.user)
        return Response(status=204)

    def _payload(self) -> ChannelPayload:
        channel = CHANNELS[self.kind]
        source = find_source(self.project.pk, self.kind)
        rows = Call.objects.filter(project_id=self.project.pk, provider=channel.provider)
        calls = rows.order_by("-created_at")[:DELIVERIES]
        return {
            "kind": self.kind,
            "state": _state(source),
            "settings": dict(source.settings) if source else {},
            "webhook": f"{settings.BASE_URL}{channel.webhook}",
            "address": _address(source),
            "messages_webhook": f"{settings.BASE_URL}{channel.messages}" if channel.messages else "",
            "last_deliveries": [
                {
                    "id": str(call.pk),
                    "external_id": call.external_id,
                    "state": call.state,
                    "received_at": stamp(call.created_at),
                }
                for call in calls
            ],
            "last_messages": [delivery_payload(one) for one in recent_deliveries(self.project, self.kind)],
        }


@extend_schema_view(
    get=extend_schema(operation_id="channels_twilio_read"),
    put=extend_schema(operation_id="channels_twilio_connect"),
    delete=extend_schema(operation_id="channels_twilio_disconnect"),
)
class TwilioChannel(ChannelDetail):
    """A Twilio account, for calls and text messages."""

    kind = twilio.KIND


def _state(source: Source | None) -> Literal["connected", "rejected", "not_connected"]:
    if source is None:
        return "not_connected"
    return "rejected" if source.needs_reauth else "connected"


def _address(source: Source | None) -> str:
    project = str((source.settings if source else {}).get("openai_project") or "")
    return f"sip:{project}@{SIP_HOST};transport=tls" if project else ""
