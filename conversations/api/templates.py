"""WhatsApp's templates in a conversation: those that can be sent, and sending one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar, TypedDict, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.operators import OperatorView
from conversations.channels.linking import OpenChannel, open_channel
from conversations.channels.registry import PROVIDERS
from conversations.channels.template_list import list_templates, sends_templates
from conversations.channels.templates import (
    TEMPLATE,
    NoTemplates,
    Template,
    check_file,
    check_values,
    find_template,
)
from conversations.channels.window import is_window_open
from conversations.common.payloads import MessagePayload
from conversations.common.presenters import message_payload
from conversations.handover import operators
from conversations.models import Chat, Conversation
from projects.api.async_views import Continued, continues
from projects.api.idempotency import OwnKey, complete_once, own_key, replays
from projects.api.serializers import StrictSerializer
from projects.common.api_error import ApiError, Conflict, Unprocessable
from projects.common.middleware import request_id_of
from projects.models import User
from projects.models.key import Scope
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

NO_CHAT = "The conversation is no WhatsApp chat of a connected number."
OTHER_ACCOUNT = "The chat belongs to another WhatsApp number than the one connected."
REFUSED = {
    409: OpenApiResponse(description="It is no WhatsApp chat of the connected number, or it isn't yours."),
    502: OpenApiResponse(description="The provider didn't list the templates; the message says why."),
}


class TemplatePayload(TypedDict):
    """A template in one language, with gaps like `{{1}}` in its text."""

    name: str
    language: str
    text: str
    variables: Annotated[
        list[str], "The gaps to fill. Those of the header begin with `header.`, those of a button with `button.`."
    ]
    files: Annotated[
        dict[str, str],
        "The gaps that take a file, each with its kind: `image`, `video` or `document`. Its value is the file's address, or "
        "the `id` of a file that was uploaded for an answer.",
    ]
    problem: Annotated[str, "Why it can't be sent; empty if it can."]


class TemplatesPayload(TypedDict):
    """The templates. While `is_window_open`, free text reaches the customer, too."""

    is_window_open: bool
    results: list[TemplatePayload]


class TemplateInput(StrictSerializer):
    name = serializers.CharField(max_length=512)
    language = serializers.CharField(
        max_length=20, required=False, default="", help_text="such as `en_US`; needed if the name has several"
    )
    variables = serializers.DictField(
        child=serializers.CharField(max_length=1_000), required=False, default=dict, help_text="a value for each gap"
    )


@dataclass(frozen=True)
class TemplateChoice:
    """A template to list or to send, once the provider has listed them."""

    channel: OpenChannel
    conversation_id: UUID
    is_window_open: bool
    by: User
    name: str = ""
    language: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    once: OwnKey | None = None


class Templates(OperatorView):
    scopes: ClassVar = {"GET": Scope.OPERATE, "POST": Scope.OPERATE}

    @extend_schema(operation_id="conversations_templates", responses={200: TemplatesPayload, **REFUSED})
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Returns the templates of the WhatsApp account, those that can be sent first."""
        return Continued(self._choice(self.bare_conversation(conversation_id)))

    @extend_schema(
        operation_id="conversations_template_send", request=TemplateInput, responses={201: MessagePayload, **REFUSED}
    )
    @replays
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Sends an approved template as the operator who has the conversation, also after WhatsApp's 24 hours."""
        data, row = self.valid(TemplateInput), self.bare_conversation(conversation_id)
        operators.check_has(row, self.operator)
        once = own_key(self, request)
        return Continued(
            self._choice(row, name=data["name"], language=data["language"], values=data["variables"], once=once)
        )

    def _choice(self, row: Conversation, **chosen: Any) -> TemplateChoice:
        chat = Chat.objects.filter(conversation=row).order_by("-created_at").first()
        channel = open_channel(self.project, chat.kind) if chat and sends_templates(chat) else None
        if chat is None or channel is None:
            raise Conflict(NO_CHAT, code="no_whatsapp_chat")
        if PROVIDERS[chat.kind].account_of(channel.connection) != chat.account:
            raise Conflict(OTHER_ACCOUNT, code="other_account")
        return TemplateChoice(channel, row.pk, is_window_open(chat), self.operator, **chosen)


@continues(Templates)
async def templates(request: HttpRequest, served: Continued[TemplateChoice]) -> HttpResponseBase:
    """Ask the provider, with no transaction open; then list the templates, or store the message."""
    choice = served.state
    try:
        found = await list_templates(choice.channel)
        if request.method == "POST":
            return served.json(await in_db(_send, choice, found), status=201)
    except NoTemplates as error:
        return _refused(request, ApiError("templates_unavailable", str(error), status=502))
    except ApiError as error:
        return _refused(request, error)
    payload: TemplatesPayload = {
        "is_window_open": choice.is_window_open,
        "results": [_payload(one) for one in found],
    }
    return served.json(payload)


def _send(choice: TemplateChoice, found: Sequence[Template]) -> MessagePayload:
    """Raises ApiError."""
    template = find_template(found, choice.name, choice.language)
    if template is None:
        raise Unprocessable("unknown_template", "name: the account has no such template.", field="name")
    if problem := check_values(template, choice.values):
        raise Unprocessable("invalid_template", problem, field="variables")
    with tenant_tx(choice.channel.organization_id):
        return cast(MessagePayload, complete_once(choice.once, partial(_answer, choice, template), status=201))


def _answer(choice: TemplateChoice, template: Template) -> MessagePayload:
    block = {"type": TEMPLATE, TEMPLATE: template.sent_form(choice.values)}
    file = template.file_of(choice.values)
    text = template.filled(choice.values)
    message = operators.answer(
        choice.conversation_id, text, by=choice.by, blocks=[block], attachments=[file] if file else []
    )
    if message.attachments and (problem := check_file(template, message.attachments[0]["content_type"])):
        raise Unprocessable("invalid_template", problem, field="variables")
    return message_payload(message)


def _payload(template: Template) -> TemplatePayload:
    return {
        "name": template.name,
        "language": template.language,
        "text": template.text,
        "variables": template.variables,
        "files": dict(template.files),
        "problem": template.problem,
    }


def _refused(request: HttpRequest, error: ApiError) -> JsonResponse:
    return JsonResponse(error.body(request_id=request_id_of(request)), status=error.status_code)
