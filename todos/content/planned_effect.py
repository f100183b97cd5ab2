"""The effect that the agent planned and a todo runs: changed by an edit, and planned again by a review."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from jobs.errors import WrongState
from projects.common.api_error import Conflict, Unprocessable
from projects.common.translation import lazy
from tools.engine import effect_decisions
from tools.engine.execution.plan import effect_key
from tools.models import Effect, EffectState

# The reason why the arguments are fixed, by the effect's state.
FIXED = {
    EffectState.SENDING: lazy("{tool} is running with these arguments. Wait for its outcome."),
    EffectState.UNKNOWN: lazy(
        "We don't know whether {tool} went through with these arguments. Confirm the outcome first."
    ),
    EffectState.DONE: lazy("{tool} already ran with these arguments. Create another todo for anything else."),
    EffectState.HELD: lazy("{tool} was held back because it was already done. Create another todo for anything else."),
    EffectState.FAILED: lazy("{tool} failed with these arguments. Review the todo again first."),
    EffectState.CANCELLED: lazy("{tool} was cancelled. Create another todo for anything else."),
}
CALLBACK_PENDING = lazy(
    "{tool} was sent with these arguments and may still answer. Create another todo for anything else."
)


def why_fixed(effect: Effect) -> str:
    """The reason why the planned effect's arguments can't be edited, as a sentence; empty if they can."""
    if effect.state != EffectState.PLANNED:
        return FIXED[EffectState(effect.state)].format(tool=effect.tool)
    return CALLBACK_PENDING.format(tool=effect.tool) if effect.callback_hash else ""


def replan(effect: Effect, *, tool: str, arguments: dict[str, Any]) -> None:
    """Apply an edit to the planned effect. Raises ApiError for another tool, WrongState if the effect was started.

    An effect that was attempted and did not happen gets a new key: a key is never sent with different arguments.
    """
    if tool != effect.tool:
        message = gettext("tool: this todo runs %(tool)s as the agent planned it. Reject it and create another.") % {
            "tool": effect.tool
        }
        raise Unprocessable("invalid_tool", message, field="tool")
    if arguments == effect.arguments:
        return
    changes: dict[str, Any] = {"arguments": arguments}
    if effect.attempts:
        key = effect_key(origin=effect.pk, tool=effect.tool, step=effect.attempts, index=0)
        changes |= {"effect_key": key, "deadline_at": None}
    rows = Effect.objects.filter(pk=effect.pk, state=EffectState.PLANNED, attempts=effect.attempts, callback_hash="")
    if rows.update(**changes) != 1:
        effect.refresh_from_db()
        raise WrongState(why_fixed(effect))


def plan_again(effect: Effect, *, is_wanted: bool, by: UUID | None) -> None:
    """Plan the effect for the next approval: if it failed, or if it was held back and is wanted. Raises ApiError if it
    is wanted while its outcome is unknown.
    """
    if effect.state == EffectState.FAILED:
        effect_decisions.plan_again(effect)
    elif effect.state == EffectState.HELD and is_wanted:
        effect_decisions.release(effect, by=by)
    elif effect.state == EffectState.UNKNOWN and is_wanted:
        message = gettext("repeats: we don't know whether %(tool)s went through. Confirm the outcome first.") % {
            "tool": effect.tool
        }
        raise Conflict(message, code="invalid_repeats", field="repeats")
