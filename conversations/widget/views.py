"""The widget's endpoints: session, messages, files, event stream, request for a person, rating."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.calls.web_calls import offers_calls
from conversations.common.presenters import message_payload, rating_payload
from conversations.handover.attachments import MAX_BYTES
from conversations.handover.customer_files import FileInput, check_takes_files, content_field, takes_files
from conversations.handover.requests import request_person
from conversations.inbox.ratings import HIGHEST, LONGEST_COMMENT, LOWEST, rate
from conversations.live.stream import StreamCursor
from conversations.models import Conversation
from conversations.turns.admission import admit_turn
from conversations.widget import shopper, visitors
from conversations.widget.authentication import PageAuthentication, VisitorAuthentication, WidgetCaller
from conversations.widget.errors import NoConversation, NoVisitor
from conversations.widget.event_filter import message_shown
from conversations.widget.limits import (
    MESSAGES,
    RATINGS,
    REQUESTS,
    SESSIONS,
    STREAMS,
    UPLOADS,
    Limit,
    check_limit,
)
from conversations.widget.shopper import ShopperRefused, read_shopper
from conversations.widget.visitors import (
    Visitor,
    attach_shopper,
    find_call,
    find_conversation,
    new_visitor,
    post_visitor_message,
    read_visitor,
    renewed,
    sign,
    signed_in,
    upload_visitor_file,
)
from projects.api.async_views import Continued
from projects.api.idempotency import idempotent
from projects.api.serializers import StrictSerializer, TextField
from projects.api.uploads import keep_body
from projects.api.views import ProjectView
from projects.common.addresses import client_range
from projects.common.api_error import ApiError
from projects.common.verticals import VERTICALS
from projects.models import AgentVersion, Project, Widget
from projects.models.agent_config import AgentConfig
from projects.models.key import Scope
from projects.widget.widgets import theme_of
from tools.models import Escalation


class SessionInput(StrictSerializer):
    token = TextField(longest=visitors.LONGEST, required=False, allow_blank=True, default="")
    # A longer limit than `read_shopper` has: an oversized token must not fail the session, only the sign-in.
    shopper = TextField(longest=4 * shopper.LONGEST, required=False, allow_blank=True, default="")


class MessageInput(FileInput):
    content = content_field(longest=4_000)


class PersonInput(StrictSerializer):
    """The accepted offer of a person; `request_person` validates the contact details in `lead`."""

    escalation = serializers.UUIDField()
    lead = serializers.DictField()


class RatingInput(StrictSerializer):
    score = serializers.IntegerField(min_value=LOWEST, max_value=HIGHEST)
    comment = TextField(longest=LONGEST_COMMENT, required=False, allow_blank=True, default="")


LARGEST_BODY = 16 * 1024
SECONDS_KEPT = "600"
ALLOWED_HEADERS = "authorization, content-type, idempotency-key, last-event-id"


class WidgetView(ProjectView):
    """An endpoint of the widget `key`. CORS allows exactly the requesting page, if it is one of the business's own."""

    authentication_classes = [VisitorAuthentication]
    throttle_classes = []
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONVERSE, "OPTIONS": Scope.READ}
    http_method_names = ["get", "post", "options"]
    # Only our own script calls these endpoints, so they are not in the API's schema.
    schema = None  # type: ignore[assignment]
    largest_body = LARGEST_BODY

    @property
    def widget(self) -> Widget:
        return cast(Widget, cast(WidgetCaller, self.caller).widget)

    @property
    def visitor(self) -> Visitor:
        return cast(Visitor, cast(WidgetCaller, self.caller).visitor)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if len(request._request.body) > self.largest_body:
            raise ApiError("body_too_large", f"Body is over {self.largest_body // 1024} kB.", status=413)

    def count(self, limit: Limit, visitor: Visitor | None = None) -> None:
        check_limit(limit, self.request._request, self.widget, visitor)

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """Answer the CORS preflight request."""
        allowed = {
            "Access-Control-Allow-Methods": ", ".join(method.upper() for method in self.allowed_methods),
            "Access-Control-Allow-Headers": ALLOWED_HEADERS,
            "Access-Control-Max-Age": SECONDS_KEPT,
        }
        return Response(status=204, headers=allowed)

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Vary"] = "Origin"
        answer["Cache-Control"] = "no-store"
        if page := vars(request._request).get("widget_page"):
            answer["Access-Control-Allow-Origin"] = page
            answer["Access-Control-Expose-Headers"] = "Retry-After"
        return answer


