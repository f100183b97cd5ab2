"""Messengers that the project connects: state, the address of our webhook, and what was delivered last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypedDict, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.channels.incoming import recent_deliveries
from conversations.channels.linking import (
    OpenChannel,
    connect_channel,
    disconnect_channel,
    link_channel,
    no_carrier,
    open_channel,
    open_untold,
    unlink_channel,
)
from conversations.channels.registry import PROVIDERS
from conversations.channels.whatsapp import KIND as WHATSAPP
from conversations.channels.whatsapp import verify_token
from conversations.models import ChannelLink, Delivery, DeliveryResult
from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import TypedResponse
from projects.api.views import ProjectView
from projects.common.api_error import Unprocessable
from projects.common.presenters import Id, Stamp, stamp
from projects.connections.integrations import find_source
from projects.models import Project, Source
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

SECRET = "secret"  # noqa: S105 - the name of a field
SECRET_FIELDS = ("bot_token", "access_token", "app_secret", "verify_token", "password", "signing_key")


class IncomingDeliveryPayload(TypedDict):
    """An item that the provider delivered, and what became of it."""

    id: Id
    external_id: str
    result: Annotated[str, DeliveryResult]
    detail: Annotated[str, "Why nothing was answered; empty otherwise."]
    conversation: Id | None
    message: Id | None
    received_at: Stamp


class MessengerPayload(TypedDict):
    """A messenger. The secret is never returned. `webhook` is our address at the provider, `address` what customers write
    to.
    """

    kind: str
    state: Annotated[
        str,
        "`connected`, `failed` with a `problem`, `rejected` if the provider refuses the credentials, or `not_connected`.",
    ]
    problem: Annotated[str, "Why the provider doesn't use our webhook, in one sentence; empty otherwise."]
    settings: Annotated[dict[str, Any], "The settings, empty if the channel isn't connected."]
    webhook: Annotated[str, "Empty if the channel isn't connected."]
    verify_token: Annotated[str, "To enter at Meta beside the webhook; empty for other kinds."]
    address: str
    last_deliveries: list[IncomingDeliveryPayload]


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "minLength": 1},
            {
                "type": "object",
                "properties": {name: {"type": "string"} for name in SECRET_FIELDS},
                "additionalProperties": False,
            },
        ]
    }
)
class SecretField(serializers.JSONField):
    pass


class MessengerInput(StrictSerializer):
    """`secret` is a bot's token, Meta's access token and app secret, the password in the webhook's address for Postmark,
    or Mailgun's signing key. Without it, the stored one stays.
    """

    settings = serializers.DictField(required=False, default=dict)
    secret = SecretField(required=False, write_only=True)


@dataclass(frozen=True)
class PendingLink:
    """A connection that was stored or deleted. The provider is told after the commit."""

    project: Project
    kind: str
    channel: OpenChannel | None
    is_removed: bool = False


class MessengerChannel(ProjectView):
    """A messenger of one kind."""

    scopes: ClassVar = {"GET": Scope.READ, "PUT": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}
    kind: ClassVar[str]

    def read(self) -> TypedResponse[MessengerPayload]:
        """The messenger. For callers who may connect it, the provider is told our webhook if an earlier process died first."""
        untold = open_untold(self.project, self.kind) if Scope.CONFIGURE in self.caller.scopes else None
        if untold is not None:
            return cast(TypedResponse[MessengerPayload], Continued(PendingLink(self.project, self.kind, untold)))
        return TypedResponse(messenger_payload(self.project, self.kind))

    def connect(self) -> Response:
        data = self.valid(MessengerInput)
        try:
            secret = PROVIDERS[self.kind].read_secret(data[SECRET]) if SECRET in data else ""
        except ValueError as error:
            raise Unprocessable("invalid", f"secret: {error}", field=SECRET) from None
        try:
            channel = connect_channel(self.project, self.kind, data["settings"], secret, by=self.caller.user)
        except SettingsRefused as refusal:
            field, message = next(iter(refusal.errors.items()))
            path = field if field == SECRET else f"settings.{field}"
            raise Unprocessable("invalid", f"{path}: {message}", field=path) from None
        return Continued(PendingLink(self.project, self.kind, channel))

    def disconnect(self) -> Response:
        channel = disconnect_channel(self.project, self.kind, by=self.caller.user)
        return Continued(PendingLink(self.project, self.kind, channel, is_removed=True))


class TelegramChannel(MessengerChannel):
    kind = "telegram"

    @extend_schema(operation_id="channels_telegram_read")
    def get(self, request: Request) -> TypedResponse[MessengerPayload]:
        """Returns the bot's state, our webhook, and the last deliveries with what became of each."""
        return self.read()

    @extend_schema(operation_id="channels_telegram_connect", request=MessengerInput, responses={200: MessengerPayload})
    def put(self, request: Request) -> Response:
        """Connects a bot, and tells Telegram our webhook. `settings.base_url` names another server of the same form."""
        return self.connect()

    @extend_schema(operation_id="channels_telegram_disconnect", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Disconnects the bot, deletes its token and withdraws our webhook. Conversations stay."""
        return self.disconnect()


class WhatsAppChannel(MessengerChannel):
    kind = "whatsapp"

    @extend_schema(operation_id="channels_whatsapp_read")
    def get(self, request: Request) -> TypedResponse[MessengerPayload]:
        """Returns the number's state, the webhook and verify token to enter at Meta, and the last deliveries."""
        return self.read()

    @extend_schema(operation_id="channels_whatsapp_connect", request=MessengerInput, responses={200: MessengerPayload})
    def put(self, request: Request) -> Response:
        """Connects a WhatsApp number of Meta's Cloud API. Enter the webhook and verify token in Meta's app dashboard."""
        return self.connect()

    @extend_schema(operation_id="channels_whatsapp_disconnect", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Disconnects the number. Its secrets are deleted. Conversations stay."""
        return self.disconnect()


class EmailChannel(MessengerChannel):
    kind = "email"

    @extend_schema(operation_id="channels_email_read")
    def get(self, request: Request) -> TypedResponse[MessengerPayload]:
        """Returns the mailbox's state, the webhook to enter at Postmark or Mailgun, and the last deliveries."""
        return self.read()

    @extend_schema(operation_id="channels_email_connect", request=MessengerInput, responses={200: MessengerPayload})
    def put(self, request: Request) -> Response:
        """Connects a mailbox. Answers go out by the mail server that is connected as `smtp`."""
        return self.connect()

    @extend_schema(operation_id="channels_email_disconnect", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Disconnects the mailbox. Its secret is deleted. Conversations stay."""
        return self.disconnect()


async def _tell_provider(request: HttpRequest, served: Continued[PendingLink]) -> HttpResponseBase:
    """Tell the provider, with no transaction open, and answer with what it said."""
    pending = served.state
    if pending.is_removed:
        if pending.channel is not None:
            await unlink_channel(pending.channel)
        return HttpResponse(status=204)
    if pending.channel is not None:
        await link_channel(pending.channel)
    return served.json(await in_db(_stored_payload, pending.project, pending.kind))


telegram_channel = continues(TelegramChannel)(_tell_provider)
email_channel = continues(EmailChannel)(_tell_provider)
whatsapp_channel = continues(WhatsAppChannel)(_tell_provider)


def messenger_payload(project: Project, kind: str) -> MessengerPayload:
    """A messenger as the API returns it. Runs in the tenant's transaction."""
    source, channel = find_source(project.pk, kind), open_channel(project, kind)
    link = ChannelLink.objects.filter(project=project, kind=kind).first()
    return {
        "kind": kind,
        "state": state_of(source, link),
        "problem": (link.problem if link else "") or carrier_problem(channel) if source else "",
        "settings": dict(source.settings) if source else {},
        "webhook": channel.webhook if channel else "",
        "verify_token": verify_token(channel.connection) if channel and kind == WHATSAPP else "",
        "address": link.name if source and link else "",
        "last_deliveries": [delivery_payload(one) for one in recent_deliveries(project, kind)],
    }


def carrier_problem(channel: OpenChannel | None) -> str:
    """The reason why the channel's messages can't go out, or ""."""
    return no_carrier() if channel is not None and channel.carrier is None else ""


def state_of(
    source: Source | None, link: ChannelLink | None
) -> Literal["connected", "failed", "rejected", "not_connected"]:
    if source is None:
        return "not_connected"
    if source.needs_reauth:
        return "rejected"
    return "failed" if link is not None and link.problem else "connected"


def delivery_payload(row: Delivery) -> IncomingDeliveryPayload:
    return {
        "id": str(row.pk),
        "external_id": row.external_id,
        "result": row.result,
        "detail": row.detail,
        "conversation": str(row.conversation_id) if row.conversation_id else None,
        "message": str(row.message_id) if row.message_id else None,
        "received_at": stamp(row.received_at),
    }


def _stored_payload(project: Project, kind: str) -> MessengerPayload:
    with tenant_tx(cast(UUID, project.organization_id)):
        return messenger_payload(project, kind)
