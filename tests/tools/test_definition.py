"""Tool definitions: accepted ones, and refused ones with a sentence on how to correct them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tools.examples import NAME, REGISTRATION_TEXT, SCHEMA_TEXT, event, registration, webhook, with_body
from tools.engine.catalogue import compile_custom, wait_seconds
from tools.engine.custom.current_tools import CurrentTool
from tools.engine.definition import ActionType, RetryPolicy, ToolDefinition, Trigger
from tools.engine.validation.definition import MAX_DEFINITION_LENGTH, checked_definition, definition_problems
from tools.engine.validation.problem import DefinitionRefused
from tools.engine.validation.warnings import warnings_of


def refusal(document: Any) -> str:
    """The sentence that refuses a document with one mistake."""
    [problem] = definition_problems(document)
    return problem.message


def path_of(document: Any) -> str:
    [problem] = definition_problems(document)
    return problem.path


def both(document: Any) -> tuple[str, str]:
    return path_of(document), refusal(document)


# The specified schema


@pytest.mark.requirement("N50")
def test_the_specified_registration_is_accepted() -> None:
    definition = checked_definition(json.loads(REGISTRATION_TEXT)["tools"][NAME])
    assert definition.action.webhook.body["properties"]["customer_name"]["type"] == "string"


@pytest.mark.requirement("N50")
def test_the_specified_definition_is_accepted() -> None:
    assert checked_definition(json.loads(SCHEMA_TEXT)["tool_name"]).tag == "conflict_group_tag"


@pytest.mark.requirement("N50")
def test_a_definition_round_trips() -> None:
    """An effect stores the document that was saved."""
    document = registration()["tools"][NAME]
    kept = checked_definition(document).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert kept == document


@pytest.mark.requirement("N16")
@pytest.mark.parametrize("description", [None, "", "  ", "\u200b", 7])
def test_a_description_is_required(description: Any) -> None:
    assert (
        path_of(event(description=description) if description is not None else event(description=None)) == "description"
    )


@pytest.mark.requirement("N18")
def test_history_must_be_a_boolean() -> None:
    assert refusal(event(useConversationHistory=None)) == (
        "useConversationHistory is missing; write true to read the whole conversation, false to read the latest answer only."
    )
    assert refusal(event(useConversationHistory="true")) == (
        'useConversationHistory must be true or false, without quotation marks, not "true".'
    )


@pytest.mark.requirement("N19")
def test_a_tool_without_a_tag_never_conflicts() -> None:
    assert checked_definition(event(conflictPolicy=None)).tag is None
    assert both(event(conflictPolicy={})) == (
        "conflictPolicy.tag",
        "conflictPolicy.tag can't be empty.",
    )


@pytest.mark.requirement("N20")
@pytest.mark.parametrize("kind", [*ActionType])
def test_known_actions_are_accepted(kind: str) -> None:
    options = {"url": "https://api.example.com/"} if kind == "send_webhook" else {}
    assert definition_problems(event(action={"type": kind, "options": options})) == []


@pytest.mark.requirement("N20")
def test_an_unknown_action_is_refused() -> None:
    assert both(event(action={"type": "send_fax"})) == (
        "action.type",
        'action.type must be one of "send_event", "send_webhook", "send_urgent_message", not "send_fax".',
    )


@pytest.mark.requirement("N20")
def test_a_tool_without_an_action_sends_its_event() -> None:
    assert checked_definition(event(action=None)).action.type is ActionType.SEND_EVENT


@pytest.mark.requirement("N21")
def test_an_event_has_no_after_actions() -> None:
    """An empty list is accepted."""
    follow = [{"type": "send_urgent_message"}]
    assert path_of(event(after_actions=follow)) == "after_actions"
    assert path_of(event(action=None, after_actions=follow)) == "after_actions"
    assert definition_problems(event(after_actions=[])) == []
    assert definition_problems(event(action={"type": "send_urgent_message"}, after_actions=follow)) == []


@pytest.mark.requirement("T22")
def test_the_agent_waits_for_a_webhook_that_sends_a_message() -> None:
    """30 seconds, or as the options say, which may be 0."""
    documents = (webhook(), webhook(wait_seconds=5), webhook(wait_seconds=0), event())
    assert [checked_definition(document).wait_seconds for document in documents] == [30, 5, 0, 0]
    own = [compile_custom(CurrentTool(NAME, checked_definition(document))) for document in documents]
    assert [wait_seconds(tool) for tool in own] == [30, 5, 0, 0]


def test_a_get_is_retried_and_a_post_is_not() -> None:
    ways = [webhook(method="GET", body=None), webhook(), webhook(delivery="idempotent")]
    found = [checked_definition(document).action.webhook.how_often for document in ways]
    assert found == [RetryPolicy.IDEMPOTENT, RetryPolicy.ONCE, RetryPolicy.IDEMPOTENT]


# Moments


@pytest.mark.requirement("L01")
def test_default_triggers_are_commitments_and_for_webhooks_todos() -> None:
    assert checked_definition(webhook()).runs_in == (Trigger.COMMITMENT, Trigger.TASK)
    assert checked_definition(event()).runs_in == (Trigger.COMMITMENT,)


def test_a_tool_without_the_commitment_trigger_needs_no_condition() -> None:
    called = {**webhook(), "moments": ["turn", "live"]}
    for conditions in ({}, None):
        document = {**called, "conditions": conditions} if conditions is not None else dict(called)
        if conditions is None:
            del document["conditions"]
        assert checked_definition(document).runs_in == (Trigger.TURN, Trigger.LIVE)
    assert path_of({**called, "conditions": None}) == "conditions"
    assert path_of({**called, "moments": ["turn", "commitment"], "conditions": {}}) == "conditions"


MOMENTS = '"turn", "live", "commitment", "task"'
ALONE = 'moments.1: only webhooks can use moments other than commitment. Write ["commitment"], or remove moments.'


@pytest.mark.parametrize(
    ("document", "path", "sentence"),
    [
        (
            {**webhook(), "moments": "turn"},
            "moments",
            'moments must be a list such as ["turn", "commitment"], not text.',
        ),
        (
            {**webhook(), "moments": []},
            "moments",
            'moments is empty; list when the tool may run, such as ["turn", "commitment"], or remove it.',
        ),
        ({**webhook(), "moments": ["later"]}, "moments.0", f'moments.0 must be one of {MOMENTS}, not "later".'),
        (
            {**webhook(), "moments": ["turn", "turn"]},
            "moments.1",
            'moments.1: "turn" is listed twice; remove one.',
        ),
        (event(moments=["commitment", "turn"]), "moments.1", ALONE),
    ],
    ids=["text", "empty", "unknown", "twice", "event"],
)
def test_invalid_triggers_are_refused(document: Any, path: str, sentence: str) -> None:
    """With the path and the correction."""
    assert both(document) == (path, sentence)


def test_a_webhook_with_callback_cannot_run_in_a_turn() -> None:
    assert both({**webhook(callback=True), "moments": ["live", "commitment"]}) == (
        "moments.0",
        'moments.0: a webhook with callback answers later, but "live" needs the answer at once. Remove one of the two.',
    )


def test_only_a_boolean_requires_approval() -> None:
    """A tool that was meant to require approval must not run without one."""
    assert refusal({**webhook(), "requires_approval": "true"}) == (
        'requires_approval must be true or false, without quotation marks, not "true".'
    )


def test_a_tool_that_requires_approval_runs_as_a_task() -> None:
    asks = {**webhook(), "requires_approval": True}
    assert path_of({**asks, "moments": ["turn"]}) == "requires_approval"
    assert definition_problems({**asks, "moments": ["turn", "task"]}) == []


# Conditions


@pytest.mark.parametrize("conditions", [{}, None])
def test_conditions_are_required(conditions: Any) -> None:
    assert refusal(event(conditions=conditions)) == "A tool needs at least one condition."


# Types of fields


def condition(**fields: Any) -> dict[str, Any]:
    return event(conditions={"agentPromised": {"type": "boolean", "description": "It promised.", **fields}})


@pytest.mark.parametrize("kind", ["string", "Boolean", None, True])
def test_a_condition_must_be_boolean(kind: Any) -> None:
    path, sentence = both(condition(type=kind))
    assert path == "conditions.agentPromised.type"
    assert sentence.startswith('conditions.agentPromised.type must be "boolean", not ')


def test_conditions_cannot_be_nested() -> None:
    assert path_of(condition(conditions={"a": {"type": "boolean"}})) == "conditions.agentPromised.conditions"
    assert refusal(event(conditions={"agentPromised": True})) == (
        "conditions.agentPromised must be an object, not true or false."
    )


def test_all_problems_are_reported_at_once() -> None:
    """The first as a sentence, the others by path."""
    with pytest.raises(DefinitionRefused) as refused:
        checked_definition(event(description="", conditions={}, useConversationHistory=1))
    assert [problem.path for problem in refused.value.problems] == [
        "description",
        "conditions",
        "useConversationHistory",
    ]
    assert refused.value.message.endswith("(2 more: conditions, useConversationHistory)")


def test_a_misspelled_field_gets_a_suggestion() -> None:
    assert both(event(desciption="x")) == ("desciption", "Unknown field 'desciption'. Did you mean 'description'?")


# Addresses


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://169.254.169.254/", "This address is inside a private network (169.254.169.254)."),
        ("http://127.1/", "This address is inside a private network (127.0.0.1)."),
        ("http://[64:ff9b::a9fe:a9fe]/", "This address is inside a private network (64:ff9b::a9fe:a9fe)."),
        ("https://user:pw@x/", "The URL contains a user name or password. Put secrets in a header."),
        ("file:///etc/passwd", "The URL must begin with http:// or https://."),
        ("https://example.com:6379/", "Port 6379 may not be called."),
        ("https://localhost/", "This address is this machine itself (localhost)."),
    ],
)
def test_a_blocked_address_is_refused_at_save(url: str, reason: str) -> None:
    way = "Use an address such as https://api.example.com/action."
    assert both(webhook(url=url)) == ("action.options.url", f"action.options.url can't be called: {reason} {way}")


@pytest.mark.parametrize("url", ["https://{{host}}/", "https://example.com/{order}", "https://example.com/?a={b}"])
def test_an_address_cannot_be_a_template(url: str) -> None:
    assert refusal(webhook(url=url)).startswith("action.options.url can't contain placeholders")


@pytest.mark.parametrize("url", [None, "", 7, "example.com"])
def test_a_webhook_requires_an_address(url: Any) -> None:
    assert path_of(webhook(url=url)) == "action.options.url"


# Headers


@pytest.mark.parametrize(
    "headers", [{"Host": "a"}, {"content-length": "1"}, {"Transfer-Encoding": "chunked"}, {"Webhook-Signature": "x"}]
)
def test_reserved_headers_are_refused(headers: dict[str, str]) -> None:
    """The sentence names the header, whether fixed or in a schema."""
    [name] = headers
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    for given in (headers, schema):
        assert f"The header {name} is set by the system" in refusal(webhook(headers=given))


def test_a_header_cannot_contain_a_line_break() -> None:
    path, sentence = both(webhook(headers={"X-Note": "a\r\nX-Evil: b"}))
    assert path == "action.options.headers.X-Note"
    assert "X-Note" in sentence
    assert "line break" in sentence
    assert "Evil" not in sentence


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"url": "https://api.example.com/?api_key=abc"}, "action.options.url"),
        ({"url": "https://api.example.com/?accessToken=abc"}, "action.options.url"),
        ({"query": {"token": "abc"}}, "action.options.query.token"),
        ({"headers": {"Authorization": "Bearer abc"}}, "action.options.headers.Authorization"),
    ],
)
def test_a_plain_text_secret_is_a_warning(options: dict[str, Any], path: str) -> None:
    [warning] = warnings_of(checked_definition(webhook(**options)))
    assert warning.path == path
    assert "Use a secret header" in warning.message


def test_a_harmless_query_is_no_warning() -> None:
    assert warnings_of(checked_definition(webhook(url="https://api.example.com/?monkey=1&page=2"))) == []


# Schemas


@pytest.mark.parametrize("target", ["http://example.com/schema", "file:///etc/passwd", "#", "#/properties/x"])
def test_references_in_a_schema_are_refused(target: str) -> None:
    problems = definition_problems(with_body(**{"$ref": target}))
    assert problems[0].path == "action.options.body.properties.x.$ref"
    assert problems[0].message == "References aren't allowed; write the schema out here."


def nested(depth: int) -> dict[str, Any]:
    """Objects nested to this depth."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth - 1):
        schema = {"type": "object", "properties": {"x": schema}}
    return webhook(body=schema)


