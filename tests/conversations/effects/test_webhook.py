"""send_webhook: the request and its response."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from conversations.turns.services import give_fields
from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.target import Answers, Target
from tests.conversations.effects.test_outcomes import tool_context
from tests.processes import ScriptedModel
from tools.engine.custom.secrets import WebhookSecrets
from tools.engine.definition import WebhookOptions
from tools.engine.execution.callback import callback_url
from tools.engine.execution.schemas import webhook_schema
from tools.engine.execution.webhook import MASK, WebhookRequest, build_request, signature_headers

NAME = {"customer_name": {"type": "string", "description": "The customer's full name"}}


@pytest.mark.requirement("N45")
def test_the_request_fits_the_schemas(bench: Bench, target: Target) -> None:
    """Query, headers and body are generated, each by its own JSON Schema, with the tool's method."""
    schema = {"type": "object", "properties": NAME, "required": ["customer_name"]}
    zip_code = {"type": "object", "properties": {"zip": {"type": "string"}}}
    party = {"type": "object", "properties": {"X-Party": {"type": "integer", "description": "party size"}}}
    options = {"method": "PUT", "query": zip_code, "headers": party, "body": schema}
    bench.tool("notify", webhook(f"{target.url}/crew?fixed=1", **options))
    bench.execute("notify", hears="I'm Giulia Ferri, a table for 4 people. My zip code is 00153.")
    [heard] = target.log
    assert (heard.method, heard.path) == ("PUT", "/crew?fixed=1&zip=00153")
    assert (heard.document, heard.headers["x-party"]) == ({"customer_name": "Giulia Ferri"}, "4")


def test_a_request_is_signed_and_safe_to_repeat(bench: Bench, target: Target) -> None:
    secret = bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    [heard] = target.log
    at = datetime.fromtimestamp(int(heard.headers["webhook-timestamp"]), UTC)
    expected = signature_headers([secret], id=effect.effect_key, at=at, body=heard.body)
    assert heard.key == effect.effect_key
    assert heard.headers["webhook-signature"] == expected["webhook-signature"]


def test_the_response_is_kept_as_data(bench: Bench, target: Target) -> None:
    target.answers(Answers(body='{"order": {"status": "late"}}'))
    bench.tool("notify", webhook(target.url))
    effect = bench.execute("notify")
    assert (effect.state, effect.http_status) == ("done", 200)
    assert effect.result == {"status": 200, "body": {"order": {"status": "late"}}}


@pytest.mark.requirement("N45")
def test_a_header_may_contain_accents(bench: Bench, target: Target) -> None:
    """Everything accepted at the save can be sent."""
    bench.tool("notify", webhook(target.url, headers={"X-Place": "Café Müller"}))
    assert bench.execute("notify").state == "done"
    assert target.log[0].headers["x-place"] == "Café Müller"


@pytest.mark.requirement("N45")
def test_a_header_is_sent_once_regardless_of_case() -> None:
    """A secret header replaces the plain one, and the tool's content type replaces ours."""
    options = WebhookOptions(
        url="https://example.com/", headers={"x-api-key": "plain", "content-type": "application/json; charset=utf-8"}
    )
    secrets = WebhookSecrets(headers={"X-Api-Key": "secret"})
    headers = build_request(options, {}, tool_context(), secrets=secrets, at=datetime.now(UTC)).headers
    assert {name: value for name, value in headers.items() if name.lower() in ("x-api-key", "content-type")} == {
        "X-Api-Key": "secret",
        "content-type": "application/json; charset=utf-8",
    }


@pytest.mark.requirement("N45")
def test_a_model_cannot_add_fields_to_a_request() -> None:
    """Exactly the schema's fields, at every depth, and none omitted."""
    item = {"type": "object", "properties": {"name": {"type": "string"}}}
    body = {"type": "object", "properties": {"items": {"type": "array", "items": item}, "one": item}}
    schema = webhook_schema(WebhookOptions(url="https://example.com/", body=body, query=item))
    assert schema is not None
    closed = schema["properties"]["body"]
    places = (schema, closed, closed["properties"]["items"]["items"], closed["properties"]["one"])
    assert [place["additionalProperties"] for place in places] == [False] * 4
    assert schema["required"] == ["query", "body"]


