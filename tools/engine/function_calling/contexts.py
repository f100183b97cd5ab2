"""Session contexts: data a live channel sends with each call, in three shapes.

None of it comes from a model. The phone provider's auth token is never shown to a model, logged or stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StrictBool, ValidationError
from pydantic.alias_generators import to_camel


class ContextRefused(ValueError):
    """The context is invalid. The message never includes its values."""


class Context(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    @property
    def call(self) -> Mapping[str, Any]:
        """The data of the call that tools may use."""
        return {}


class PhoneContext(Context):
    """A phone call. `interaction_id` is our conversation, `caller_phone` the caller's number, empty if withheld.

    The other fields are accepted from bridges that send them. `call_sid` and `caller_id` are passed to tools. A claim
    that the caller is verified counts for nothing, and the phone provider's token is dropped: we don't call it.
    """

    channel: Literal["phone"]
    caller_phone: str = Field(max_length=40)
    interaction_id: UUID
    call_sid: str = Field(default="", max_length=64)
    caller_id: str = Field(default="", max_length=64)
    auth_token: SecretStr = SecretStr("")
    caller_verified: StrictBool = False

    @property
    def call(self) -> Mapping[str, Any]:
        return self.model_dump(mode="json", exclude={"auth_token", "caller_verified", "channel"})


class PortalContext(Context):
    """A chat in the customer portal."""

    channel: Literal["portal"]
    business_id: UUID


class BrowserVoiceContext(Context):
    """A call from a browser; it carries only its business."""

    business_id: UUID


# Context models by channel.
CONTEXT_TYPES: Mapping[str, type[Context]] = {
    "phone": PhoneContext,
    "portal": PortalContext,
    "webcall": BrowserVoiceContext,
}


def read_context(document: Any, *, business_id: UUID, conversation_id: UUID, channel: str) -> Context:
    """Parse the context of a call and check that it belongs to this business and conversation. Raises ContextRefused."""
    if channel not in CONTEXT_TYPES:
        raise ContextRefused(
            f"Conversations on {channel} don't support live calls; those on {', '.join(CONTEXT_TYPES)} do."
        )
    if not isinstance(document, Mapping):
        raise ContextRefused("context must be an object.")
    try:
        context = CONTEXT_TYPES[channel].model_validate(dict(document))
    except ValidationError as error:
        raise ContextRefused(_sentence(error)) from None
    if getattr(context, "business_id", business_id) != business_id:
        raise ContextRefused("context.businessId doesn't match the API key's business.")
    if getattr(context, "interaction_id", conversation_id) != conversation_id:
        raise ContextRefused("context.interactionId doesn't match the conversation.")
    return context


def _sentence(error: ValidationError) -> str:
    """The first error, without the input."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return f"context.{'.'.join(map(str, first['loc']))}: {first['msg']}."