def test_a_schema_is_at_most_eight_levels_deep() -> None:
    assert definition_problems(nested(8)) == []
    assert "is nested more than 8 levels deep" in refusal(nested(9))


def test_a_schema_of_500_levels_is_refused() -> None:
    assert refusal(nested(500)) == "JSON may be nested at most 32 levels."


def test_a_schema_has_at_most_100_properties() -> None:
    many = {f"p{number}": {"type": "string"} for number in range(100)}
    assert definition_problems(webhook(body={"type": "object", "properties": many})) == []
    more = {**many, "one_more": {"type": "string"}}
    assert refusal(webhook(body={"type": "object", "properties": more})) == (
        "action.options.body has 101 properties; the limit is 100."
    )


def test_5000_properties_are_refused_by_size() -> None:
    many = {f"p{number}": {"type": "string"} for number in range(5_000)}
    assert f"the limit is {MAX_DEFINITION_LENGTH:,}" in refusal(webhook(body={"type": "object", "properties": many}))


@pytest.mark.parametrize(
    ("schema", "path", "words"),
    [
        ({"enum": []}, "enum", "must list at least one value"),
        ({"enum": ["a", "a"]}, "enum", "lists a value twice"),
        ({"type": "integer", "enum": ["a"]}, "enum", "which isn't of type integer"),
        ({"type": "string", "pattern": "(a+)+$"}, "pattern", "Regular expressions"),
        ({"type": "strnig"}, "type", 'must be one of "string", "number"'),
        ({}, "type", "is missing"),
        ({"type": "array"}, "items", "items is missing"),
        ({"type": "object"}, "properties", "is missing or empty"),
        ({"anyOf": [{"type": "string"}], "type": "string"}, "anyOf", "isn't allowed"),
        ({"type": "string", "minLength": 9, "maxLength": 3}, "minLength", "above maxLength"),
        ({"type": "number", "minimum": "0"}, "minimum", "must be a number"),
        ({"type": "string", "colour": "red"}, "colour", "Unknown keyword 'colour'"),
    ],
)
def test_an_unsatisfiable_schema_is_refused(schema: dict[str, Any], path: str, words: str) -> None:
    found, sentence = both(with_body(**schema))
    assert found == f"action.options.body.properties.x.{path}"
    assert words in sentence


