"""TypedDicts of the tools' API payloads; the OpenAPI schema is generated from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from projects.common.presenters import Id, Stamp
from tools.engine.definition import AfterActionType, RetryPolicy, ToolDefinition, Trigger
from tools.models import AfterActionState, EffectOrigin, EffectState, PromiseState, ReceiptState

Definition = Annotated[dict[str, Any], ToolDefinition]
# Why a mentioned tool did not fire: a detection rule, a lost conflict, or a held duplicate.
HeldBackBy = Annotated[
    str,
    Literal[
        "in_progress",
        "completed",
        "future_step",
        "offer",
        "subject",
        "negation",
        "quotation",
        "condition",
        "lost_rerank",
        "held",
    ],
]
VoidBecause = Annotated[str, Literal["no_words", "relayed"]]
EvidenceName = Annotated[str, Literal["effect", "acknowledged", "delivered", "person", "outbox", "sent"]]
OwnerName = Annotated[str, Literal["tool", "staff"]]
ToolOrigin = Annotated[str, Literal["built-in", "custom"]]


class ToolRegistration(TypedDict):
    """Definitions by name."""

    tools: dict[str, Definition]


class EffectReceiptPayload(TypedDict):
    """How far an effect's message came, as the provider reports it."""

    state: Annotated[str, ReceiptState]
    reason: Annotated[str, "Why it failed, in plain words; empty otherwise."]
    at: Stamp | None
    due_at: Annotated[Stamp | None, "When a receipt that hasn't come becomes unknown."]


class EffectPayload(TypedDict):
    id: Id
    tool: str
    version: int
    kind: str
    delivery: Annotated[str, RetryPolicy]
    origin: Annotated[str, EffectOrigin]
    state: Annotated[str, EffectState]
    conversation: Id | None
    turn: Id | None
    quote: Annotated[str, "The agent's exact words."]
    arguments: Annotated[dict[str, Any], "As the tool's parameters have them."]
    result: Annotated[Any, "Data that the tool answered with, as it came."]
    told: Annotated[str | None, "What the agent was told of it."]
    error: str | None
    attempts: int
    http_status: int | None
    adapter: str | None
    repeats: Annotated[Id | None, "The effect that a held one repeats."]
    created_at: Stamp
    started_at: Stamp | None
    accepted_at: Annotated[Stamp | None, "When a tool that answers later took it on."]
    acknowledged_at: Annotated[Stamp | None, "When the subscriber of its event acknowledged it."]
    receipt: Annotated[EffectReceiptPayload | None, "Null where the provider reports nothing."]
    finished_at: Stamp | None
    resolved_at: Stamp | None


class AfterActionPayload(TypedDict):
    type: Annotated[str, AfterActionType]
    state: Annotated[str, AfterActionState]
    options: Annotated[dict[str, Any], "As the tool's definition has them for this type."]
    raw: Annotated[str | None, "Its input."]
    value: Annotated[str | None, "What became of it."]
    error: str | None
    finished_at: Stamp | None


class EffectDetailPayload(EffectPayload):
    key: str
    request: Annotated[dict[str, Any] | None, "What was sent, without secrets, as its kind is sent."]
    response: Annotated[str | None, "What came back, cut."]
    deadline_at: Stamp | None
    next_attempt_at: Annotated[Stamp | None, "When it is tried again, after an attempt at which nothing happened."]
    resolved_by: Id | None
    after_actions: list[AfterActionPayload]


class PromisePayload(TypedDict):
    id: Id
    quote: Annotated[str, "The agent's exact words."]
    tool: Annotated[str | None, "Null when no tool can serve it."]
    effect: Id | None
    state: Annotated[str, PromiseState]
    evidence: Annotated[
        EvidenceName | None,
        "The proof behind the state. `outbox`: not sent, neither kept nor broken. `sent`: on its way, until a receipt says "
        "whether it arrived.",
    ]
    owner: Annotated[OwnerName | None, "The side that has to act on it. Null once it is closed."]
    reason: str | None
    conversation: Id
    turn: Id
    message: Id
    due_at: Stamp
    created_at: Stamp
    closed_at: Stamp | None


class VerdictPayload(TypedDict):
    """The reason why a tool fired or did not."""

    tool: str
    fired: bool
    reason: str
    rule: Annotated[HeldBackBy | None, "Null for one that fired."]
    void: Annotated[VoidBecause | None, "Its quote is not in the reply, or a tool told the agent these words."]
    quote: str
    conditions: dict[str, bool]


class ToolPayload(TypedDict):
    name: str
    origin: ToolOrigin
    overrides: Annotated[ToolOrigin | None, "Whose tool of the same name this one stands in for."]
    offered: bool
    why_not: str | None
    moments: list[Annotated[str, Trigger]]
    version: int
    kind: str
    keeps_promise: Annotated[bool, "False for an act of the conversation, such as a goodbye or a look-up."]
    capability: str | None
    channels: Annotated[list[str], "Those that it is confined to; none for all."]
    category: str | None
    parameters: Annotated[dict[str, Any] | None, "The JSON Schema that a model fills in when it calls the tool itself."]
    section: str | None
    definition: Definition
