"""Renders the prompts of templates/prompts. What comes from outside is data there, and can't close our tags."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from django.template import Context, Engine, Template

TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "prompts"
SYSTEM, USER = PARTS = ("system.md", "user.md")

# The beginning of a tag, also at the very end of a text, where our template's next character could complete it
TAG_START = re.compile(r"<(?=\s*/|[A-Za-z!?]|\s*\Z)")
LINE_BREAKS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Fields of list items that our templates put on one line: a line break in them would look like a further item
ONE_LINE_FIELDS = frozenset({"role", "content", "field", "value", "note"})


class UnknownVariable(Exception):
    """A template names a variable or an attribute that its context doesn't have."""


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt: the part that stays the same from turn to turn, and the part that doesn't."""

    system: str
    user: str
    template_hash: str


def render(skill: str, context: Any, *, stable: Hashable = None) -> Prompt:
    """Render templates/prompts/<skill> with the fields of a dataclass. Raises UnknownVariable, TemplateDoesNotExist.

    `stable` names everything that the system part is made of (a version of the settings, a channel): equal names get the
    text of the first rendering. Without one it is rendered each time.
    """
    variables = _Fields(context)
    system = _system_of(skill, variables, stable=stable)
    return Prompt(system, part_template(skill, USER).render(_StrictContext(variables)), template_hash(skill))


def _system_of(skill: str, variables: _Fields, *, stable: Hashable) -> str:
    kept = _systems.get((skill, stable)) if stable is not None else None
    if kept is not None:
        return kept
    system = str(part_template(skill, SYSTEM).render(_StrictContext(variables)))
    if stable is not None:
        _systems[skill, stable] = system
        if len(_systems) > KEPT_SYSTEMS:
            _systems.pop(next(iter(_systems)), None)
    return system


def part_template(skill: str, part: str) -> Template:
    """One of a skill's two templates, compiled once. Raises TemplateDoesNotExist."""
    return _engine().get_template(f"{skill}/{part}")


@cache
def template_hash(skill: str) -> str:
    """The version of a skill's templates, 16 hexadecimal digits, as stored with every model call."""
    digest = hashlib.sha256()
    for part in PARTS:
        digest.update((TEMPLATES / skill / part).read_bytes() + b"\0")
    return digest.hexdigest()[:16]


# The same settings go into every prompt of an agent.
@lru_cache(maxsize=2048)
def neutralise(text: str) -> str:
    """The text with every `<` that could open or close a tag replaced by a character that looks like it."""
    return TAG_START.sub("‹", text)


def one_line(text: str) -> str:
    """The text on one line, its line breaks still to be seen."""
    return LINE_BREAKS.sub(" ⏎ ", text)


class _Raising(str):
    """Django's `string_if_invalid` that raises instead of standing in for what is missing."""

    def __contains__(self, text: object) -> bool:
        # Django asks whether it holds a "%s", and fills in the variable's name if so
        return True

    def __mod__(self, variable: object) -> str:
        raise UnknownVariable(str(variable))


class _StrictData(dict[str, Any]):
    """A dataclass's or mapping's values. `{% if %}` and `{% for %}` take a missing name for empty: here it raises."""

    def __missing__(self, name: str) -> Any:
        raise UnknownVariable(name)


class _Fields(dict[str, Any]):
    """A context's fields by name, each neutralised when a template first asks for it."""

    def __init__(self, context: Any) -> None:
        super().__init__()
        self._context = context
        self._names = _field_names(context.__class__)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __missing__(self, name: str) -> Any:
        found = self[name] = _field_of(name, getattr(self._context, name), is_item=False)
        return found


class _StrictContext(Context):
    def __init__(self, variables: dict[str, Any]) -> None:
        super().__init__(variables, autoescape=False, use_l10n=False, use_tz=False)

    def __getitem__(self, key: Any) -> Any:
        for scope in reversed(self.dicts):
            if key in scope:
                return scope[key]
        raise UnknownVariable(str(key))


KEPT_SYSTEMS = 512
_systems: dict[tuple[str, Hashable], str] = {}


@cache
def _engine() -> Engine:
    return Engine(dirs=[str(TEMPLATES)], autoescape=False, string_if_invalid=_Raising("!"), debug=False)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _data_of(value: Any, *, is_item: bool = False) -> Any:
    """A copy of the context in which every string is neutralised."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return neutralise(value)
    if is_dataclass(value) and not isinstance(value, type):
        value = {name: getattr(value, name) for name in _field_names(type(value))}
    if isinstance(value, Mapping):
        return _StrictData({name: _field_of(name, item, is_item=is_item) for name, item in value.items()})
    if isinstance(value, list | tuple | set | frozenset):
        return [_data_of(item, is_item=True) for item in value]
    return value


def _field_of(name: str, value: Any, *, is_item: bool) -> Any:
    if is_item and isinstance(value, str) and name in ONE_LINE_FIELDS:
        value = one_line(value)
    return _data_of(value, is_item=True)