def test_required_names_must_be_properties() -> None:
    body = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x", "y"]}
    assert refusal(webhook(body=body)) == (
        "action.options.body.required names 'y', which isn't in properties; add it there, or remove it here."
    )


def test_a_get_cannot_have_a_body() -> None:
    assert path_of(webhook(method="GET")) == "action.options.body"


@pytest.mark.requirement("N45")
def test_a_query_must_be_flat() -> None:
    inner = {"type": "object", "properties": {"y": {"type": "string"}}}
    schema = {"type": "object", "properties": {"x": inner}}
    assert path_of(webhook(query=schema)) == "action.options.query.properties.x"


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"method": "post"}, "method"),
        ({"timeout_seconds": 31}, "timeout_seconds"),
        ({"wait_seconds": 601}, "wait_seconds"),
        ({"delivery": "twice"}, "delivery"),
        ({"callback": "yes"}, "callback"),
        ({"retries": 3}, "retries"),
    ],
)
def test_webhook_settings_have_limits(options: dict[str, Any], path: str) -> None:
    assert path_of(webhook(**options)) == f"action.options.{path}"


# After-actions


def after(*actions: Any) -> dict[str, Any]:
    return {**webhook(), "after_actions": list(actions)}


def test_an_after_action_cannot_name_a_tool() -> None:
    """A reference to a tool could loop forever."""
    path, sentence = both(after({"type": NAME}))
    assert path == "after_actions.0.type"
    assert '"set_persona_attribute"' in sentence


