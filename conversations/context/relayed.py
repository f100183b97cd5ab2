"""Relayed words: what tools told the agent. The agent that repeats them promises nothing."""

from __future__ import annotations

from collections.abc import Iterable

from conversations.models import PromptSection
from tools.engine.definition import ActionType
from tools.models import Effect


def relayed_words(effects: Iterable[Effect], sections: Iterable[PromptSection] = ()) -> list[str]:
    """The texts that tools told the agent in this conversation, newest last, with the sections they wrote.

    The message of an urgent action is the business's, or the agent's own words, and counts as neither.
    """
    told = [effect.told for effect in effects if effect.told and not _is_own_message(effect)]
    return [*(section.content for section in sections), *told]


def _is_own_message(effect: Effect) -> bool:
    action = effect.definition.get("action") or {}
    return action.get("type") == ActionType.SEND_URGENT_MESSAGE
