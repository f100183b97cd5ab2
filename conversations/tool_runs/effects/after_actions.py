"""After-actions in a conversation, each executed once, in the commit of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast
from uuid import UUID

from conversations.common.consents import GIVEN, OPT_INS, is_withdrawn
from conversations.followups.proactive import say_proactively
from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog
from conversations.models import Persona, PromptSection, WaitOutcome
from conversations.models.event import UrgentSource
from conversations.tool_runs.effects.argument_extraction import ExtractionTask, apply_instruction
from conversations.tool_runs.effects.outcome_events import OUTCOMES, sentence_of
from conversations.turns.consents import NOT_OWN_WORDS
from conversations.turns.field_values import MAX_VALUE, NORMALIZERS, RefusedValue
from conversations.turns.services import give_fields, set_observed_field
from jobs.errors import GiveUp
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from llm.errors import LlmError
from projects.common.characters import has_control_characters
from projects.models.agent_config import AgentConfig
from tenancy.threads import in_db
from tools.engine.definition import (
    AFTER_ACTION_OPTIONS,
    AfterActionType,
    PersonaAttributeOptions,
    PromptSectionOptions,
    UrgentMessageOptions,
)
from tools.engine.execution.after_actions import NoInput, end_after_action, input_of, message_of, tells
from tools.models import AfterAction, AfterActionState, Effect, EffectState

LONGEST_SECTION = 8_000
# A model's reading of a tool's answer never replaces contact details set by staff or the API.
CONTACT_FIELDS = ("phone", "email")
SET_PROMPT_SECTION = "set_prompt_section"
SET_PERSONA_ATTRIBUTE = "set_persona_attribute"


@dataclass(frozen=True)
class PreparedAction:
    """An after-action with its input and, if it has an instruction, the model's output."""

    row: AfterAction
    raw: str
    value: str


def _instruction_of(row: AfterAction) -> str:
    """The model's instruction for the input; "" if no model is involved."""
    return str(row.options.get("instruction") or "")


def _input_for(row: AfterAction, effect: Effect) -> str:
    """The after-action's input. Raises NoInput."""
    if row.type == AfterActionType.SEND_URGENT_MESSAGE:
        return message_of(effect, UrgentMessageOptions.model_validate(row.options))
    return input_of(effect, row.options)


async def prepare_after_action(job: ClaimedJob, context: ExtractionTask, row: AfterAction) -> PreparedAction | None:
    """Return the after-action with its input and value, or None if it failed.

    An unavailable model fails the after-action, but not the effect.
    """
    try:
        raw = _input_for(row, context.effect)
    except NoInput as missing:
        await in_db(_fail, job, row, str(missing))
        return None
    instruction = _instruction_of(row)
    if not instruction:
        return PreparedAction(row=row, raw=raw, value=raw)
    try:
        value = await apply_instruction(job, context, instruction=instruction, raw=raw)
    except (LlmError, GiveUp) as failure:
        if isinstance(failure, LlmError) and not job.is_last_attempt:
            raise
        await in_db(_fail, job, row, str(failure))
        return None
    return PreparedAction(row=row, raw=raw, value=value)


def _fail(job: ClaimedJob, row: AfterAction, error: str) -> None:
    with job_tx(job):
        end_after_action(row, AfterActionState.FAILED, error=error)


def execute_after_action(
    log: ConversationLog, effect: Effect, prepared: PreparedAction, *, config: AgentConfig
) -> None:
    """Execute an after-action and record it, in one commit. An invalid value fails it visibly; the next one still runs."""
    with _recorded(prepared):
        ACTIONS[AfterActionType(prepared.row.type)](log, effect, prepared, config)


def execute_customer_action(persona: Persona, prepared: PreparedAction, *, config: AgentConfig) -> None:
    """Execute an after-action that needs no conversation: a customer field."""
    with _recorded(prepared):
        _store_attribute(persona, prepared, config)


@contextmanager
def _recorded(prepared: PreparedAction) -> Iterator[None]:
    """Record the result of the block."""
    end = partial(end_after_action, prepared.row, raw=prepared.raw, value=prepared.value)
    try:
        yield
    except RefusedValue as refusal:
        end(AfterActionState.FAILED, error=str(refusal))
    else:
        end(AfterActionState.DONE)


