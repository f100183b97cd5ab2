"""A turn's context: loaded in one transaction, used outside of any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from conversations.common.business_hours import WorkingStatus, working_status
from conversations.common.consents import consent_fact
from conversations.common.contacts import contact_from_fields
from conversations.common.draft_settings import use_draft
from conversations.common.place import place_in
from conversations.common.prompt_shapes import Action, Fact, Intent, Line, Procedure, Scenario, Section, Step
from conversations.common.queries import WAITS, open_waits_of, read_fields
from conversations.common.unconfirmed import label_of
from conversations.context.agreed import Agreement, agreed_lines, read_agreements
from conversations.context.summaries import summary_before
from conversations.context.transcript import TranscriptMessage, as_line, read_transcript, read_unsummarized, size_of
from conversations.context.urgent_messages import URGENT_EVENTS
from conversations.models import (
    Conversation,
    Event,
    Message,
    MessageRole,
    PersonaField,
    PromptSection,
    Turn,
    TurnStatus,
    Wait,
)
from conversations.models.event import URGENT
from jobs.lanes import ClaimedJob
from llm.types import Endpoint, ModelSpec
from projects.agents.model_choice import endpoint_of, model_at
from projects.models import Project
from projects.models.agent_config import AgentConfig, Skill
from tenancy.prepared_queries import PreparedQuery
from todos.models import Todo, TodoStatus
from tools.engine.execution.handler import Place
from tools.engine.ledger import needs_approval
from tools.models import Booking, BookingState, Effect, EffectOrigin, EffectState

# Wording for effects in prompts. Only completed effects may be reported as done.
STATE_WORDS = {
    EffectState.PLANNED: "pending",
    EffectState.SENDING: "pending",
    EffectState.UNKNOWN: "being checked by a colleague, not known to have happened",
    EffectState.HELD: "not repeated",
}
APPROVED = (TodoStatus.APPROVED, TodoStatus.IN_PROGRESS)
ALLOWED = "allowed already and being done, but not done yet"
# No prompt cuts a transcript of this size.
UNCUT_BYTES = 4_000
AWAITED = "being looked at by a colleague, who has to approve it first"


def _replied_before(conversation: UUID, seq: int) -> QuerySet[Turn, Any]:
    rows = Turn.objects.filter(conversation_id=conversation, status=TurnStatus.DONE, seq__lt=seq)
    return rows.order_by("-seq").values("seq")


# Waits, sections and effects are rare: the query only checks that they exist, and they are loaded if they do.
TURN = PreparedQuery(
    lambda conversation, seq: (
        Turn.objects.select_related(
            "conversation__project__agent_version",
            "conversation__directives",
            "reply",
            "message",
        )
        # Immutable and already parsed; see projects.models.agent_config.
        .defer("conversation__project__agent_version__document")
        .annotate(
            is_waiting=Exists(open_waits_of(conversation)),
            has_sections=Exists(PromptSection.objects.filter(conversation_id=conversation)),
            has_urgent=Exists(Event.objects.filter(conversation_id=conversation, idn=URGENT)),
            has_bookings=Exists(
                Booking.objects.filter(
                    persona_id=OuterRef("conversation__persona_id"), state=BookingState.CONFIRMED, ends_at__gt=Now()
                )
            ),
            has_effects=Exists(Effect.objects.filter(conversation_id=conversation)),
            replied=Subquery(_replied_before(conversation, seq)[:1]),
            replied_before=Subquery(_replied_before(conversation, seq)[1:2]),
        )
        .filter(conversation_id=conversation, seq=seq)
    ),
    kinds=(UUID, int),
)
SECTIONS = PreparedQuery(lambda conversation: PromptSection.objects.filter(conversation_id=conversation), kinds=(UUID,))
EFFECTS = PreparedQuery(
    lambda conversation: (
        # True if a person or a rule approved the effect's todo.
        Effect.objects.annotate(is_allowed=Exists(Todo.objects.filter(effect_id=OuterRef("pk"), status__in=APPROVED)))
        .filter(conversation_id=conversation)
        # Events sent by programs are none of the agent's doing, and messages on their way are in the transcript.
        .exclude(origin__in=(EffectOrigin.EVENT, EffectOrigin.CHANNEL))
        .order_by("-created_at")[:10]
    ),
    kinds=(UUID,),
)


@dataclass(frozen=True)
class TurnContext:
    """Everything a flow reads about one turn at one point in time.

    `messages` follow on `summary`. `replied` is the number of the last replied turn before this one, `replied_before` of
    the one before that. `endpoint` is the project's model endpoint, `waits` are the open waits, and `sections` the prompt
    sections written by tools. `urgent` are the newest urgent messages after a reply; a reply's own prompt reads them.
    """

    conversation: Conversation
    turn: Turn
    project: Project
    config: AgentConfig
    at: datetime
    summary: str
    messages: Sequence[TranscriptMessage]
    fields: Sequence[PersonaField]
    effects: Sequence[Effect]
    endpoint: Endpoint
    waits: Sequence[Wait] = ()
    sections: Sequence[PromptSection] = ()
    replied: int | None = None
    replied_before: int | None = None
    urgent: Sequence[Event] = ()
    agreements: Sequence[Agreement] = ()

    @property
    def place(self) -> Place:
        """The place where the turn's tools run."""
        contact = contact_from_fields(self.conversation.persona_id, {field.key: field.value for field in self.fields})
        return place_in(self.conversation, config=self.config, contact=contact, turn_id=self.turn.pk)

    def model(self, skill: Skill) -> ModelSpec:
        """The model configured for a skill."""
        return model_at(self.endpoint, self.config, skill)

    @property
    def lines(self) -> list[Line]:
        return [as_line(message) for message in self.messages]

    @property
    def facts(self) -> list[Fact]:
        return [Fact(label_of(field.key), field.value, since=self._since(field)) for field in self.fields]

    def _since(self, field: PersonaField) -> str:
        """The day a field was learned, if that was before the day this conversation began; else empty."""
        learned, began = (_local_day(at, self.config) for at in (field.updated_at, self.conversation.created_at))
        if field.conversation_id is not None or learned >= began:
            return ""
        return f"{learned.day} {learned:%B}{'' if learned.year == began.year else f' {learned.year}'}"

    @property
    def customer_facts(self) -> list[Fact]:
        """The facts as the agent reads them: consents in words."""
        return [consent_fact(fact) for fact in self.facts]

    @property
    def actions(self) -> list[Action]:
        return [Action(name=effect.tool, state=_state(effect), note=_note(effect)) for effect in self.effects]

    def agreed(self, *, shown: Sequence[TranscriptMessage]) -> list[str]:
        """The agreements as lines of a prompt that shows these messages."""
        is_cut = bool(self.summary) or _begins_late(self.messages) or _spoken(shown) < _spoken(self.messages)
        return agreed_lines(self.agreements, self.fields, self.config, is_cut=is_cut)

    @property
    def awaiting(self) -> str:
        """Names of the actions whose results are awaited; empty if there are none."""
        return ", ".join(wait.reason for wait in self.waits)

    @property
    def prompt_sections(self) -> list[Section]:
        return [Section(name=section.name, content=section.content) for section in self.sections]

    @property
    def scenarios(self) -> list[Scenario]:
        return [
            Scenario(
                number=number,
                title=scenario.title,
                steps=[
                    Step(f"{number}.{index}", step.text, collects=list(step.collects), tools=list(step.tools))
                    for index, step in enumerate(scenario.steps, 1)
                ],
            )
            for number, scenario in enumerate(self.config.scenarios, 1)
        ]

    @property
    def procedures(self) -> list[Procedure]:
        return [Procedure(title=procedure.title, text=procedure.text) for procedure in self.config.procedures]

    @property
    def intents(self) -> list[Intent]:
        """The intent map, in the variant for the current business hours."""
        variant = f"{self.status.variant}_hours"
        return [Intent(name=intent.name, instruction=getattr(intent, variant)) for intent in self.config.intents]

    @cached_property
    def status(self) -> WorkingStatus:
        """The business hours status at `at`."""
        return working_status(self.config, at=self.at)


