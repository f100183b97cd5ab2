"""Effects API: read one, resolve unknown outcomes, release repeats, acknowledge events, receive deferred tool results."""

from __future__ import annotations

from typing import ClassVar, TypedDict
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from conversations.api.serializers import EffectResolution
from conversations.tool_runs.effects.acknowledgment import acknowledge
from conversations.tool_runs.effects.next_attempts import next_attempts_of
from conversations.tool_runs.effects.resolution import release, resolve, store_callback
from projects.api.schema import Schema
from projects.api.typed_responses import TypedResponse
from projects.api.views import JsonOnlyNegotiation, ProjectView
from projects.models.key import Scope
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_effect
from tools.engine.execution.callback import LENGTH, digest_of
from tools.engine.payloads import EffectDetailPayload, EffectPayload
from tools.engine.presenters import effect_detail, effect_payload
from tools.models import Effect

RESULT = {
    "type": "object",
    "additionalProperties": {},
    "description": "Whatever the tool found; or why it failed, as a text under `error`.",
}


class ReceivedPayload(TypedDict):
    received: bool


class EffectDetail(ProjectView):
    scopes: ClassVar = {"GET": Scope.READ}

    @extend_schema(operation_id="effects_read")
    def get(self, request: Request, effect_id: UUID) -> TypedResponse[EffectDetailPayload]:
        """Retrieve an effect with its redacted request, its response, its next attempt and its after-actions."""
        effect = Effect.objects.filter(project_id=self.project.pk, pk=effect_id).first()
        if effect is None:
            raise Http404
        return TypedResponse(effect_detail(effect, next_attempt_at=next_attempts_of([effect]).get(effect.pk)))


class EffectDecision(ProjectView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @property
    def member_id(self) -> UUID | None:
        """The deciding member; None for an API key."""
        return self.caller.member.pk if self.caller.member else None


class ResolveEffect(EffectDecision):
    @extend_schema(operation_id="effects_resolve", request=EffectResolution)
    def post(self, request: Request, effect_id: UUID) -> TypedResponse[EffectPayload]:
        """Resolves an effect whose outcome is unknown. Set `happened` to false to send it again."""
        data = self.valid(EffectResolution)
        effect = resolve(self.project, effect_id, happened=data["happened"], by=self.member_id)
        return TypedResponse(effect_payload(effect))


class ReleaseEffect(EffectDecision):
    @extend_schema(operation_id="effects_release", request=None)
    def post(self, request: Request, effect_id: UUID) -> TypedResponse[EffectPayload]:
        """Sends an effect that was held back as a repeat, or a message that stayed in the outbox."""
        return TypedResponse(effect_payload(release(self.project, effect_id, by=self.member_id)))


class AcknowledgeEffect(ProjectView):
    scopes: ClassVar = {"POST": Scope.OPERATE}

    @extend_schema(operation_id="effects_acknowledge", request=None)
    def post(self, request: Request, effect_id: UUID) -> TypedResponse[EffectPayload]:
        """Acknowledges an event that a client of the stream has received. A repeated call changes nothing.

        The effect of an event is `sending` until its subscriber acknowledges it. Any other effect gets a 409.
        """
        return TypedResponse(effect_payload(acknowledge(self.project, effect_id)))


class ToolResult(APIView):
    """The callback URL given to tools that answer later. The token is the credential and identifies the tenant."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    content_negotiation_class = JsonOnlyNegotiation
    metadata_class = None
    schema = Schema()

    @extend_schema(operation_id="tool_results_create", request={"application/json": RESULT})
    def post(self, request: Request, token: str) -> TypedResponse[ReceivedPayload]:
        """Receives the result of a tool that answers later. Repeated results are ignored.

        A body with a string `error` reports a failure. Any other body is the result.
        """
        place = find_effect(digest_of(token)) if len(token) == LENGTH else None
        if place is None:
            raise Http404
        with tenant_tx(place.organization_id):
            if not store_callback(place.effect_id, token=token, body=request._request.body):
                raise Http404
        return TypedResponse({"received": True})