@pytest.mark.requirement("N47")
@pytest.mark.parametrize("attribute", [None, "", "two words", 7])
def test_an_after_action_requires_an_attribute(attribute: Any) -> None:
    path, sentence = both(after({"type": "set_persona_attribute", "options": {"attribute": attribute}}))
    assert path == "after_actions.0.options.attribute"
    assert "must name the persona attribute to set" in sentence


@pytest.mark.requirement("N48")
def test_an_after_action_requires_a_section() -> None:
    assert path_of(after({"type": "set_prompt_section"})) == "after_actions.0.options.section"


@pytest.mark.requirement("N47")
def test_an_after_action_has_either_a_value_or_a_path() -> None:
    options = {"attribute": "tier", "value": "gold", "path": "customer.tier"}
    assert path_of(after({"type": "set_persona_attribute", "options": options})) == "after_actions.0.options.path"


def test_there_are_at_most_20_after_actions() -> None:
    one = {"type": "send_urgent_message"}
    assert definition_problems(after(*[one] * 20)) == []
    assert refusal(after(*[{}] * 1000)) == "after_actions has 1,000 actions; the limit is 20."


@pytest.mark.requirement("N21")
def test_after_action_options_are_parsed_by_type() -> None:
    definition = ToolDefinition.model_validate(
        after(
            {"type": "send_urgent_message", "options": {"prefix": "Result"}},
            {"type": "set_persona_attribute", "options": {"attribute": "tier", "path": "tier"}},
            {"type": "set_prompt_section", "options": {"section": "Tier", "instruction": "One word."}},
        )
    )
    first, second, third = (action.read for action in definition.after_actions)
    assert (first.prefix, second.path, third.instruction) == ("Result", "tier", "One word.")  # type: ignore[union-attr]
