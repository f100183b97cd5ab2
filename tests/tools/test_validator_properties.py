"""Properties of the validator: any JSON is answered with sentences, and accepted JSON can be parsed."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from projects.common.api_error import ApiError
from tests.tools.examples import event, webhook
from tools.engine.catalogue import compile_custom
from tools.engine.custom.current_tools import CurrentTool
from tools.engine.custom.reading import read_definition, read_json, read_registration, read_tools
from tools.engine.definition import ActionType, AfterActionType, ToolDefinition, WebhookOptions
from tools.engine.validation.after_actions import after_action_problems
from tools.engine.validation.definition import FIELDS, definition_problems
from tools.engine.validation.names import name_problems
from tools.engine.validation.options import option_problems
from tools.engine.validation.schema import KEYWORDS, REFUSED, TYPES, schema_problems
from tools.engine.validation.warnings import warnings_of

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
names = st.sampled_from(
    sorted({*FIELDS, *KEYWORDS, *REFUSED, *WebhookOptions.model_fields, "tag", "x", "Host"})
) | st.text(max_size=8)
values = scalars | st.sampled_from([*TYPES, *ActionType, *AfterActionType, "https://api.example.com/a", "boolean"])
json_values = st.recursive(
    values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=25,
)


def spots_of(value: Any) -> list[list[Any]]:
    """The path to each place in a document."""
    ways: list[list[Any]] = [[]]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return ways + [[key, *way] for key, inner in items for way in spots_of(inner)]


RICH = webhook(
    query={"page": "1"},
    headers={"X-Note": "a"},
    body={
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            "how": {"enum": ["a", 2]},
        },
        "required": ["how"],
    },
)
RICH["after_actions"] = [
    {"type": "set_persona_attribute", "options": {"attribute": "tier", "path": "tier"}},
    {"type": "set_prompt_section", "options": {"section": "Tier", "value": "gold"}},
]
SPOTS = [(document, way) for document in (RICH, event()) for way in spots_of(document)]


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """A valid definition with another value in one or two places."""
    document, way = draw(st.sampled_from(SPOTS))
    document = copy.deepcopy(document)
    if not way:
        return draw(json_values)
    *path, last = way
    inside = document
    for step in path:
        inside = inside[step]
    inside[last] = draw(json_values)
    return document


def assert_is_sentence(problem: Any) -> None:
    assert isinstance(problem.path, str)
    assert problem.message[-1] in ".?}", problem.message
    problem.message.encode()


@settings(max_examples=250)
@given(spoilt())
def test_a_mutated_definition_is_refused_with_sentences_or_usable(document: Any) -> None:
    problems = definition_problems(document)
    for problem in problems:
        assert_is_sentence(problem)
    if not problems:
        definition = ToolDefinition.model_validate(document)
        warnings_of(definition)
        compiled = compile_custom(CurrentTool("x", definition))
        assert json.loads(json.dumps(compiled.definition.model_dump(mode="json", by_alias=True)))
        for action in definition.after_actions:
            assert action.read


@given(json_values)
def test_no_part_of_a_definition_crashes_its_validator(value: Any) -> None:
    list(schema_problems(value, path="x"))
    list(after_action_problems(value, action=value, path="x"))
    list(name_problems(value))
    for kind in ActionType:
        list(option_problems(value, type=kind, path="x"))


@given(json_values)
def test_no_input_form_crashes_the_reader(value: Any) -> None:
    for read in (read_registration, read_tools, lambda given: read_definition(given, name="x")):
        with suppress(ApiError):
            read(value if isinstance(value, dict) else {"tools": value})


@given(st.text(max_size=40) | json_values.map(lambda value: json.dumps(value)[:60]))
def test_no_text_crashes_the_json_reader(text: str) -> None:
    with suppress(ApiError):
        read_json(text)