class Session(WidgetView):
    authentication_classes = [PageAuthentication]

    def post(self, request: Request, key: str) -> Response:
        """Identify the visitor, and return their conversation and the agent's appearance. Nothing is stored."""
        self.count(SESSIONS)
        data = self.valid(SessionInput)
        visitor, refused = self._visitor(data["token"], data["shopper"])
        conversation = find_conversation(self.project, visitor)
        if conversation is not None:
            attach_shopper(conversation, visitor)
        return Response(
            {
                "token": sign(visitor, self.widget),
                "conversation": str(conversation.pk) if conversation else None,
                "shopper": {"signed_in": bool(visitor.shopper), "refused": refused, **_known_of(visitor)},
                "agent": agent_payload(self.project, self.widget),
            }
        )

    def _visitor(self, token: str, shop: str) -> tuple[Visitor, dict[str, str] | None]:
        """The remembered visitor, or a new one in place of a shopper; signed in if the shop's token is valid."""
        try:
            known = read_visitor(token, self.widget)
        except NoVisitor:
            known = new_visitor()
        out = new_visitor() if known.shopper else renewed(known)
        if not shop:
            return out, None
        try:
            found = read_shopper(shop, self.widget)
        except ShopperRefused as error:
            return out, {"code": error.code, "message": str(error)}
        return signed_in(known, found.claims, until=found.until), None


def _known_of(visitor: Visitor) -> dict[str, str]:
    """The shopper's details from the shop, to prefill forms."""
    return {name: str(visitor.shopper.get(name, "")) for name in ("name", "email")}


class Messages(WidgetView):
    @idempotent
    def post(self, request: Request, key: str) -> Response:
        """Post a visitor's message; the first one begins the conversation."""
        self.count(MESSAGES, self.visitor)
        said, address = self.valid(MessageInput), client_range(request)
        admit_turn(self.project)
        posted = post_visitor_message(
            self.project, self.visitor, said["content"], attachments=said["attachments"], address=address
        )
        turn = {"turn": str(posted.turn.pk), "status": posted.turn.status} if posted.turn else None
        message = message_shown(message_payload(posted.message))
        answer = {"conversation": str(posted.conversation.pk), "message": message, "turn": turn}
        return Response(answer, status=202)


class Files(WidgetView):
    queries: ClassVar = {"POST": (OpenApiParameter("name"),)}
    largest_body = MAX_BYTES

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        keep_body(request)
        super().initial(request, *args, **kwargs)

    @idempotent
    def post(self, request: Request, key: str) -> Response:
        """Upload a file for the visitor's next message. The body is the file."""
        self.count(UPLOADS, self.visitor)
        check_takes_files(self.project)
        content, name = request._request.body, request.query_params.get("name", "")
        return Response(upload_visitor_file(self.project, self.visitor, content, name=name), status=201)


class Events(WidgetView):
    queries: ClassVar = {"GET": (OpenApiParameter("conversation"),)}

    def get(self, request: Request, key: str) -> Response:
        """The start of the visitor's event stream: after `Last-Event-ID`, or with the whole transcript."""
        self.count(STREAMS, self.visitor)
        conversation = self._conversation()
        asked = request.headers.get("Last-Event-ID", "")
        known = asked.isascii() and asked.isdigit() and len(asked) < 10 and int(asked) <= conversation.last_event
        after = int(asked) if known else 0
        return Continued(StreamCursor(self.caller.organization_id, conversation.pk, after=after, is_reset=not known))

    def _conversation(self) -> Conversation:
        """The visitor's newest chat, or the call that the request names. Raises NoConversation if there is none, or if
        the request names another.
        """
        named = self.request.query_params.get("conversation")
        conversation = find_call(self.project, self.visitor, named) or find_conversation(self.project, self.visitor)
        if conversation is None or (named and named != str(conversation.pk)):
            raise NoConversation
        return conversation


class Person(WidgetView):
    @idempotent
    def post(self, request: Request, key: str) -> Response:
        """Ask for a person, with the visitor's contact details."""
        self.count(REQUESTS, self.visitor)
        asked = self.valid(PersonInput)
        conversation = find_conversation(self.project, self.visitor)
        if conversation is None:
            raise NoConversation
        try:
            made = request_person(conversation, asked["escalation"], asked["lead"])
        except Escalation.DoesNotExist as error:
            raise NoConversation from error
        return Response({"state": made.state}, status=202)


class Rating(WidgetView):
    def post(self, request: Request, key: str) -> Response:
        """Rate the visitor's conversation. A repeated request changes nothing."""
        self.count(RATINGS, self.visitor)
        given = self.valid(RatingInput)
        conversation = find_conversation(self.project, self.visitor)
        if conversation is None:
            raise NoConversation
        rated = rate(conversation.pk, score=given["score"], comment=given["comment"])
        return Response({"rating": rating_payload(rated)})


SUGGESTED = 3


def agent_payload(project: Project, widget: Widget) -> dict[str, Any]:
    """Name, theme, texts, and the capabilities the server grants the agent."""
    config = _config_of(project)
    theme = theme_of(widget)
    return {
        "name": config.agent_name,
        "business": config.business_name,
        "capabilities": sorted(VERTICALS[config.vertical].capabilities),
        "theme": {**theme.palette(), "position": theme.position, "scheme": theme.scheme},
        "greeting": theme.greeting,
        "language": theme.language,
        "suggestions": list(config.openers[:SUGGESTED]),
        "ratings": config.ask_for_ratings,
        "calls": offers_calls(project),
        "files": takes_files(project),
    }


def _config_of(project: Project) -> AgentConfig:
    version = cast("AgentVersion | None", project.agent_version)
    return version.config if version else AgentConfig(agent_name=project.name, business_name=project.name)
