"""API payloads of conversations. The OpenAPI document is generated from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from conversations.models import (
    Channel,
    ConsentKind,
    ConsentSource,
    ConversationStatus,
    MessageRole,
    TurnStatus,
)
from conversations.models.event import EventType
from conversations.models.turn import Freshness, Origin
from conversations.models.wait import WaitOutcome
from jobs.presenters import JobPayload, ModelCallPayload
from projects.common.presenters import Id, Stamp
from tools.engine.analysis.steps import SkillGroup
from tools.engine.execution.outcome import Signal
from tools.engine.payloads import EffectPayload, PromisePayload, VerdictPayload
from tools.models import ReceiptState

Block = Annotated[dict[str, Any], "A widget block shown in place of text. Its shape depends on `type`."]
Arguments = Annotated[dict[str, Any], "The call's arguments, by the tool's parameters."]


class StoredAttachment(TypedDict):
    """An attached file, as its message keeps it."""

    id: Id
    name: str
    content_type: str
    size: Annotated[int, "In bytes."]


class AttachmentPayload(StoredAttachment):
    """An attached file. `url` opens it without credentials: that of a customer's file for seven days, any other until the
    file is deleted."""

    url: str


class ReceiptPayload(TypedDict):
    """How far a message came on its messenger: the part that came least far decides."""

    state: Annotated[str, ReceiptState]
    reason: Annotated[str, "Why it failed, in plain words; empty otherwise."]


class MessagePayload(TypedDict):
    """A message in a conversation. `author` is the operator's name and is present only on operator messages, `receipt` only
    on listed messages that go out by a messenger.
    """

    id: Id
    seq: int
    role: Annotated[str, MessageRole]
    content: str
    blocks: list[Block]
    attachments: list[AttachmentPayload]
    turn: Id | None
    created_at: Stamp
    author: NotRequired[str]
    receipt: NotRequired[ReceiptPayload]


class KnownPayload(TypedDict):
    field: str
    value: str


class WrittenPayload(TypedDict):
    """Directives as the thoughts flow wrote them: `conversations.prompts.thoughts.KeyDirectives`."""

    scenario: str
    step: str
    goal: str
    instructions: list[str]
    to_collect: list[str]
    known: list[KnownPayload]
    tools_pending: list[str]
    avoid: list[str]


class DirectivesPayload(WrittenPayload):
    """The agent's instructions for its next reply."""

    version: int
    turn: Id
    created_at: Stamp


class PersonaPayload(TypedDict):
    """A customer. `attributes` holds every known field, including `name`, `phone` and `email`."""

    id: Id
    external_id: str
    name: str | None
    phone: str | None
    email: str | None
    flagged: bool
    flag_reason: str | None
    attributes: dict[str, str]
    created_at: Stamp


class ConsentPayload(TypedDict):
    """A consent that the customer gave or withdrew. `quote` holds their words, if it comes from those."""

    kind: Annotated[str, ConsentKind]
    given: bool
    quote: str | None
    source: Annotated[str, ConsentSource]
    at: Stamp


class CustomerPayload(PersonaPayload):
    """A customer with the history of their consents, newest first, at most 100. A withdrawal stops every tool of its kind."""

    consents: list[ConsentPayload]


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


class RatingPayload(TypedDict):
    """The customer's rating of a conversation, the newest if there were several."""

    score: Annotated[int, "Stars, 1 to 5."]
    comment: str
    message: Annotated[int, "`seq` of the last message before the rating."]
    at: Stamp


class ConversationPayload(TypedDict):
    id: Id
    channel: Annotated[str, Channel]
    status: Annotated[str, ConversationStatus]
    persona: PersonaPayload
    fields: Annotated[dict[str, str], "What is known in this conversation alone: fields of the scope `conversation`."]
    metadata: Annotated[dict[str, Any], "The metadata set when the conversation was created."]
    operator: Annotated[OperatorPayload | None, "The operator in charge; null while the agent answers."]
    waiting: bool
    waits: Annotated[list[WaitPayload], "Open waits."]
    follow_up_at: Stamp | None
    directives: DirectivesPayload | None
    flag: Annotated[str | None, "Why staff should look."]
    recovery: Annotated[str | None, "Why the conversation is going badly; null otherwise."]
    correction: Annotated[str | None, "What the agent wrongly reported as done, until a reply corrects it."]
    rating: Annotated[RatingPayload | None, "The customer's rating; null without one."]
    created_at: Stamp
    updated_at: Stamp


