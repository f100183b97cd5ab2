"""Renders the prompts in templates/prompts. Outside data is escaped, so that it can't close a tag of ours."""

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
from django.utils.translation import override

TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "prompts"
LANGUAGE = "en"
SYSTEM, USER = PARTS = ("system.md", "user.md")

# The start of a tag, including one at the very end of a text, which the template's next character could complete
TAG_START = re.compile(r"<(?=\s*/|[A-Za-z!?]|\s*\Z)")
LINE_BREAKS = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# List item fields that a template prints on one line: a line break in them would look like another item
ONE_LINE_FIELDS = frozenset({"role", "content", "field", "value", "note"})


class UnknownVariable(Exception):
    """A template uses a variable or an attribute that its context doesn't have."""


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt: the stable part, the volatile part, and the version of the templates."""

    system: str
    user: str
    template_hash: str


def render(skill: str, context: Any, *, stable: Hashable = None) -> Prompt:
    """Render templates/prompts/<skill> with the fields of a dataclass. Raises UnknownVariable, TemplateDoesNotExist.

    `stable` is a cache key for the system part: everything it depends on, such as a settings version and a channel.
    Without one, the system part is rendered each time.
    """
    variables = _Fields(context)
    # Prompts are in English, in every language of a request.
    with override(LANGUAGE):
        system = _system_of(skill, variables, stable=stable)
        user = part_template(skill, USER).render(_StrictContext(variables))
    return Prompt(system, user, template_hash(skill))


def render_system(skill: str, context: Any, *, stable: Hashable) -> str:
    """Render the stable part only."""
    with override(LANGUAGE):
        return _system_of(skill, _Fields(context), stable=stable)


def _system_of(skill: str, variables: _Fields, *, stable: Hashable) -> str:
    kept = _systems.get((skill, stable)) if stable is not None else None
    if kept is not None:
        return kept
    system = str(part_template(skill, SYSTEM).render(_StrictContext(variables)))
    if stable is not None:
        _systems[skill, stable] = system
        if len(_systems) > CACHED_SYSTEMS:
            _systems.pop(next(iter(_systems)), None)
    return system


def part_template(skill: str, part: str) -> Template:
    """One of a skill's two templates, compiled once. Raises TemplateDoesNotExist."""
    return _engine().get_template(f"{skill}/{part}")


@cache
def template_hash(skill: str) -> str:
    """The version of a skill's templates: 16 hexadecimal digits, stored with every model call."""
    digest = hashlib.sha256()
    for part in PARTS:
        digest.update((TEMPLATES / skill / part).read_bytes() + b"\0")
    return digest.hexdigest()[:16]


# Every prompt of an agent contains the same settings
@lru_cache(maxsize=2048)
def neutralize(text: str) -> str:
    """Replace every `<` that could open or close a tag with a look-alike character."""
    return TAG_START.sub("‹", text)


def one_line(text: str) -> str:
    """Put the text on one line, with its line breaks marked."""
    return LINE_BREAKS.sub(" ⏎ ", text)


class _Raising(str):
    """A `string_if_invalid` that raises, where Django's would replace the missing value."""

    def __contains__(self, text: object) -> bool:
        # Django checks for "%s" and then fills in the variable's name
        return True

    def __mod__(self, variable: object) -> str:
        raise UnknownVariable(str(variable))


class _StrictData(dict[str, Any]):
    """The values of a dataclass or mapping. `{% if %}` and `{% for %}` treat a missing name as empty; this raises."""

    def __missing__(self, name: str) -> Any:
        raise UnknownVariable(name)


class _Fields(dict[str, Any]):
    """A context's fields by name, each neutralized when a template first reads it."""

    def __init__(self, context: Any) -> None:
        super().__init__()
        self._context = context
        self._names = _field_names(context.__class__)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __missing__(self, name: str) -> Any:
        found = self[name] = _neutralized_field(name, getattr(self._context, name), is_item=False)
        return found


class _StrictContext(Context):
    def __init__(self, variables: dict[str, Any]) -> None:
        super().__init__(variables, autoescape=False, use_l10n=False, use_tz=False)

    def __getitem__(self, key: Any) -> Any:
        for scope in reversed(self.dicts):
            if key in scope:
                return scope[key]
        raise UnknownVariable(str(key))


CACHED_SYSTEMS = 512
_systems: dict[tuple[str, Hashable], str] = {}


@cache
def _engine() -> Engine:
    return Engine(dirs=[str(TEMPLATES)], autoescape=False, string_if_invalid=_Raising("!"), debug=False)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _neutralized(value: Any, *, is_item: bool) -> Any:
    """A copy of the value with every string neutralized."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return neutralize(value)
    if is_dataclass(value) and not isinstance(value, type):
        value = {name: getattr(value, name) for name in _field_names(type(value))}
    if isinstance(value, Mapping):
        return _StrictData({name: _neutralized_field(name, item, is_item=is_item) for name, item in value.items()})
    if isinstance(value, list | tuple | set | frozenset):
        return [_neutralized(item, is_item=True) for item in value]
    return value


def _neutralized_field(name: str, value: Any, *, is_item: bool) -> Any:
    if is_item and isinstance(value, str) and name in ONE_LINE_FIELDS:
        value = one_line(value)
    return _neutralized(value, is_item=True)
