"""Types of the API's todo objects. The OpenAPI document is generated from them."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from projects.common.presenters import Id, Stamp, Url
from projects.models import Role
from todos.models import SecondApprover, TodoSource, TodoStatus
from tools.engine.payloads import EffectPayload

Arguments = Annotated[dict[str, Any], "The tool's arguments, by parameter name."]


class TodoTypePayload(TypedDict):
    id: Id
    name: str
    description: str
    tools: list[str]
    model: str | None
    recipients: list[str]
    approver_role: Annotated[str, Role]
    second_approver: Annotated[str, SecondApprover]
    limit_argument: str | None
    limit_value: float | None
    expires_after_hours: int
    is_extracted: bool
    created_at: Stamp
    updated_at: Stamp


class TodoPayload(TypedDict):
    """A todo without its steps and history, as returned in lists."""

    id: Id
    type: Id | None
    type_name: str | None
    title: Annotated[str, "A name of at most 60 characters. It is made from the description if none was given."]
    description: str
    status: Annotated[str, TodoStatus]
    reason: Annotated[str | None, "The reason for the current status."]
    source: Annotated[str, TodoSource]
    conversation: Id | None
    turn: Id | None
    persona: Id | None
    promise: Id | None
    due_at: Annotated[Stamp | None, "When its promise is due; null if it has none, or one that isn't open any more."]
    effect: Annotated[Id | None, "The planned effect that this todo runs once approved."]
    quote: str | None
    tool: str | None
    arguments: Arguments | None
    recipients: list[str]
    repeats: Annotated[list[Id], "Effects of earlier runs to repeat."]
    version: int
    taker: Annotated[str | None, "Name of the person or API key doing it by hand."]
    taken_by: Id | None
    created_at: Stamp
    status_at: Stamp
    expires_at: Stamp


class ContactPayload(TypedDict):
    id: Id
    name: str
    phone: str
    email: str


class ContentPayload(TypedDict):
    """Everything that determines what the todo will do. Approvals are bound to this content."""

    description: str
    contact: ContactPayload | None
    conversation: Id | None
    type: str | None
    model: str
    tools: Annotated[dict[str, str | None], "Each tool's version fingerprint; null if the tool is unavailable."]
    tool: str | None
    arguments: Arguments | None
    recipients: list[str]
    effect: Id | None
    repeats: list[Id]


class UnsentPayload(TypedDict):
    """A message that would reach nobody."""

    kind: str
    reason: str


class ApprovalPayload(TypedDict):
    id: Id
    version: int
    content_hash: str
    approver: str
    approved_by: Annotated[Id | None, "The member who approved it; null for a standing rule or an API key."]
    rule: Id | None
    needs_second: bool
    second_approver: str | None
    second_at: Stamp | None
    is_complete: bool
    created_at: Stamp
    expires_at: Stamp
    ended_at: Stamp | None


class ApprovedPayload(TypedDict):
    version: int
    content_hash: str
    content: ContentPayload


class TodoCallPayload(TypedDict):
    name: str
    arguments: Annotated[Arguments | None, "Null if the model did not return a JSON object."]
    effect: Id | None
    result: str | None
    is_error: bool
    next_attempt_at: Annotated[
        Stamp | None, "When the tool is tried again, after an attempt at which nothing happened."
    ]
    finished_at: Stamp | None


class TodoStepPayload(TypedDict):
    number: int
    approval: Id
    content: str | None
    model: Annotated[str | None, "Null if the arguments were fixed in advance, so no model was called."]
    cost: Annotated[float | None, "In US dollars."]
    total_ms: int | None
    started_at: Stamp
    finished_at: Stamp | None
    calls: list[TodoCallPayload]


# The functional syntax, because `from` is a keyword.
TodoEventPayload = TypedDict(
    "TodoEventPayload",
    {
        "what": str,
        "from": Annotated[str, TodoStatus] | None,
        "to": Annotated[str, TodoStatus] | None,
        "version": int,
        "actor": Annotated[str | None, "Name of the person, API key or process."],
        "member": Id | None,
        "detail": Annotated[dict[str, Any], "Additional fields; they depend on `what`."],
        "at": Stamp,
    },
)


class ApprovalFieldsPayload(TypedDict, total=False):
    """Fields that only an approval returns: a message, and the content that was approved."""

    message: str
    approved: ApprovedPayload


class TodoDetailPayload(TodoPayload):
    content: ContentPayload
    content_hash: str
    why_not_runnable: Annotated[str | None, "The reason why the todo can't be approved."]
    unsent: Annotated[list[UnsentPayload], "Messages of an approvable todo that would reach nobody."]
    by_hand: Annotated[bool, "True if the todo has no tools, so a person has to do it."]
    wanted_recipients: Annotated[list[str], "Addresses that the last run tried to write to without approval."]
    approval: ApprovalPayload | None
    steps: list[TodoStepPayload]
    effects: list[EffectPayload]
    history: list[TodoEventPayload]


class TodoVerbPayload(TodoDetailPayload, ApprovalFieldsPayload):
    """The updated todo. Only `approve` returns `message` and `approved`."""


class TodoAnswerPayload(TypedDict):
    """The result for one todo of a batch: its approval, or the reason why it was refused."""

    todo: Id
    approval: ApprovalPayload | None
    refused: str | None
    unsent: list[UnsentPayload]


class TodoRejectionPayload(TypedDict):
    """The result for one todo of a batch. `refused` is the reason why it wasn't rejected."""

    todo: Id
    refused: str | None


class PastPayload(TypedDict):
    """Past todos that a rule would have approved, out of `considered` todos."""

    considered: int
    results: list[TodoPayload]
    next: Url | None


class StandingRulePayload(TypedDict):
    id: Id
    tool: str
    type: Id | None
    allowed: Annotated[dict[str, Any], "The limit of each argument, as in the request body."]
    most_per_day: int
    created_by: Id
    created_at: Stamp
    ended_at: Stamp | None