def load_context(conversation_id: UUID, seq: int) -> TurnContext:
    """The context of a turn, with the current transcript."""
    return _load(conversation_id, seq, is_replied=False)


def context_before(job: ClaimedJob) -> TurnContext:
    """The context for writing a reply, with the current transcript."""
    return _load(job.subject_id, job.ordinal, is_replied=False)


def context_after(job: ClaimedJob) -> TurnContext:
    """The context after a reply: the transcript ends with the turn's own reply."""
    return _load(job.subject_id, job.ordinal, is_replied=True)


def context_at_message(message_id: UUID) -> TurnContext | None:
    """The context of a message that no turn answers, with the transcript up to it. Its turn has no id.

    None if a turn answers the message by now: the conversation was handed back, and the observer runs on that turn.
    """
    rows = Message.objects.select_related("conversation__project__agent_version", "conversation__summary")
    message = rows.get(pk=message_id)
    if message.turn_id is not None:
        return None
    conversation = message.conversation
    use_draft(conversation)
    config = conversation.project.agent_version.config
    return TurnContext(
        conversation=conversation,
        turn=Turn(id=None, conversation=conversation, seq=conversation.last_turn, message=message),
        project=conversation.project,
        config=config,
        at=timezone.now(),
        summary=conversation.summary.as_text if conversation.summary else "",
        messages=[earlier for earlier in read_unsummarized(conversation.pk) if earlier.seq <= message.seq],
        fields=read_fields(conversation, config),
        effects=(),
        endpoint=endpoint_of(conversation.project, config),
    )


