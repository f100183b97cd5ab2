"""What the API shows of conversations, field by field; the OpenAPI document is made of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from conversations.models import Channel, ConversationStatus, MessageRole, TurnStatus
from conversations.models.event import EventType
from conversations.models.turn import Freshness, Origin
from conversations.models.wait import WaitOutcome
from jobs.presenters import JobPayload, ModelCallPayload
from projects.common.presenters import Id, Stamp
from tools.engine.analysis.steps import SkillGroup
from tools.engine.execution.outcome import Signal
from tools.engine.payloads import EffectPayload, PromisePayload, VerdictPayload

Block = Annotated[dict[str, Any], "What a widget shows in place of words, by its `type`."]
Arguments = Annotated[dict[str, Any], "As the tool's parameters have them."]


class MessagePayload(TypedDict):
    """`author` is the operator's name, and stands with an operator's messages alone."""

    id: Id
    seq: int
    role: Annotated[str, MessageRole]
    content: str
    blocks: list[Block]
    turn: Id | None
    created_at: Stamp
    author: NotRequired[str]


class KnownPayload(TypedDict):
    field: str
    value: str


class WrittenPayload(TypedDict):
    """What thoughts wrote: `conversations.prompts.thoughts.KeyDirectives`."""

    scenario: str
    step: str
    goal: str
    instructions: list[str]
    to_collect: list[str]
    known: list[KnownPayload]
    tools_pending: list[str]
    avoid: list[str]


class DirectivesPayload(WrittenPayload):
    """What the agent does next."""

    version: int
    turn: Id
    created_at: Stamp


class PersonaPayload(TypedDict):
    """The customer; `attributes` are every field known about them, those that have a place of their own among them."""

    id: Id
    external_id: str
    name: str | None
    phone: str | None
    email: str | None
    flagged: bool
    flag_reason: str | None
    attributes: dict[str, str]
    created_at: Stamp


class WaitPayload(TypedDict):
    waiting: bool
    reason: str
    effect: Id | None
    opened_at: Stamp
    until: Stamp
    ended_at: Stamp | None
    outcome: Annotated[str, WaitOutcome] | None


class OperatorPayload(TypedDict):
    name: str
    since: Stamp | None


class ConversationPayload(TypedDict):
    id: Id
    channel: Annotated[str, Channel]
    status: Annotated[str, ConversationStatus]
    persona: PersonaPayload
    metadata: Annotated[dict[str, Any], "As it was given."]
    operator: Annotated[OperatorPayload | None, "Who has the conversation; null while the agent answers in it."]
    waiting: bool
    waits: Annotated[list[WaitPayload], "Those that are open."]
    follow_up_at: Stamp | None
    directives: DirectivesPayload | None
    flag: Annotated[str | None, "Why staff should look."]
    recovery: Annotated[str | None, "Why it goes badly, while it does."]
    correction: Annotated[str | None, "What the agent said was done and wasn't, until it has put that right."]
    created_at: Stamp
    updated_at: Stamp


class HoursPayload(TypedDict):
    open: bool
    reason: str


class QualityPayload(TypedDict):
    """`score` is from 1 to 10."""

    score: int
    reason: str


class RefusedPayload(TypedDict):
    field: str
    value: str
    reason: str


class TurnSummaryPayload(TypedDict):
    """The turn itself, without what hangs on it."""

    id: Id
    seq: int
    conversation: Id
    origin: Annotated[str, Origin]
    status: Annotated[str, TurnStatus]
    superseded_by: Id | None
    message: Id | None
    reply: MessagePayload | None
    partial: Annotated[str | None, "What a superseded reply had written."]
    freshness: Annotated[str, Freshness]
    working_hours: Annotated[HoursPayload | None, "As they were when the reply began."]
    quality: QualityPayload | None
    refused: Annotated[list[RefusedPayload], "The observer's readings that could not be kept."]
    tools_called: bool
    error: str | None
    created_at: Stamp
    started_at: Stamp | None
    first_token_at: Stamp | None
    replied_at: Stamp | None
    finished_at: Stamp | None


class TurnCallPayload(TypedDict):
    id: Id
    tool: str
    arguments: Annotated[Arguments | None, "Null when the model's text was no JSON object."]
    arguments_text: Annotated[str | None, "That text."]
    result: str | None
    is_error: bool
    effect: Id | None
    block: Block | None
    signal: Annotated[str, Signal] | None
    created_at: Stamp
    finished_at: Stamp | None


class TurnStepPayload(TypedDict):
    """One hop: what the model said beside its calls, and each call with what it was told."""

    number: int
    content: str | None
    created_at: Stamp
    calls: list[TurnCallPayload]


class AnalysisStepPayload(TypedDict):
    number: int
    name: str
    group: Annotated[str, SkillGroup]
    held: Annotated[dict[str, Any], "What it held, by its name."]


class ObservedPayload(TypedDict):
    field: str
    value: str
    quote: str


class TurnPayload(TurnSummaryPayload):
    steps: list[TurnStepPayload]
    jobs: list[JobPayload]
    verdicts: list[VerdictPayload]
    effects: list[EffectPayload]
    directives_used: DirectivesPayload | None
    directives_written: DirectivesPayload | None
    promises: list[PromisePayload]
    waits: list[WaitPayload]
    analysis: list[AnalysisStepPayload] | None
    observed: list[ObservedPayload]
    model_calls: list[ModelCallPayload]


class PostedPayload(TypedDict):
    """`turn` is null while an operator has the conversation. `operator` says who that is, also where one took it over while
    the reply was waited for; there `reply` is null.
    """

    message: MessagePayload
    turn: TurnSummaryPayload | None
    reply: NotRequired[MessagePayload | None]
    operator: NotRequired[OperatorPayload | None]


class RepliedPayload(TypedDict):
    message: MessagePayload
    turn: TurnSummaryPayload
    reply: MessagePayload | None


class SentEventPayload(TypedDict):
    """`turn` is the one that the event caused."""

    idn: str
    turn: TurnSummaryPayload | None


class EventPayload(TypedDict):
    seq: int
    idn: str
    connector: str
    type: Annotated[str, EventType] | None
    payload: Annotated[dict[str, Any], "By `idn`; a custom event's is as it was given."]
    created_at: datetime


class HandedBackPayload(ConversationPayload):
    """`turn` is the agent's answer to what the customer has written since, if that is unanswered."""

    turn: TurnSummaryPayload | None
