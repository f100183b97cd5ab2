"""The API of event subscriptions."""

from __future__ import annotations

from typing import ClassVar, TypedDict
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from projects.api.async_views import Continued, continues
from projects.api.pagination import PAGED
from projects.api.serializers import StrictSerializer
from projects.api.typed_responses import Created, Page, TypedResponse
from projects.api.views import ProjectView
from projects.models.key import Scope
from tools.engine.events import service
from tools.engine.events.presenters import (
    SavedSubscriptionPayload,
    SubscriptionPayload,
    TrialDeliveryPayload,
    saved_payload,
    subscription_payload,
)
from tools.engine.events.service import SubscriptionEdit
from tools.engine.events.trial import TrialEvent, prepare_test, send_test_event
from tools.engine.validation.names import NAME
from tools.models import SubscriptionTarget

MAX_EVENTS = 50
WRONG_EVENT = "is no name of an event. Use a letter, then letters, digits, _ or -, at most 64 characters."


class SubscriptionInput(StrictSerializer):
    """`target` is `endpoint`, with a `url`, or `stream`. Without `events`, the subscription is for all events that no
    other one names.
    """

    target = serializers.ChoiceField(choices=SubscriptionTarget.choices, default=SubscriptionTarget.ENDPOINT.value)
    url = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
    events = serializers.ListField(
        child=serializers.RegexField(f"^{NAME.pattern}$", error_messages={"invalid": WRONG_EVENT}),
        max_length=MAX_EVENTS,
        required=False,
        default=list,
    )
    enabled = serializers.BooleanField(required=False, default=True)


class SecretPayload(TypedDict):
    secret: str


class SubscriptionView(ProjectView):
    """Base class for views of event subscriptions."""

    def edit(self) -> SubscriptionEdit:
        """The content in the request's body."""
        data = self.valid(SubscriptionInput)
        return SubscriptionEdit(
            target=SubscriptionTarget(data["target"]),
            url=data["url"],
            events=tuple(data["events"]),
            is_enabled=data["enabled"],
        )


class EventSubscriptions(SubscriptionView):
    scopes: ClassVar = {"GET": Scope.READ, "POST": Scope.CONFIGURE}
    queries: ClassVar = {"GET": PAGED}

    @extend_schema(operation_id="event_subscriptions_list")
    def get(self, request: Request) -> TypedResponse[Page[SubscriptionPayload]]:
        """List the project's event subscriptions, oldest first."""
        return self.page(service.list_subscriptions(self.project), subscription_payload, ordering="id")

    @extend_schema(operation_id="event_subscriptions_create", request=SubscriptionInput)
    def post(self, request: Request) -> Created[SavedSubscriptionPayload]:
        """Subscribe to events. The signing secret of an endpoint is shown only in this response.

        An event has one subscriber. If another subscription names it, the response is a 409.
        """
        return Created(saved_payload(service.add_subscription(self.project, self.edit())))


class EventSubscriptionDetail(SubscriptionView):
    scopes: ClassVar = {"GET": Scope.READ, "PUT": Scope.CONFIGURE, "DELETE": Scope.CONFIGURE}

    @extend_schema(operation_id="event_subscriptions_read")
    def get(self, request: Request, subscription_id: UUID) -> TypedResponse[SubscriptionPayload]:
        """Retrieve an event subscription, without its secret."""
        return TypedResponse(subscription_payload(service.get_subscription(self.project, subscription_id)))

    @extend_schema(operation_id="event_subscriptions_update", request=SubscriptionInput)
    def put(self, request: Request, subscription_id: UUID) -> TypedResponse[SavedSubscriptionPayload]:
        """Replace a subscription's content. Its secret stays."""
        return TypedResponse(saved_payload(service.change_subscription(self.project, subscription_id, self.edit())))

    @extend_schema(operation_id="event_subscriptions_delete", responses={204: None})
    def delete(self, request: Request, subscription_id: UUID) -> Response:
        """Delete a subscription. Its events have no subscriber from then on."""
        service.remove_subscription(self.project, subscription_id)
        return Response(status=204)


class RotateSubscriptionSecret(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="event_subscriptions_rotate_secret", request=None)
    def post(self, request: Request, subscription_id: UUID) -> Created[SecretPayload]:
        """Create a new signing secret, shown only in this response. The previous one stays valid for a day."""
        return Created({"secret": service.rotate_secret(self.project, subscription_id)})


class TrySubscription(ProjectView):
    scopes: ClassVar = {"POST": Scope.CONFIGURE}

    @extend_schema(operation_id="event_subscriptions_test", request=None, responses=TrialDeliveryPayload)
    def post(self, request: Request, subscription_id: UUID) -> Response:
        """Send a signed test event to the endpoint. Its `data` has `test: true`."""
        return Continued(prepare_test(service.get_subscription(self.project, subscription_id)))


@continues(TrySubscription)
async def try_subscription(request: HttpRequest, served: Continued[TrialEvent]) -> HttpResponseBase:
    """Send the test event and return its result."""
    delivery = await send_test_event(served.state)
    answer: TrialDeliveryPayload = {
        "state": delivery.state.value,
        "http_status": delivery.http_status,
        "error": delivery.error or None,
    }
    return served.json(answer)