def _load(conversation_id: UUID, seq: int, *, is_replied: bool) -> TurnContext:
    [turn] = TURN(conversation_id, seq)
    use_draft(turn.conversation)
    conversation, project = turn.conversation, turn.conversation.project
    config = project.agent_version.config
    summary = summary_before(turn)
    messages = read_transcript(turn, after=summary.until_seq if summary else 0, is_replied=is_replied)
    is_long = summary is not None or _begins_late(messages) or size_of(messages) > UNCUT_BYTES
    return TurnContext(
        conversation=conversation,
        turn=turn,
        project=project,
        config=config,
        at=timezone.now(),
        summary=summary.as_text if summary else "",
        messages=messages,
        fields=read_fields(conversation, config),
        effects=EFFECTS(conversation.pk)[::-1] if vars(turn)["has_effects"] else (),
        endpoint=endpoint_of(project, config),
        waits=WAITS(conversation.pk) if vars(turn)["is_waiting"] else (),
        sections=SECTIONS(conversation.pk) if vars(turn)["has_sections"] else (),
        replied=vars(turn)["replied"],
        replied_before=vars(turn)["replied_before"],
        urgent=URGENT_EVENTS(conversation.pk) if is_replied and vars(turn)["has_urgent"] else (),
        agreements=read_agreements(conversation, config, is_long=is_long)
        if is_long or vars(turn)["has_bookings"]
        else (),
    )


def _spoken(messages: Sequence[TranscriptMessage]) -> int:
    return sum(message.role != MessageRole.SYSTEM for message in messages)


def _begins_late(messages: Sequence[TranscriptMessage]) -> bool:
    """True if the transcript lacks the conversation's first messages."""
    return bool(messages) and messages[0].turn > 1


def _local_day(at: datetime, config: AgentConfig) -> date:
    return at.astimezone(ZoneInfo(config.timezone)).date()


def _state(effect: Effect) -> str:
    if effect.state == EffectState.DONE and set(effect.result or {}) == {"event"}:
        # Only the event was emitted. Nothing confirmed the action, so the agent may not report it as done.
        return "passed on, not confirmed yet"
    if effect.state == EffectState.PLANNED and effect.arranged_at is not None and needs_approval(effect):
        return ALLOWED if vars(effect)["is_allowed"] else AWAITED
    return STATE_WORDS.get(EffectState(effect.state), effect.state)


def _note(effect: Effect) -> str:
    """The effect's outcome, in words the agent may use."""
    if effect.state in (EffectState.FAILED, EffectState.CANCELLED):
        return effect.told or effect.error
    return effect.told if effect.state in (EffectState.DONE, EffectState.HELD) else ""
