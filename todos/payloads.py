"""What the API shows of the todos, field by field; the OpenAPI document is made of it."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from projects.common.presenters import Id, Stamp, Url
from projects.models import Role
from todos.models import SecondApprover, TodoSource, TodoStatus
from tools.engine.payloads import EffectPayload

Arguments = Annotated[dict[str, Any], "As the tool's parameters have them."]


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
    """A todo as lists show it."""

    id: Id
    type: Id | None
    type_name: str | None
    description: str
    status: Annotated[str, TodoStatus]
    reason: Annotated[str | None, "Why it stands where it stands."]
    source: Annotated[str, TodoSource]
    conversation: Id | None
    turn: Id | None
    persona: Id | None
    promise: Id | None
    effect: Annotated[Id | None, "The planned effect that waits for this approval."]
    quote: str | None
    tool: str | None
    arguments: Arguments | None
    recipients: list[str]
    repeats: Annotated[list[Id], "Effects of earlier runs to be done once more."]
    version: int
    taker: Annotated[str | None, "Who carries it out by hand, in words."]
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
    """Everything of a todo that decides what will happen: what a yes is for."""

    description: str
    contact: ContactPayload | None
    conversation: Id | None
    type: str | None
    model: str
    tools: Annotated[dict[str, str | None], "What tells one version of a tool from another; null for one that is gone."]
    tool: str | None
    arguments: Arguments | None
    recipients: list[str]
    effect: Id | None
    repeats: list[Id]


class UnsentPayload(TypedDict):
    """A letter that would reach nobody."""

    kind: str
    reason: str


class ApprovalPayload(TypedDict):
    id: Id
    version: int
    content_hash: str
    approver: str
    approved_by: Annotated[Id | None, "The member; null for a standing rule or an API key."]
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
    arguments: Annotated[Arguments | None, "Null when the model's text was no JSON object."]
    effect: Id | None
    result: str | None
    is_error: bool
    finished_at: Stamp | None


class TodoStepPayload(TypedDict):
    number: int
    approval: Id
    content: str | None
    model: Annotated[str | None, "Null for frozen arguments, which ask no model."]
    cost: Annotated[float | None, "In US dollars."]
    total_ms: int | None
    started_at: Stamp
    finished_at: Stamp | None
    calls: list[TodoCallPayload]


# `from` is no name that a class could have.
TodoEventPayload = TypedDict(
    "TodoEventPayload",
    {
        "what": str,
        "from": Annotated[str, TodoStatus] | None,
        "to": Annotated[str, TodoStatus] | None,
        "version": int,
        "actor": Annotated[str | None, "Who did it, in words."],
        "member": Id | None,
        "detail": Annotated[dict[str, Any], "What there is to say of it, by what happened."],
        "at": Stamp,
    },
)


class YesPayload(TypedDict, total=False):
    """What is answered to an approval alone: a sentence, and what exactly the yes is for."""

    message: str
    approved: ApprovedPayload


class TodoDetailPayload(TodoPayload):
    content: ContentPayload
    content_hash: str
    why_not_runnable: Annotated[str | None, "What keeps it from being approved."]
    unsent: Annotated[list[UnsentPayload], "Letters of one that can be approved which would reach nobody."]
    by_hand: Annotated[bool, "Whether no tool carries it out."]
    wanted_recipients: Annotated[list[str], "Whom its last run wanted to write to, and nobody has approved."]
    approval: ApprovalPayload | None
    steps: list[TodoStepPayload]
    effects: list[EffectPayload]
    history: list[TodoEventPayload]


class TodoVerbPayload(TodoDetailPayload, YesPayload):
    """The todo as it stands then; `message` and `approved` are answered to an approval alone."""


class TodoAnswerPayload(TypedDict):
    """One of several that were to be approved: the approval, or why it was refused."""

    todo: Id
    approval: ApprovalPayload | None
    refused: str | None
    unsent: list[UnsentPayload]


class PastPayload(TypedDict):
    """What a rule would have let through, of how many todos that were looked at."""

    considered: int
    results: list[TodoPayload]
    next: Url | None


class StandingRulePayload(TypedDict):
    id: Id
    tool: str
    type: Id | None
    allowed: Annotated[dict[str, Any], "What may stand in each argument, in the form of the body."]
    most_per_day: int
    created_by: Id
    created_at: Stamp
    ended_at: Stamp | None
