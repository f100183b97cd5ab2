"""The phone numbers a business transfers calls to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import phonenumbers

from projects.common.phones import in_e164
from projects.models import Project
from projects.records.attributes import resolve_attributes
from tenancy.scope import tenant_tx
from tools.engine.execution.handler import ToolContext
from tools.engine.words import normalize_words

TRANSFER_NUMBERS = "project_attributes_setting_transfer_numbers"
SHORT_WORD = 3
NO_LIKENESS = (False, 0)
LEADING_NAME = re.compile(r"^\s*(?P<name>[^:=+\d][^:=]*?)\s*[:=]\s*(?P<number>.+)$")


@dataclass(frozen=True)
class TransferNumber:
    """A number in E.164 and its name; the name may be empty."""

    name: str
    number: str


def read_numbers(value: object, *, region: str) -> list[TransferNumber]:
    """Parse the setting, in order; entries that can't be a number are skipped.

    The value is an object `{"kitchen": "+39…"}`, a list of numbers, or text such as `+39 06 1, kitchen: +39 06 2`.
    """
    found = [(name, _e164(number, region)) for name, number in _pairs(value)]
    return [TransferNumber(name, number) for name, number in found if number]


def numbers_of(context: ToolContext) -> Sequence[TransferNumber]:
    """The current transfer numbers of the context's project."""
    with tenant_tx(context.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=context.project_id)
        found = resolve_attributes(project).get(TRANSFER_NUMBERS)
        config = project.agent_version.config if project.agent_version else None
        return read_numbers(found.value if found else None, region=config.region if config else "US")


def transfer_repeat(arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    """The repeat key of a transfer: a call is transferred once, regardless of number and tool."""
    return "the call"


def choose_number(numbers: Sequence[TransferNumber], wanted: str) -> TransferNumber | None:
    """The number whose name was requested, or shares most with the request; None if no name does.

    If nobody was named, it is the first number. A single number without a name is everybody's.
    """
    if not numbers or not wanted.strip():
        return next(iter(numbers), None)
    words = set(normalize_words(wanted).split())
    likeness, best = max(
        ((_likeness(words, set(normalize_words(one.name).split())), one) for one in numbers), key=lambda pair: pair[0]
    )
    if likeness != NO_LIKENESS:
        return best
    return best if len(numbers) == 1 and not best.name else None


def _likeness(wanted: set[str], name: set[str]) -> tuple[bool, int]:
    """True if the whole name was requested, and the length of the shared words. Short words don't count."""
    shared = sum(len(word) for word in wanted & name if len(word) > SHORT_WORD)
    return bool(name) and name <= wanted, shared


def _pairs(value: object) -> Iterator[tuple[str, str]]:
    """Names and numbers as written."""
    if isinstance(value, dict):
        yield from ((str(name), str(number)) for name, number in value.items())
    parts = re.split(r"[,;\n]", value) if isinstance(value, str) else value if isinstance(value, list) else []
    for part in parts:
        found = LEADING_NAME.match(str(part))
        yield (found["name"], found["number"]) if found else ("", str(part))


def _e164(text: str, region: str) -> str:
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return ""
    return in_e164(number) if phonenumbers.is_possible_number(number) else ""
