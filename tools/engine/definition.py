"""Tool definitions as pydantic models.

`tools.engine.validation` checks a tenant's input first and explains each mistake; these models parse input that passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Condition(Part):
    """A named condition. A tool fires only if all its conditions are true."""

    type: Literal["boolean"]
    description: Annotated[str, Field(min_length=1)]


class ConflictPolicy(Part):
    """Tools that share a tag are mutually exclusive within a turn."""

    tag: Annotated[str, Field(min_length=1)]


class RetryPolicy(StrEnum):
    """Retry behavior of an effect with an unknown outcome: never, or again with the same idempotency key."""

    ONCE = "once"
    IDEMPOTENT = "idempotent"


class Trigger(StrEnum):
    """When a tool may run: inside the agent's turn, in a live call, for a commitment found after the reply, or for a
    todo that staff approved.
    """

    TURN = "turn"
    LIVE = "live"
    COMMITMENT = "commitment"
    TASK = "task"


# Triggers on which a model calls the tool itself and reads its result.
CALLED = frozenset({Trigger.TURN, Trigger.LIVE})


class ActionType(StrEnum):
    """The ways a tool acts."""

    SEND_EVENT = "send_event"
    SEND_WEBHOOK = "send_webhook"
    SEND_URGENT_MESSAGE = "send_urgent_message"


class Method(StrEnum):
    """HTTP method of a webhook."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


DEFAULT_WAIT_SECONDS = 30.0
BODILESS = (Method.GET, Method.DELETE)


class WebhookOptions(Part):
    """The request of a webhook and the parts of it that a model fills in.

    `body` is a JSON Schema. `query` and `headers` are either a JSON Schema or fixed texts by name. `timeout_seconds`
    limits one call; `wait_seconds` is how long the agent waits for the result (see `ToolDefinition.wait_seconds`). With
    `callback`, the endpoint answers 202 and later posts the result to the callback URL it was sent.
    """

    url: str
    method: Method = Method.POST
    query: dict[str, Any] = {}
    headers: dict[str, Any] = {}
    body: dict[str, Any] = {}
    delivery: RetryPolicy | None = None
    timeout_seconds: Annotated[float, Field(strict=True, ge=1, le=30)] = 10
    wait_seconds: Annotated[float, Field(strict=True, ge=0, le=600)] | None = None
    callback: Annotated[bool, Field(strict=True)] = False

    @property
    def how_often(self) -> RetryPolicy:
        """The retry policy: as configured, otherwise idempotent for GET and once for every other method."""
        return self.delivery or (RetryPolicy.IDEMPOTENT if self.method is Method.GET else RetryPolicy.ONCE)

    def within(self, seconds: float) -> WebhookOptions:
        """The same options with the timeout capped at this many seconds."""
        return self.model_copy(update={"timeout_seconds": min(self.timeout_seconds, seconds)})

    @property
    def generated(self) -> dict[str, dict[str, Any]]:
        """The JSON Schemas that a model fills in, keyed by `query`, `headers` and `body`."""
        parts = {"query": self.query, "headers": self.headers, "body": self.body}
        return {name: part for name, part in parts.items() if is_schema(part)}

    @property
    def fixed_query(self) -> dict[str, str]:
        return {} if is_schema(self.query) else dict(self.query)

    @property
    def fixed_headers(self) -> dict[str, str]:
        return {} if is_schema(self.headers) else dict(self.headers)


class UrgentMessageOptions(Part):
    """A message to the agent, in the form `prefix: message`.

    Without a message, an after-action sends the tool's result, and an action sends the agent's quote that fired the
    tool.
    """

    prefix: str = ""
    message: str = ""


class PersonaAttributeOptions(Part):
    """The persona attribute to set, and its value.

    The value is the fixed `value`, the part of the response at the dotted `path`, or the whole response. With an
    `instruction`, a model derives the value from that input.
    """

    attribute: str
    value: str | None = None
    path: str | None = None
    instruction: str | None = None


class PromptSectionOptions(Part):
    """The prompt section to write, and its content. The content is chosen as in `PersonaAttributeOptions`."""

    section: str
    value: str | None = None
    path: str | None = None
    instruction: str | None = None


