"""A tool's definition, in the schema of the source, exactly (N16-N21).

What a person writes is looked at by tools.engine.validation first, which says in sentences what is wrong. These models read what passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Condition(Part):
    """One named condition; all of a tool's must be true for it to fire (N17)."""

    type: Literal["boolean"]
    description: Annotated[str, Field(min_length=1)]


class ConflictPolicy(Part):
    """Tools that share a tag exclude each other within a turn (N19, N40)."""

    tag: Annotated[str, Field(min_length=1)]


class RetryPolicy(StrEnum):
    """What may happen to an effect whose outcome is unknown: never again, or again under the same key."""

    ONCE = "once"
    IDEMPOTENT = "idempotent"


class Trigger(StrEnum):
    """When a tool may run (D18): inside the agent's turn, in a live call, for a commitment found after its reply, or for a
    todo that staff approved.
    """

    TURN = "turn"
    LIVE = "live"
    COMMITMENT = "commitment"
    TASK = "task"


# In these a model calls the tool itself, and reads its result.
CALLED = frozenset({Trigger.TURN, Trigger.LIVE})


class ActionType(StrEnum):
    """How a tool acts (N20)."""

    SEND_EVENT = "send_event"
    SEND_WEBHOOK = "send_webhook"
    SEND_URGENT_MESSAGE = "send_urgent_message"


class Method(StrEnum):
    """How a webhook is called."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


DEFAULT_WAIT_SECONDS = 30.0
BODILESS = (Method.GET, Method.DELETE)


class WebhookOptions(Part):
    """Where a webhook goes, and what is read off the conversation for it (N45).

    `body` is a JSON Schema. `query` and `headers` are either one, or fixed texts by name. Times are in seconds: how long one
    call may take, and how long the agent waits for the result (`ToolDefinition.wait_seconds`). An endpoint with `callback`
    answers 202 now, and later at the address that it is sent.
    """

    url: str
    method: Method = Method.POST
    query: dict[str, Any] = {}
    headers: dict[str, Any] = {}
    body: dict[str, Any] = {}
    delivery: RetryPolicy | None = None
    timeout_seconds: Annotated[float, Field(ge=1, le=30)] = 10
    wait_seconds: Annotated[float, Field(ge=0, le=600)] | None = None
    callback: bool = False

    @property
    def how_often(self) -> RetryPolicy:
        """A GET changes nothing, so it may be sent again; anything else is sent once unless its owner says otherwise."""
        return self.delivery or (RetryPolicy.IDEMPOTENT if self.method is Method.GET else RetryPolicy.ONCE)

    def within(self, seconds: float) -> WebhookOptions:
        """The same call, which takes so many seconds at most."""
        return self.model_copy(update={"timeout_seconds": min(self.timeout_seconds, seconds)})

    @property
    def generated(self) -> dict[str, dict[str, Any]]:
        """The JSON Schemas of what a model reads off the conversation, by `query`, `headers` and `body`."""
        parts = {"query": self.query, "headers": self.headers, "body": self.body}
        return {name: part for name, part in parts.items() if is_schema(part)}

    @property
    def fixed_query(self) -> dict[str, str]:
        return {} if is_schema(self.query) else dict(self.query)

    @property
    def fixed_headers(self) -> dict[str, str]:
        return {} if is_schema(self.headers) else dict(self.headers)


class UrgentMessageOptions(Part):
    """What the agent is told at once, as `prefix: message` (N46). As an after-action the message is the tool's result.

    As an action without a message it is the agent's own words, the quote that the tool fired on.
    """

    prefix: str = ""
    message: str = ""


class PersonaAttributeOptions(Part):
    """Which persona attribute is set, and to what (N47): a fixed `value`, the part of the response at the dotted `path`, or
    the whole response. With an `instruction` a model makes the value from that.
    """

    attribute: str
    value: str | None = None
    path: str | None = None
    instruction: str | None = None


class PromptSectionOptions(Part):
    """Which section of the prompt is written, and with what: as for a persona attribute (N48)."""

    section: str
    value: str | None = None
    path: str | None = None
    instruction: str | None = None


class Action(Part):
    """What a tool does. The options stand as they were written; the properties read them."""

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
    """What may follow a webhook or an urgent message, in order (N21, D7)."""

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
        """The options, by the action's type."""
        return AFTER_ACTION_OPTIONS[self.type].model_validate(self.options)


class ToolDefinition(Part):
    """What a tool is for, when it fires, and what it does then. Only a tool that no commitment fires has no conditions.

    `moments` says when a project's own tool may run (D18); None is the usual (`runs_in`).
    """

    description: Annotated[str, Field(min_length=1)]
    conditions: dict[str, Condition] = {}
    use_conversation_history: Annotated[bool, Field(alias="useConversationHistory", strict=True)]
    conflict_policy: Annotated[ConflictPolicy | None, Field(alias="conflictPolicy")] = None
    moments: tuple[Trigger, ...] | None = None
    action: Action = Action()
    after_actions: list[AfterActionDefinition] = []
    # Nothing of it happens before a person has said yes to exactly its arguments (D16).
    requires_approval: Annotated[bool, Field(strict=True)] = False

    @property
    def runs_in(self) -> tuple[Trigger, ...]:
        """When it may run. By itself an event or a message of a project's own is for commitments alone, and a request may be
        made for a todo too.
        """
        if self.moments is not None:
            return self.moments
        is_webhook = self.action.type is ActionType.SEND_WEBHOOK
        return (Trigger.COMMITMENT, Trigger.TASK) if is_webhook else (Trigger.COMMITMENT,)

    @property
    def tag(self) -> str | None:
        """The conflict tag, if the tool competes."""
        return self.conflict_policy.tag if self.conflict_policy else None

    @property
    def tells(self) -> bool:
        """Whether the agent is told the end of it at once, and speaks by itself (T24)."""
        return any(action.type is AfterActionType.SEND_URGENT_MESSAGE for action in self.after_actions)

    @property
    def wait_seconds(self) -> float:
        """How long the agent waits for a webhook's result: as its options say, else while there is something to tell (T22)."""
        if self.action.type is not ActionType.SEND_WEBHOOK:
            return 0
        chosen = self.action.webhook.wait_seconds
        return chosen if chosen is not None else DEFAULT_WAIT_SECONDS if self.tells else 0


def is_schema(part: Mapping[str, Any]) -> bool:
    """Whether a part of a request is a JSON Schema, to be filled from the conversation, and not texts by name."""
    return part.get("type") == "object"
