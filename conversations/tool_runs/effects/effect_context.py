"""Everything needed to execute an effect, read in one transaction and used outside of it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations.common.business_hours import working_status
from conversations.common.contacts import contact_from_fields
from conversations.common.draft_settings import use_draft
from conversations.common.place import place_in
from conversations.common.queries import read_fields
from conversations.context.summaries import summary_before
from conversations.context.transcript import as_line, read_transcript
from conversations.models import Conversation, Message, Turn
from conversations.tool_runs.effects.outcome_events import conversation_of
from jobs.models import LIVE, Job
from llm.types import ModelSpec
from projects.agents.hours_text import business_text
from projects.agents.model_choice import model_for
from projects.models.agent_config import AgentConfig
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.plan import effect_context
from tools.engine.execution.rules import Refusal, RuleInput, find_refusal
from tools.engine.skills.arguments import SKILL, ExtractionContext, KnownFact
from tools.engine.skills.detect import TranscriptLine
from tools.models import Effect, EffectOrigin, EffectState

# Number of earlier effects in the conversation that the skill is told about.
MOST_EARLIER = 5


@dataclass(frozen=True)
class EffectContext:
    """An effect and its context; its arguments are extracted from `extraction_context`.

    `is_observed` is True once the observer has processed every customer message up to the effect's turn. `refusal` is
    the rule that refuses an effect without arguments, for which no model is asked.
    """

    effect: Effect
    conversation: Conversation
    config: AgentConfig
    tool_context: ToolContext
    extraction_context: ExtractionContext
    model: ModelSpec
    is_observed: bool
    refusal: Refusal | None = None


def load_effect_context(effect_id: UUID) -> EffectContext:
    """Load the effect and its context, inside the running transaction. Raises Effect.DoesNotExist."""
    effect = Effect.objects.get(pk=effect_id)
    conversation = Conversation.objects.select_related("project__agent_version").get(pk=conversation_of(effect))
    use_draft(conversation)
    config = conversation.project.agent_version.config
    # Checked before the fields are read: an observer that finishes in between has written them.
    is_observed = not _observers(effect, conversation).exists()
    fields = {field.key: field.value for field in read_fields(conversation, config)}
    contact = contact_from_fields(conversation.persona_id, fields)
    place = place_in(conversation, config=config, contact=contact, turn_id=effect.turn_id)
    rules = RuleInput(effect, conversation.project, conversation.channel, conversation.persona_id)
    return EffectContext(
        effect=effect,
        conversation=conversation,
        config=config,
        tool_context=effect_context(effect, place),
        extraction_context=_extraction_context(effect, conversation, config, fields),
        model=model_for(conversation.project, config, SKILL),
        is_observed=is_observed,
        refusal=find_refusal(rules) if effect.arranged_at is None else None,
    )


def has_customer_written_between(effect: Effect, earlier: Effect) -> bool:
    """True if the customer wrote between the two effects; otherwise they cannot have asked again."""
    since = Q(created_at__gt=earlier.started_at or earlier.created_at, created_at__lte=effect.created_at)
    return Message.objects.filter(since, conversation_id=conversation_of(effect), role="user").exists()


def _observers(effect: Effect, conversation: Conversation) -> QuerySet[Job]:
    """The observer's live jobs up to the effect's turn; their facts are not stored yet."""
    turn = Turn.objects.filter(pk=effect.turn_id).values("seq") if effect.turn_id else Turn.objects.none()
    live = Job.objects.filter(lane="observer", subject_id=conversation.pk, state__in=LIVE)
    return live.filter(ordinal__lte=turn[:1])


def _extraction_context(
    effect: Effect, conversation: Conversation, config: AgentConfig, fields: dict[str, str]
) -> ExtractionContext:
    turns = Turn.objects.select_related("reply", "conversation")
    turn = turns.filter(pk=effect.turn_id).first() if effect.turn_id else None
    summary = summary_before(turn) if turn else None
    said = read_transcript(turn, after=summary.until_seq if summary else 0, is_replied=True) if turn else []
    return ExtractionContext(
        business_name=config.business_name,
        business_context=business_text(config),
        now=working_status(config, at=timezone.now()).clock,
        known=[KnownFact(field=key, value=value) for key, value in sorted(fields.items())],
        messages=[TranscriptLine(role=line.role, content=line.content) for line in map(as_line, said)],
        summary=summary.as_text if summary else "",
        earlier=_earlier(effect),
    )


def _earlier(effect: Effect) -> list[str]:
    done = Effect.objects.filter(conversation_id=effect.conversation_id, state=EffectState.DONE).exclude(pk=effect.pk)
    done = done.exclude(origin=EffectOrigin.CHANNEL)
    return [f"{one.tool}: {one.told or one.quote}" for one in done.order_by("-created_at")[:MOST_EARLIER]][::-1]
