"""Validation of a whole definition."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext
from pydantic import ValidationError

from projects.api.parsers import check_value
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.records.attributes import type_name
from tools.engine.definition import CALLED, ActionType, ToolDefinition, Trigger
from tools.engine.validation.after_actions import after_action_problems
from tools.engine.validation.options import option_problems
from tools.engine.validation.problem import DefinitionRefused, Problem, join
from tools.engine.validation.values import boolean_problems, choice_problems, object_problems, shown, text_problems

FIELDS = (
    "description",
    "conditions",
    "useConversationHistory",
    "conflictPolicy",
    "moments",
    "action",
    "after_actions",
    "keeps_promise",
    "requires_approval",
)
MAX_DEFINITION_LENGTH = 32_000
MAX_DESCRIPTION_LENGTH = 2_000
MAX_CONDITION_LENGTH = 1_000
MAX_TAG_LENGTH = 64
MAX_CONDITIONS = 20
CONDITION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
NO_HISTORY = lazy(
    "useConversationHistory is missing; write true to read the whole conversation, false to read the latest answer only."
)
MOMENTS = "moments"
EXAMPLE = '["turn", "commitment"]'
WEBHOOKS_ONLY = lazy(
    '{path}: only webhooks can use moments other than commitment. Write ["commitment"], or remove moments.'
)
ANSWERS_LATER = lazy(
    '{path}: a webhook with callback answers later, but "{moment}" needs the answer at once. Remove one of the two.'
)
NO_TASK = lazy(
    'requires_approval: an approved tool runs as a task; add "task" to moments, or remove requires_approval.'
)


def checked_definition(document: Any) -> ToolDefinition:
    """Parse a definition. Raises DefinitionRefused with every problem."""
    if problems := definition_problems(document):
        raise DefinitionRefused(problems)
    return ToolDefinition.model_validate(document)


def definition_problems(document: Any) -> list[Problem]:
    """Every problem of a definition, in the order of its fields; empty if it can be saved."""
    problems = _found_problems(document)
    return problems if _is_definition(document) else [replace(problem, is_malformed=True) for problem in problems]


def _is_definition(document: Any) -> bool:
    """True if the document has the fields and types of a definition, which the OpenAPI document describes."""
    try:
        ToolDefinition.model_validate(document)
    except ValidationError:
        return False
    return True


def _found_problems(document: Any) -> list[Problem]:
    try:
        check_value(document)
    except ApiError as error:
        return [Problem(error.field or "", error.message)]
    if not isinstance(document, Mapping):
        return [Problem("", gettext("A tool must be an object, not %(type)s.") % {"type": type_name(document)})]
    if (size := len(json.dumps(document, ensure_ascii=False))) > MAX_DEFINITION_LENGTH:
        return [
            Problem(
                "",
                gettext("The definition has %(count)s characters; the limit is %(most)s.")
                % {"count": format(size, ","), "most": format(MAX_DEFINITION_LENGTH, ",")},
            )
        ]
    return list(_problems(document))


def _problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    yield from object_problems(document, path="", known=FIELDS)
    yield from text_problems(document.get("description", ""), path="description", max_length=MAX_DESCRIPTION_LENGTH)
    # A tool that no commitment fires needs no conditions.
    if _fires_on_commitments(document) or document.get("conditions", {}) != {}:
        yield from _conditions_problems(document.get("conditions"))
    yield from _history_problems(document)
    if document.get("conflictPolicy") is not None:
        yield from _policy_problems(document["conflictPolicy"])
    yield from _moment_problems(document, type=_type_of(document))
    yield from _action_problems(document.get("action", {}))
    yield from after_action_problems(document.get("after_actions", []), action=_type_of(document), path="after_actions")
    yield from boolean_problems(document.get("keeps_promise", True), path="keeps_promise")
    yield from boolean_problems(document.get("requires_approval", False), path="requires_approval")


def _conditions_problems(conditions: Any) -> Iterator[Problem]:
    if conditions is None or conditions == {}:
        # Without conditions the tool would fire on every turn.
        yield Problem("conditions", gettext("A tool needs at least one condition."))
    elif not isinstance(conditions, Mapping):
        yield Problem(
            "conditions",
            gettext("conditions must be an object, a condition by name, not %(type)s.")
            % {"type": type_name(conditions)},
        )
    elif len(conditions) > MAX_CONDITIONS:
        yield Problem(
            "conditions",
            gettext("There are %(count)s conditions; the limit is %(most)s.")
            % {"count": format(len(conditions), ","), "most": MAX_CONDITIONS},
        )
    else:
        for name, condition in conditions.items():
            yield from _condition_problems(name, condition)


def _condition_problems(name: str, condition: Any) -> Iterator[Problem]:
    path = join("conditions", name)
    if not CONDITION_NAME.fullmatch(name):
        yield Problem(
            path,
            gettext(
                "The condition's name '%(name)s' can't be used; write letters, digits and _, a letter first, at most 64: "
                "agentPromised."
            )
            % {"name": name[:80]},
        )
    yield from object_problems(condition, path=path, known=("type", "description"))
    if isinstance(condition, Mapping):
        yield from choice_problems(condition.get("type"), path=join(path, "type"), choices=["boolean"])
        description = condition.get("description", "")
        yield from text_problems(description, path=join(path, "description"), max_length=MAX_CONDITION_LENGTH)


def _history_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    path = "useConversationHistory"
    if path not in document:
        yield Problem(path, str(NO_HISTORY))
    else:
        yield from boolean_problems(document[path], path=path)


def _policy_problems(policy: Any) -> Iterator[Problem]:
    yield from object_problems(policy, path="conflictPolicy", known=("tag",))
    if isinstance(policy, Mapping):
        tag = policy.get("tag", "")
        yield from text_problems(tag, path="conflictPolicy.tag", max_length=MAX_TAG_LENGTH, one_line=True)


def _action_problems(action: Any) -> Iterator[Problem]:
    yield from object_problems(action, path="action", known=("type", "options"))
    if not isinstance(action, Mapping):
        return
    kind = action.get("type", ActionType.SEND_EVENT)
    yield from choice_problems(kind, path="action.type", choices=[*ActionType])
    yield from option_problems(action.get("options", {}), type=kind, path="action.options")


def _type_of(document: Mapping[str, Any]) -> Any:
    """The action's type; `send_event` by default."""
    action = document.get("action", {})
    return action.get("type", ActionType.SEND_EVENT) if isinstance(action, Mapping) else shown(action)


