"""Validation of stored definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from projects.records.attributes import type_name
from tools.engine.builtin_tool import BuiltinTool
from tools.engine.business_state import PLACEHOLDERS
from tools.engine.catalogue import code_definition, is_called_by_model
from tools.engine.platform.stored import PLACEHOLDER, StoredDefinition
from tools.engine.registry import builtin_tools
from tools.engine.validation.problem import Problem
from tools.engine.validation.values import text_problems

MAX_DESCRIPTION_LENGTH = 1_000
MAX_SECTION_LENGTH = 4_000
BRACES = re.compile(r"\{\{.*?\}\}|\{\{|\}\}", re.DOTALL)
HEADING = re.compile(r"^#{1,6}(?!#)\s*\S", re.MULTILINE)
SUBSECTION = re.compile(r"### \S.*")
# References and patterns may lead elsewhere or run for minutes; allowed only as in the code's own schema.
RESTRICTED_KEYWORDS = ("$ref", "pattern")


def called_tools() -> Mapping[str, BuiltinTool]:
    """The tools that models call; only these can have a stored definition."""
    return {name: tool for name, tool in builtin_tools().items() if is_called_by_model(tool)}


def definition_problems(name: str, words: StoredDefinition) -> list[Problem]:
    """Every problem with the definition; empty if it can be saved."""
    tool = called_tools().get(name)
    if tool is None:
        return [Problem("name", f"Models call no tool “{name[:80]}”; choose one from the list.")]
    return [
        *text_problems(words.description, path="description", max_length=MAX_DESCRIPTION_LENGTH),
        *_name_problems(words.description, path="description"),
        *_category_problems(words.category),
        *_section_problems(words.section),
        *(_parameter_problems(words.parameters, tool) if words.parameters is not None else ()),
    ]


def _name_problems(text: str, *, path: str) -> Iterator[Problem]:
    known = ", ".join(f"{{{{{name}}}}}" for name in PLACEHOLDERS)
    for found in BRACES.finditer(text):
        name = PLACEHOLDER.fullmatch(found[0])
        if name is None or name[1] not in PLACEHOLDERS:
            yield Problem(path, f"In {path}, {found[0][:80]} isn't a known placeholder; use one of {known}.")


def _category_problems(category: str) -> Iterator[Problem]:
    known = sorted({tool.category for tool in called_tools().values()} - {""})
    if category and category not in known:
        yield Problem(
            "category",
            f"There is no category “{category[:40]}”; use one of {', '.join(known)}, or leave it empty for the default.",
        )


def _section_problems(section: str) -> Iterator[Problem]:
    if not section:
        return
    yield from text_problems(section, path="section", max_length=MAX_SECTION_LENGTH)
    yield from _name_problems(section, path="section")
    if not SUBSECTION.match(section):
        yield Problem("section", "A section must begin with a heading: ### and its subject, on a line of its own.")
    for found in list(HEADING.finditer(section))[1:]:
        line = section[found.start() :].partition("\n")[0]
        yield Problem("section", f"A section has one heading, its first line; “{line[:80]}” is another.")


def _parameter_problems(parameters: Any, tool: BuiltinTool) -> Iterator[Problem]:
    """The parameters must be a JSON Schema of an object with only the tool's own parameters, and all required ones."""
    if not isinstance(parameters, Mapping):
        yield Problem("parameters", f"parameters must be a JSON Schema, an object, not {type_name(parameters)}.")
        return
    if wrong := _schema_error(parameters):
        yield wrong
        return
    own = code_definition(tool).parameters or {}
    if parameters.get("type") != "object" or not isinstance(parameters.get("properties", {}), Mapping):
        yield Problem("parameters", 'parameters must be of "type": "object", with its "properties".')
        return
    yield from _property_problems(parameters, own, tool=tool.name)
    for keyword, value in _restricted(parameters):
        if (keyword, value) not in list(_restricted(own)):
            yield Problem("parameters", f"“{keyword}” isn't allowed here; use the description instead.")


def _property_problems(parameters: Mapping[str, Any], own: Mapping[str, Any], *, tool: str) -> Iterator[Problem]:
    known, needed = own.get("properties", {}), own.get("required", [])
    names = ", ".join(known) or "nothing"
    for name in parameters.get("properties", {}):
        if name not in known:
            yield Problem("parameters", f"{tool} takes {names}; “{name[:80]}” is unknown.")
    for name in needed:
        if name not in parameters.get("properties", {}):
            yield Problem("parameters", f"{tool} requires “{name}”; keep it in properties.")


def _schema_error(parameters: Mapping[str, Any]) -> Problem | None:
    try:
        Draft202012Validator.check_schema(dict(parameters))
    except SchemaError as error:
        place = ".".join(["parameters", *map(str, error.absolute_path)])
        return Problem("parameters", f"Invalid JSON Schema at {place}: {error.message[:200]}.")
    return None


def _restricted(node: Any) -> Iterator[tuple[str, str]]:
    """References and patterns in a schema. A property of that name is skipped because its value is a schema."""
    if isinstance(node, Mapping):
        yield from ((name, node[name]) for name in RESTRICTED_KEYWORDS if isinstance(node.get(name), str))
        for value in node.values():
            yield from _restricted(value)
    elif isinstance(node, list):
        for value in node:
            yield from _restricted(value)
