"""The result of a call as a model reads it."""

from __future__ import annotations

from tools.engine.execution.outcome import Ending, Outcome
from tools.models import Effect, EffectState

UNKNOWN = (
    "It isn't known whether this happened, so it isn't done again; a colleague looks into it. "
    "Never say that it was done. Go on with the rest, if there is any."
)


def error_text(reason: str) -> str:
    """An error as the model reads it."""
    return f"Error: {reason}"


def why_refused(result: str) -> str:
    """The reason in the result of a call that was refused."""
    return result.removeprefix(error_text(""))


def result_of(effect: Effect) -> str:
    """An effect's result as the model reads it. Only a done effect is reported as a success."""
    if effect.state == EffectState.DONE:
        return effect.told or f"{effect.tool} was done."
    if effect.state == EffectState.UNKNOWN:
        return UNKNOWN
    if effect.state == EffectState.HELD:
        return effect.told
    return error_text(effect.told or effect.error or "It was not done.")


def result_without_effect(outcome: Outcome) -> str:
    """The result of a tool without an effect."""
    if outcome.ending is Ending.DONE:
        return outcome.told or "Done."
    return error_text(outcome.told or outcome.error or "It was not done.")