@pytest.mark.requirement("N45")
def test_the_extraction_prompt_has_the_tool_the_promise_and_the_conversation(
    bench: Bench, target: Target, model: ScriptedModel
) -> None:
    """Values are generated from the conversation up to the promise; a failed effect is not listed as done."""
    target.answers(Answers(404), Answers(200))
    schema = {"type": "object", "properties": NAME}
    bench.tool("notify", webhook(target.url, body=schema))
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"name": "Giulia Ferri"})
    bench.execute("notify", quote="I'll notify the crew.", hears="My parcel is late.")
    for _ in range(2):
        bench.execute("notify", quote="I'll notify them again.", hears="Please notify them again.")
    asked = ["".join(one["content"] for one in request["messages"]) for request in model.requests("arguments")]
    told = asked[0]
    for words in (
        "Notifies the delivery crew about",
        "My parcel is late.",
        "agent: I'll notify the crew.",
        "Giulia Ferri",
    ):
        assert words in told
    assert told.count("I'll notify the crew.") == 2
    assert ["- notify: " in prompt for prompt in asked[:3]] == [False, False, True]


def request_of(arguments: Mapping[str, Any], **options: Any) -> WebhookRequest:
    """The request without a secret."""
    made = WebhookOptions(url="https://example.com/crew?fixed=1", **options)
    return build_request(made, arguments, tool_context(), secrets=WebhookSecrets(), at=datetime.now(UTC))


@pytest.mark.requirement("N45")
def test_extracted_values_are_encoded_for_the_endpoint() -> None:
    """A list repeats the parameter, an unknown value is omitted, and non-ASCII letters are kept."""
    read = {
        "query": {"tag": ["a", "b"], "zip": None, "is_new": True},
        "headers": {"X-Party": 4, "X-None": None},
        "body": {"name": "Zoë"},
    }
    request = request_of(read)
    assert request.url == "https://example.com/crew?fixed=1&tag=a&tag=b&is_new=true"
    assert (request.headers["X-Party"], "X-None" in request.headers) == ("4", False)
    assert request.body == '{"name": "Zoë"}'.encode()


@pytest.mark.requirement("N45")
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_fixed_values_go_into_the_query_and_a_bodiless_call_has_no_body(method: str) -> None:
    request = request_of({}, method=method, query={"zone": "eu"})
    assert request.url == "https://example.com/crew?fixed=1&zone=eu"
    assert (request.body, "Content-Type" in request.headers) == (None, False)


@pytest.mark.requirement("N45")
def test_a_secret_in_the_query_or_a_plain_header_is_sent_but_stored_redacted() -> None:
    request = request_of({}, query={"api_key": "k-1234567890", "zone": "eu"}, headers={"X-Crew-Token": "t-1234567890"})
    assert request.headers["X-Crew-Token"] == "t-1234567890"
    assert request.redacted["headers"]["X-Crew-Token"] == MASK
    assert "api_key=k-1234567890" in request.url
    assert request.redacted["url"] == f"https://example.com/crew?fixed=1&api_key={MASK}&zone=eu"


@pytest.mark.requirement("N45")
def test_a_tool_cannot_override_our_own_headers() -> None:
    """Neither a generated value nor a tool's own header; the token and the signature are ours."""
    options = WebhookOptions(url="https://example.com/", callback=True)
    said = {"idempotency-key": "mine", "webhook-callback-url": "https://evil.example/", "webhook-signature": "v1,mine"}
    secrets = WebhookSecrets(signing=["whsec_" + "QUJD" * 8], headers={"Webhook-Signature": "v1,mine"})
    called = tool_context()
    request = build_request(options, {"headers": said}, called, secrets=secrets, at=datetime.now(UTC))
    sent = {name.lower(): value for name, value in request.headers.items()}
    assert sent["idempotency-key"] == called.key
    assert sent["webhook-callback-url"] == callback_url(called.effect_id)
    assert sent["webhook-signature"] != "v1,mine"
    kept = {name.lower(): value for name, value in request.redacted["headers"].items()}
    assert (kept["webhook-callback-url"], kept["webhook-signature"]) == (MASK, MASK)
    assert kept["idempotency-key"] == called.key
