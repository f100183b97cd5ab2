"""What the agent arranged and a todo carries out: changed by an edit, and planned again by a review (T1, T11)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from jobs.errors import WrongState
from projects.common.api_error import ApiError
from tools.engine import effect_decisions, ledger
from tools.models import Effect, EffectState

# Why its arguments stay what they are, by the effect's state.
FIXED = {
    EffectState.SENDING: "{tool} is under way with these arguments: its outcome has to be known first.",
    EffectState.UNKNOWN: "It isn't known whether {tool} happened with these arguments: say first whether it did.",
    EffectState.DONE: "{tool} was done with these arguments. For anything else make another todo.",
    EffectState.HELD: "{tool} was held back, because the same was done already. For anything else make another todo.",
    EffectState.FAILED: "{tool} failed with these arguments: review it again first.",
    EffectState.CANCELLED: "{tool} isn't to be done any more. For anything else make another todo.",
}
MAY_ANSWER = (
    "{tool} was tried with these arguments, and an answer to that may still come. For anything else make another todo."
)


def why_fixed(effect: Effect) -> str:
    """Why an edit can't change the arguments of what was arranged, as a sentence; empty where it can."""
    if effect.state != EffectState.PLANNED:
        return FIXED[EffectState(effect.state)].format(tool=effect.tool)
    return MAY_ANSWER.format(tool=effect.tool) if effect.callback_hash else ""


def replan(effect: Effect, *, tool: str, arguments: dict[str, Any]) -> None:
    """What was planned for the todo is done as the edit says. Raises ApiError for another tool, WrongState when it was begun.

    What was tried before, and did not happen, gets another key: the one that went out carries no other arguments (E1).
    """
    if tool != effect.tool:
        message = f"tool: this carries out what the agent arranged with {effect.tool}; reject it and make another."
        raise ApiError("invalid_tool", message, field="tool")
    if arguments == effect.arguments:
        return
    changes: dict[str, Any] = {"arguments": arguments}
    if effect.attempts:
        key = ledger.effect_key(origin=effect.pk, tool=effect.tool, step=effect.attempts, index=0)
        changes |= {"effect_key": key, "deadline_at": None}
    rows = Effect.objects.filter(pk=effect.pk, state=EffectState.PLANNED, attempts=effect.attempts, callback_hash="")
    if rows.update(**changes) != 1:
        effect.refresh_from_db()
        raise WrongState(why_fixed(effect))


def plan_again(effect: Effect, *, is_wanted: bool, by: UUID | None) -> None:
    """It is done with the next yes: what failed did not happen, what was held back only if it is wanted."""
    if effect.state == EffectState.FAILED:
        effect_decisions.plan_again(effect)
    elif effect.state == EffectState.HELD and is_wanted:
        effect_decisions.release(effect, by=by)
    elif effect.state == EffectState.UNKNOWN and is_wanted:
        message = f"repeats: it isn't known whether {effect.tool} happened: say first whether it did."
        raise ApiError("invalid_repeats", message, field="repeats")