def fail_after_actions(log: ConversationLog, effect: Effect, reason: str) -> None:
    """Fail the remaining after-actions, because their job failed permanently.

    If one of them was to tell the agent how the effect ended, the agent is told here.
    """
    remaining = list(effect.after_actions.filter(state=AfterActionState.PLANNED))
    for row in remaining:
        end_after_action(row, AfterActionState.FAILED, error=reason)
    messages = effect.after_actions.filter(type=AfterActionType.SEND_URGENT_MESSAGE)
    if any(tells(row) for row in remaining) and not messages.filter(state=AfterActionState.DONE).exists():
        _tell(log, effect, sentence_of(effect))


def _send_urgent_message(log: ConversationLog, effect: Effect, prepared: PreparedAction, config: AgentConfig) -> None:
    """Tell the agent. The first message ends the wait."""
    # Without a message of the business's own, it is the tool's result.
    is_own = bool(prepared.row.options.get("message"))
    _tell(log, effect, prepared.value, source=UrgentSource.BUSINESS if is_own else UrgentSource.TOOL)


def _tell(log: ConversationLog, effect: Effect, text: str, *, source: UrgentSource = UrgentSource.TOOL) -> None:
    outcome = OUTCOMES.get(EffectState(effect.state), WaitOutcome.FAILURE)
    if not end_wait(log, effect.pk, outcome=outcome, told=text, source=source):
        say_proactively(log, text, {"effect": str(effect.pk)}, source=source)


def _set_persona_attribute(log: ConversationLog, effect: Effect, prepared: PreparedAction, config: AgentConfig) -> None:
    attribute = _store_attribute(log.conversation.persona, prepared, config, conversation_id=log.conversation.pk)
    log.add_event(SET_PERSONA_ATTRIBUTE, payload={"attribute": attribute, "effect": str(effect.pk)})


def _store_attribute(
    persona: Persona, prepared: PreparedAction, config: AgentConfig, *, conversation_id: UUID | None = None
) -> str:
    """Set the field of the customer, or of the conversation by its scope, and return its name. Raises RefusedValue."""
    options = cast(PersonaAttributeOptions, _options(prepared.row))
    value = _normalized(options.attribute, prepared.value, config)
    if options.attribute in OPT_INS and value == GIVEN and is_withdrawn(persona.pk, options.attribute):
        raise RefusedValue(f"{options.attribute}: {NOT_OWN_WORDS}")
    if options.attribute not in CONTACT_FIELDS or not _instruction_of(prepared.row):
        is_of_conversation = options.attribute in config.conversation_fields
        give_fields(
            persona, {options.attribute: value}, conversation_id=conversation_id if is_of_conversation else None
        )
    elif not set_observed_field(persona, options.attribute, value):
        raise RefusedValue(
            f"{options.attribute} has another value, which only the customer, staff or the API replaces, not what a model reads."
        )
    return options.attribute


def _set_prompt_section(log: ConversationLog, effect: Effect, prepared: PreparedAction, config: AgentConfig) -> None:
    options = cast(PromptSectionOptions, _options(prepared.row))
    PromptSection.objects.update_or_create(
        conversation=log.conversation,
        name=options.section,
        defaults={"content": prepared.value[:LONGEST_SECTION], "effect_id": effect.pk},
    )
    log.add_event(SET_PROMPT_SECTION, payload={"section": options.section, "effect": str(effect.pk)})


def _options(row: AfterAction) -> PersonaAttributeOptions | PromptSectionOptions | UrgentMessageOptions:
    return AFTER_ACTION_OPTIONS[AfterActionType(row.type)].model_validate(row.options)


def _normalized(name: str, text: str, config: AgentConfig) -> str:
    """The normalized field value: short, and without control characters that could distort a prompt or a page."""
    value = text.strip()
    if not value or len(value) > MAX_VALUE:
        raise RefusedValue(f"{name} would have {len(value)} characters; 1 to {MAX_VALUE} are kept.")
    if has_control_characters(value):
        raise RefusedValue(f"{name} would contain control characters.")
    normaliser = NORMALIZERS.get(name)
    return normaliser(value, config) if normaliser else value


Handler = Callable[[ConversationLog, Effect, PreparedAction, AgentConfig], None]
ACTIONS: Mapping[AfterActionType, Handler] = {
    AfterActionType.SEND_URGENT_MESSAGE: _send_urgent_message,
    AfterActionType.SET_PERSONA_ATTRIBUTE: _set_persona_attribute,
    AfterActionType.SET_PROMPT_SECTION: _set_prompt_section,
}
