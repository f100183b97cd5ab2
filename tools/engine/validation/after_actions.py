"""Validation of after-actions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext

from projects.common.translation import lazy
from projects.records.attributes import type_name
from tools.engine.definition import AFTER_ACTION_OPTIONS, ActionType, AfterActionType
from tools.engine.validation.options import MAX_VALUE_LENGTH, message_problems
from tools.engine.validation.problem import Problem, join
from tools.engine.validation.values import choice_problems, object_problems, shown, text_problems

MAX_AFTER_ACTIONS = 20
ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
SECTION = re.compile(r"[A-Za-z][A-Za-z0-9_ -]{0,79}")
PATH = re.compile(r"[^.\s]{1,64}(\.[^.\s]{1,64}){0,7}")
MAX_INSTRUCTION_LENGTH = 1_000
ATTRIBUTE_RULE = lazy(
    "%(path)s must name the persona attribute to set: a letter, then letters, digits and _, at most 40; not %(value)s."
)
SECTION_RULE = lazy(
    "%(path)s must name the prompt section to write: a letter, then letters, digits, spaces, _ or -, at most 80; "
    "not %(value)s."
)


def after_action_problems(after_actions: Any, *, action: Any, path: str) -> Iterator[Problem]:
    """Problems of the list, given the type of the action."""
    if not isinstance(after_actions, list):
        yield Problem(
            path,
            gettext("%(path)s must be a list, not %(type)s.") % {"path": path, "type": type_name(after_actions)},
        )
    elif len(after_actions) > MAX_AFTER_ACTIONS:
        yield Problem(
            path,
            gettext("%(path)s has %(count)s actions; the limit is %(most)s.")
            % {"path": path, "count": format(len(after_actions), ","), "most": MAX_AFTER_ACTIONS},
        )
    elif after_actions and action == ActionType.SEND_EVENT:
        yield Problem(
            path,
            gettext(
                "%(path)s runs after send_webhook and send_urgent_message only, not after send_event; leave the list "
                "empty, or use send_webhook or send_urgent_message."
            )
            % {"path": path},
        )
    else:
        for index, one in enumerate(after_actions):
            yield from _one_problems(one, path=join(path, str(index)))


def _one_problems(one: Any, *, path: str) -> Iterator[Problem]:
    yield from object_problems(one, path=path, known=("type", "options"))
    if not isinstance(one, Mapping):
        return
    kind, options = one.get("type"), one.get("options", {})
    yield from choice_problems(kind, path=join(path, "type"), choices=[*AfterActionType])
    if not isinstance(options, Mapping):
        yield Problem(
            join(path, "options"),
            gettext("%(path)s.options must be an object, not %(type)s.") % {"path": path, "type": type_name(options)},
        )
    elif isinstance(kind, str) and kind in [*AfterActionType]:
        yield from _option_problems(options, AfterActionType(kind), path=join(path, "options"))


def _option_problems(options: Mapping[str, Any], kind: AfterActionType, *, path: str) -> Iterator[Problem]:
    yield from object_problems(options, path=path, known=AFTER_ACTION_OPTIONS[kind].model_fields)
    if kind is AfterActionType.SEND_URGENT_MESSAGE:
        yield from message_problems(options, path)
        return
    yield from _target_problems(options, kind, path=path)
    yield from _input_problems(options, path=path)


def _target_problems(options: Mapping[str, Any], kind: AfterActionType, *, path: str) -> Iterator[Problem]:
    is_attribute = kind is AfterActionType.SET_PERSONA_ATTRIBUTE
    name, rule = ("attribute", ATTRIBUTE) if is_attribute else ("section", SECTION)
    target, at = options.get(name), join(path, name)
    if not isinstance(target, str) or not rule.fullmatch(target):
        sentence = ATTRIBUTE_RULE if is_attribute else SECTION_RULE
        yield Problem(at, sentence % {"path": at, "value": shown(target)})


def _input_problems(options: Mapping[str, Any], *, path: str) -> Iterator[Problem]:
    """Problems of the input: a fixed value or a path into the response, with an optional instruction."""
    value, part, instruction = options.get("value"), options.get("path"), options.get("instruction")
    if value is not None:
        yield from text_problems(value, path=join(path, "value"), max_length=MAX_VALUE_LENGTH, is_required=False)
    if instruction is not None:
        yield from text_problems(instruction, path=join(path, "instruction"), max_length=MAX_INSTRUCTION_LENGTH)
    at = join(path, "path")
    if part is not None and (not isinstance(part, str) or not PATH.fullmatch(part)):
        yield Problem(
            at,
            gettext("%(path)s must lead to a part of the response, such as order.status; not %(part)s.")
            % {"path": at, "part": shown(part)},
        )
    elif part is not None and value is not None:
        yield Problem(
            at,
            gettext("%(path)s has both value and path; a value is fixed, a path leads into the response. Remove one.")
            % {"path": path},
        )