class Action(Part):
    """The action of a tool. `options` are kept as written; the properties parse them."""

    type: ActionType = ActionType.SEND_EVENT
    options: Annotated[dict[str, Any], Field(description="By its type.")] = {}

    @property
    def webhook(self) -> WebhookOptions:
        """The options of a `send_webhook`."""
        return WebhookOptions.model_validate(self.options)

    @property
    def urgent_message(self) -> UrgentMessageOptions:
        """The options of a `send_urgent_message`."""
        return UrgentMessageOptions.model_validate(self.options)


class AfterActionType(StrEnum):
    """The actions that may follow a webhook or an urgent message."""

    SEND_URGENT_MESSAGE = "send_urgent_message"
    SET_PERSONA_ATTRIBUTE = "set_persona_attribute"
    SET_PROMPT_SECTION = "set_prompt_section"


AfterActionOptions = UrgentMessageOptions | PersonaAttributeOptions | PromptSectionOptions
AFTER_ACTION_OPTIONS: Mapping[AfterActionType, type[AfterActionOptions]] = {
    AfterActionType.SEND_URGENT_MESSAGE: UrgentMessageOptions,
    AfterActionType.SET_PERSONA_ATTRIBUTE: PersonaAttributeOptions,
    AfterActionType.SET_PROMPT_SECTION: PromptSectionOptions,
}


class AfterActionDefinition(Part):
    type: AfterActionType
    options: Annotated[dict[str, Any], Field(description="By its type.")] = {}

    @property
    def read(self) -> AfterActionOptions:
        """The parsed options."""
        return AFTER_ACTION_OPTIONS[self.type].model_validate(self.options)


class ToolDefinition(Part):
    """The purpose of a tool, the conditions on which it fires, and its action.

    Conditions may be empty only if the tool has no COMMITMENT trigger. `moments` lists the triggers of a custom tool;
    None means the defaults of `runs_in`.
    """

    description: Annotated[str, Field(min_length=1)]
    conditions: Annotated[dict[str, Condition], Field(json_schema_extra={"maxProperties": 20})] = {}
    use_conversation_history: Annotated[bool, Field(alias="useConversationHistory", strict=True)]
    conflict_policy: Annotated[ConflictPolicy | None, Field(alias="conflictPolicy")] = None
    moments: Annotated[tuple[Trigger, ...] | None, Field(json_schema_extra={"minItems": 1, "uniqueItems": True})] = None
    action: Action = Action()
    after_actions: list[AfterActionDefinition] = []
    # False for an act of the conversation, which opens no promise and is in no figure.
    keeps_promise: Annotated[bool, Field(strict=True)] = True
    # No attempt is made until a person has approved exactly these arguments.
    requires_approval: Annotated[bool, Field(strict=True)] = False

    @property
    def runs_in(self) -> tuple[Trigger, ...]:
        """The triggers of the tool. By default an event or message runs for commitments only, a webhook for todos as
        well.
        """
        if self.moments is not None:
            return self.moments
        is_webhook = self.action.type is ActionType.SEND_WEBHOOK
        return (Trigger.COMMITMENT, Trigger.TASK) if is_webhook else (Trigger.COMMITMENT,)

    @property
    def tag(self) -> str | None:
        """The conflict tag, if any."""
        return self.conflict_policy.tag if self.conflict_policy else None

    @property
    def tells(self) -> bool:
        """True if the agent is told the result at once and speaks without being asked."""
        return any(action.type is AfterActionType.SEND_URGENT_MESSAGE for action in self.after_actions)

    @property
    def wait_seconds(self) -> float:
        """Seconds the agent waits for a webhook's result: as configured, otherwise 30 if the result is told at once,
        else 0.
        """
        if self.action.type is not ActionType.SEND_WEBHOOK:
            return 0
        chosen = self.action.webhook.wait_seconds
        return chosen if chosen is not None else DEFAULT_WAIT_SECONDS if self.tells else 0


def is_schema(part: Mapping[str, Any]) -> bool:
    """True if part of a request is a JSON Schema to fill from the conversation rather than fixed texts by name."""
    return part.get("type") == "object"
