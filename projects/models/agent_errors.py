"""Validation errors of an agent's settings as sentences, by the path of the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.utils.translation import gettext
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from projects.common.numbers import grouped
from projects.common.translation import lazy
from projects.models.agent_config import AgentConfig


class SettingsRefused(ValueError):
    """Invalid settings. `errors` holds a sentence for each path, such as `scenarios.0.steps.2.text`."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        # A lazy translation becomes text here, in the language of the request.
        self.errors = {path: str(sentence) for path, sentence in errors.items()}
        super().__init__("; ".join(f"{path}: {sentence}" for path, sentence in self.errors.items()))


# The expected format, by a pattern of the field's path.
SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^hours\."), lazy("Enter a time like 09:30. Midnight at the end of a day is 24:00.")),
    (re.compile(r"^quiet_hours"), lazy("Enter a time like 21:00 in both, or leave both empty.")),
    (re.compile(r"^follow_up_minutes"), lazy("Enter minutes from 0 (never) to 10080 (a week), or leave it empty.")),
    (re.compile(r"^follow_up_limit"), lazy("Enter a whole number from 0 to 10.")),
    (re.compile(r"^holidays"), lazy("Enter a date like 2026-12-24.")),
    (
        re.compile(r"^observer_fields\..*key$"),
        lazy("Use a name like party_size: lowercase letters, digits and _, at most 40, beginning with a letter."),
    ),
    (
        re.compile(r"\.tools\b"),
        lazy("Enter tool names separated by commas, like check_availability_tool, create_booking_tool."),
    ),
    (re.compile(r"^vertical$"), lazy("Choose a kind of business from the list.")),
    (re.compile(r"^caller_verification$"), lazy("Choose a level from the list.")),
    (re.compile(r"^escalation_rules\..*action$"), lazy("Choose whether to transfer the call or send a message.")),
    (re.compile(r"^enabled_tools\."), lazy("Choose tools from the list.")),
    (re.compile(r"^port$"), lazy("Enter a whole number from 1 to 65535, usually 587.")),
    (
        re.compile(r"\.collects\b"),
        lazy("Enter field names of at most 40 characters, separated by commas, like name, phone."),
    ),
)
# pydantic's type of a field that the model doesn't have.
UNKNOWN = "extra_forbidden"
NO_FLAG = lazy("Write true or false, without quotation marks.")
EMPTY = lazy("This field is required.")
NEEDED = {
    r"^scenarios\.\d+\.steps$": lazy("A scenario needs at least one step. Add one, or remove the scenario."),
    r"^scenarios\.\d+\.steps\.\d+\.text$": lazy("Describe what the agent does in this step, or remove the step."),
    r"^escalation_rules\.\d+\.when$": lazy("Enter a condition, or remove the rule."),
    r"^models\.": lazy("Enter a model, or use the default."),
}


def checked_config(document: Mapping[str, Any]) -> AgentConfig:
    """Validate a document. Raises SettingsRefused."""
    try:
        return AgentConfig.model_validate(document)
    except ValidationError as error:
        raise SettingsRefused(sentences(error)) from error


def sentences(error: ValidationError, *, known: Collection[str] = ()) -> dict[str, str]:
    """One sentence for each invalid field, by path. `known` are the names that an unknown field's sentence tells."""
    found: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        found.setdefault(_path(detail), _unknown(known) if detail["type"] == UNKNOWN else _sentence(detail))
    return found


def _unknown(known: Collection[str]) -> str:
    if not known:
        return gettext("There is no such setting.")
    return gettext("There is no such setting. Known here: %(names)s.") % {"names": ", ".join(known)}


def _path(detail: ErrorDetails) -> str:
    return ".".join(str(part) for part in detail["loc"])


def _sentence(detail: ErrorDetails) -> str:
    say = SAYINGS.get(detail["type"], _shape)
    return say(detail)


def _shape(detail: ErrorDetails) -> str:
    path = _path(detail)
    return next((text for pattern, text in SHAPES if pattern.search(path)), f"{detail['msg']}.")


def _too_short(detail: ErrorDetails) -> str:
    path = _path(detail)
    return next((text for pattern, text in NEEDED.items() if re.search(pattern, path)), EMPTY)


def _too_long(detail: ErrorDetails) -> str:
    most, length = detail["ctx"]["max_length"], len(detail["input"])
    return gettext("Use at most %(most)s characters. This has %(length)s.") % {
        "most": grouped(most),
        "length": grouped(length),
    }


def _too_many(detail: ErrorDetails) -> str:
    return gettext("Use at most %(most)s. There are %(number)s.") % {
        "most": detail["ctx"]["max_length"],
        "number": len(detail["input"]),
    }


def _no_flag(detail: ErrorDetails) -> str:
    return NO_FLAG


def _own_words(detail: ErrorDetails) -> str:
    return str(detail["ctx"]["error"])


SAYINGS: dict[str, Callable[[ErrorDetails], str]] = {
    "string_too_short": _too_short,
    "too_short": _too_short,
    "missing": _too_short,
    "string_too_long": _too_long,
    "too_long": _too_many,
    "value_error": _own_words,
    "bool_type": _no_flag,
}
