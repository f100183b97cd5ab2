"""Validation of `moments`, the triggers of a custom tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from projects.records.attributes import type_name
from tools.engine.definition import CALLED, ActionType, Trigger
from tools.engine.validation.problem import Problem, join
from tools.engine.validation.values import choice_problems

PATH = "moments"
EXAMPLE = '["turn", "commitment"]'
ALONE = '{path}: only webhooks can use moments other than commitment. Write ["commitment"], or remove moments.'
LATER = '{path}: a webhook with callback answers later, but "{moment}" needs the answer at once. Remove one of the two.'
NO_TASK = 'requires_approval: an approved tool runs as a task; add "task" to moments, or remove requires_approval.'


def moment_problems(document: Mapping[str, Any], *, type: Any) -> Iterator[Problem]:
    """Problems of `moments`, given the type of the action; none if it isn't set."""
    moments = document.get(PATH)
    if moments is None:
        return
    if not isinstance(moments, list):
        yield Problem(PATH, f"{PATH} must be a list such as {EXAMPLE}, not {type_name(moments)}.")
        return
    if not moments:
        yield Problem(PATH, f"{PATH} is empty; list when the tool may run, such as {EXAMPLE}, or remove it.")
    for index, moment in enumerate(moments):
        path = join(PATH, str(index))
        found = list(choice_problems(moment, path=path, choices=[*Trigger]))
        if not found and moment in moments[:index]:
            found.append(Problem(path, f'{path}: "{moment}" is listed twice; remove one.'))
        yield from found or _place_problems(document, moment, path=path, type=type)
    if document.get("requires_approval") is True and type == ActionType.SEND_WEBHOOK and Trigger.TASK not in moments:
        yield Problem("requires_approval", NO_TASK)


def _place_problems(document: Mapping[str, Any], moment: str, *, path: str, type: Any) -> Iterator[Problem]:
    if moment != Trigger.COMMITMENT and type != ActionType.SEND_WEBHOOK:
        yield Problem(path, ALONE.format(path=path))
    elif moment in CALLED and _answers_later(document):
        yield Problem(path, LATER.format(path=path, moment=moment))


def _answers_later(document: Mapping[str, Any]) -> bool:
    action = document.get("action", {})
    options = action.get("options", {}) if isinstance(action, Mapping) else {}
    return isinstance(options, Mapping) and options.get("callback") is True


def is_promised(document: Mapping[str, Any]) -> bool:
    """True if commitments fire the tool, which then needs conditions."""
    moments = document.get(PATH)
    return not isinstance(moments, list) or not moments or Trigger.COMMITMENT in moments