class HoursPayload(TypedDict):
    open: bool
    reason: str


class QualityPayload(TypedDict):
    """A quality score from 1 (worst) to 10 (best), with its reason."""

    score: int
    reason: str


class RefusedPayload(TypedDict):
    field: str
    value: str
    reason: str


class TurnSummaryPayload(TypedDict):
    """A turn without its related objects."""

    id: Id
    seq: int
    conversation: Id
    origin: Annotated[str, Origin]
    status: Annotated[str, TurnStatus]
    superseded_by: Id | None
    message: Id | None
    reply: MessagePayload | None
    partial: Annotated[str | None, "The text a superseded reply had produced."]
    freshness: Annotated[str, Freshness]
    working_hours: Annotated[HoursPayload | None, "Business hours status at the start of the reply."]
    quality: QualityPayload | None
    refused: Annotated[list[RefusedPayload], "Observed values that failed validation."]
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
    arguments: Annotated[Arguments | None, "Null if the model's arguments are not a JSON object."]
    arguments_text: Annotated[str | None, "The model's raw arguments; set only if `arguments` is null."]
    result: str | None
    is_error: bool
    effect: Id | None
    block: Block | None
    signal: Annotated[str, Signal] | None
    created_at: Stamp
    finished_at: Stamp | None


class TurnStepPayload(TypedDict):
    """One model response with tool calls: the text beside the calls, and each call with its result."""

    number: int
    content: str | None
    created_at: Stamp
    calls: list[TurnCallPayload]


class AnalysisStepPayload(TypedDict):
    number: int
    name: str
    group: Annotated[str, SkillGroup]
    held: Annotated[dict[str, Any], "The step's output. Its shape depends on `name`."]


class ObservedPayload(TypedDict):
    field: str
    value: str
    quote: str


class TurnPromisePayload(PromisePayload):
    """A promise of a turn. `todo` and `taker` are set while a person has to keep it."""

    todo: Annotated[Id | None, "The todo in which a person keeps it."]
    taker: Annotated[str | None, "The person who has taken it on. Null if nobody has it yet."]


class TurnEffectPayload(EffectPayload):
    """An effect of a turn."""

    next_attempt_at: Annotated[Stamp | None, "When it is tried again, after an attempt at which nothing happened."]


class TurnPayload(TurnSummaryPayload):
    steps: list[TurnStepPayload]
    jobs: list[JobPayload]
    verdicts: list[VerdictPayload]
    effects: list[TurnEffectPayload]
    directives_used: DirectivesPayload | None
    directives_written: DirectivesPayload | None
    promises: list[TurnPromisePayload]
    waits: list[WaitPayload]
    analysis: list[AnalysisStepPayload] | None
    observed: list[ObservedPayload]
    model_calls: list[ModelCallPayload]


class PostedPayload(TypedDict):
    """A stored message and the turn that answers it. `turn` is null while an operator has the conversation. `operator`
    is set if one has it, or took it over while the client waited for the reply; `reply` is then null.
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
    """`turn` is the turn that the event started, `effect` the delivery to its subscriber, if any."""

    idn: str
    turn: TurnSummaryPayload | None
    effect: Id | None


class EventPayload(TypedDict):
    seq: int
    idn: str
    connector: str
    type: Annotated[str, EventType] | None
    payload: Annotated[
        dict[str, Any], "The event's data, by `idn`. Custom events keep the payload they were sent with."
    ]
    created_at: datetime


class HandedBackPayload(ConversationPayload):
    """The conversation after it was handed back. `turn` is the agent's answer to unanswered customer messages, if there
    are any.
    """

    turn: TurnSummaryPayload | None
