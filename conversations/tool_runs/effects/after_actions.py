"""The after-actions inside a conversation, each once, in the commit of what it does (N46-N48, E8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

from conversations.followups.proactive import say_proactively
from conversations.followups.waits import end_wait
from conversations.live.event_log import ConversationLog
from conversations.models import Persona, PromptSection, WaitOutcome
from conversations.tool_runs.effects.outcome_events import OUTCOMES, sentence_of
from conversations.turns.customer_fields import MAX_VALUE, NORMALIZERS, RefusedValue, has_control_characters
from conversations.turns.services import give_fields, set_observed_field
from projects.models.agent_config import AgentConfig
from tools.engine.definition import (
    AFTER_ACTION_OPTIONS,
    AfterActionType,
    PersonaAttributeOptions,
    PromptSectionOptions,
    UrgentMessageOptions,
)
from tools.engine.execution.after_actions import end_after_action, input_of, message_of, tells
from tools.models import AfterAction, AfterActionState, Effect, EffectState

LONGEST_SECTION = 8_000
# What a model makes of an answer is nobody's word for where a customer is reached.
REACHED_BY = ("phone", "email")
SET_PROMPT_SECTION = "set_prompt_section"
SET_PERSONA_ATTRIBUTE = "set_persona_attribute"


@dataclass(frozen=True)
class Prepared:
    """An after-action with its input, and what a model made of it where one was asked."""

    row: AfterAction
    raw: str
    value: str


def instruction_of(row: AfterAction) -> str:
    """What a model is to do with the input; "" where none is asked (N47)."""
    return str(row.options.get("instruction") or "")


def input_for(row: AfterAction, effect: Effect) -> str:
    """What it works on. Raises NoInput."""
    if row.type == AfterActionType.SEND_URGENT_MESSAGE:
        return message_of(effect, UrgentMessageOptions.model_validate(row.options))
    return input_of(effect, row.options)


def execute_after_actions(log: ConversationLog, effect: Effect, prepared: Prepared, *, config: AgentConfig) -> None:
    """Do it and put it down, in one commit. A value that can't be right makes it fail, visibly, and the next one runs."""
    with _put_down(prepared):
        ACTIONS[AfterActionType(prepared.row.type)](log, effect, prepared, config)


def carry_out_alone(persona: Persona, prepared: Prepared, *, config: AgentConfig) -> None:
    """The same of the one that needs no conversation: what a customer is known by."""
    with _put_down(prepared):
        _give_attribute(persona, prepared, config)


@contextmanager
def _put_down(prepared: Prepared) -> Iterator[None]:
    """Put down how it ended."""
    end = partial(end_after_action, prepared.row, raw=prepared.raw, value=prepared.value)
    try:
        yield
    except RefusedValue as refusal:
        end(AfterActionState.FAILED, error=str(refusal))
    else:
        end(AfterActionState.DONE)


def fail_after_actions(log: ConversationLog, effect: Effect, reason: str) -> None:
    """Their job has failed for good: what didn't run fails. Where it would have told the agent, the end is told without it."""
    left = list(effect.after_actions.filter(state=AfterActionState.PLANNED))
    for row in left:
        end_after_action(row, AfterActionState.FAILED, error=reason)
    telling = effect.after_actions.filter(type=AfterActionType.SEND_URGENT_MESSAGE)
    if any(tells(row) for row in left) and not telling.filter(state=AfterActionState.DONE).exists():
        _tell(log, effect, sentence_of(effect))


def _send_urgent_message(log: ConversationLog, effect: Effect, prepared: Prepared, config: AgentConfig) -> None:
    """The first one ends the wait; it tells the agent in any case (N46, W2)."""
    _tell(log, effect, prepared.value)


def _tell(log: ConversationLog, effect: Effect, text: str) -> None:
    outcome = OUTCOMES.get(EffectState(effect.state), WaitOutcome.FAILURE)
    if not end_wait(log, effect.pk, outcome=outcome, told=text):
        say_proactively(log, text, {"effect": str(effect.pk)})


def _set_persona_attribute(log: ConversationLog, effect: Effect, prepared: Prepared, config: AgentConfig) -> None:
    attribute = _give_attribute(log.conversation.persona, prepared, config)
    log.add_event(SET_PERSONA_ATTRIBUTE, payload={"attribute": attribute, "effect": str(effect.pk)})


def _give_attribute(persona: Persona, prepared: Prepared, config: AgentConfig) -> str:
    """Set it, and name it. Raises RefusedValue."""
    options = cast(PersonaAttributeOptions, _options(prepared.row))
    value = _attribute(options.attribute, prepared.value, config)
    if options.attribute not in REACHED_BY or not instruction_of(prepared.row):
        give_fields(persona, {options.attribute: value})
    elif not set_observed_field(persona, options.attribute, value):
        raise RefusedValue(
            f"{options.attribute} was set by staff or the API, and what a model reads doesn't replace it."
        )
    return options.attribute


def _set_prompt_section(log: ConversationLog, effect: Effect, prepared: Prepared, config: AgentConfig) -> None:
    options = cast(PromptSectionOptions, _options(prepared.row))
    PromptSection.objects.update_or_create(
        conversation=log.conversation,
        name=options.section,
        defaults={"content": prepared.value[:LONGEST_SECTION], "effect_id": effect.pk},
    )
    log.add_event(SET_PROMPT_SECTION, payload={"section": options.section, "effect": str(effect.pk)})


def _options(row: AfterAction) -> PersonaAttributeOptions | PromptSectionOptions | UrgentMessageOptions:
    return AFTER_ACTION_OPTIONS[AfterActionType(row.type)].model_validate(row.options)


def _attribute(name: str, text: str, config: AgentConfig) -> str:
    """The value as it is kept of a customer: short, and without characters that a prompt or a page could be bent by."""
    value = text.strip()
    if not value or len(value) > MAX_VALUE:
        raise RefusedValue(f"{name} would have {len(value)} characters; 1 to {MAX_VALUE} are kept.")
    if has_control_characters(value):
        raise RefusedValue(f"{name} would contain control characters.")
    normaliser = NORMALIZERS.get(name)
    return normaliser(value, config) if normaliser else value


Carry = Callable[[ConversationLog, Effect, Prepared, AgentConfig], None]
ACTIONS: Mapping[AfterActionType, Carry] = {
    AfterActionType.SEND_URGENT_MESSAGE: _send_urgent_message,
    AfterActionType.SET_PERSONA_ATTRIBUTE: _set_persona_attribute,
    AfterActionType.SET_PROMPT_SECTION: _set_prompt_section,
}