def _moment_problems(document: Mapping[str, Any], *, type: Any) -> Iterator[Problem]:
    """Problems of `moments`, given the type of the action; none if it isn't set."""
    moments = document.get(MOMENTS)
    if moments is None:
        return
    if not isinstance(moments, list):
        yield Problem(
            MOMENTS,
            gettext("%(moments)s must be a list such as %(example)s, not %(type)s.")
            % {"moments": MOMENTS, "example": EXAMPLE, "type": type_name(moments)},
        )
        return
    if not moments:
        yield Problem(
            MOMENTS,
            gettext("%(moments)s is empty; list when the tool may run, such as %(example)s, or remove it.")
            % {"moments": MOMENTS, "example": EXAMPLE},
        )
    for index, moment in enumerate(moments):
        path = join(MOMENTS, str(index))
        found = list(choice_problems(moment, path=path, choices=[*Trigger]))
        if not found and moment in moments[:index]:
            found.append(
                Problem(
                    path,
                    gettext('%(path)s: "%(moment)s" is listed twice; remove one.') % {"path": path, "moment": moment},
                )
            )
        yield from found or _trigger_problems(document, moment, path=path, type=type)
    if document.get("requires_approval") is True and type == ActionType.SEND_WEBHOOK and Trigger.TASK not in moments:
        yield Problem("requires_approval", str(NO_TASK))


def _trigger_problems(document: Mapping[str, Any], moment: str, *, path: str, type: Any) -> Iterator[Problem]:
    if moment != Trigger.COMMITMENT and type != ActionType.SEND_WEBHOOK:
        yield Problem(path, WEBHOOKS_ONLY.format(path=path))
    elif moment in CALLED and _answers_later(document):
        yield Problem(path, ANSWERS_LATER.format(path=path, moment=moment))


def _answers_later(document: Mapping[str, Any]) -> bool:
    action = document.get("action", {})
    options = action.get("options", {}) if isinstance(action, Mapping) else {}
    return isinstance(options, Mapping) and options.get("callback") is True


def _fires_on_commitments(document: Mapping[str, Any]) -> bool:
    """True if commitments fire the tool, which then needs conditions."""
    moments = document.get(MOMENTS)
    return not isinstance(moments, list) or not moments or Trigger.COMMITMENT in moments
