"""send_webhook: what goes out, and what is made of the answer (N45)."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.effects.conftest import Bench, webhook
from tests.effects.target import Answers, Target
from tools.execution.signing import signature_headers

NAME = {"customer_name": {"type": "string", "description": "The customer's full name"}}


def test_the_request_fits_the_schemas(bench: Bench, target: Target) -> None:
    """N45: query, headers and body are generated, each by its own JSON Schema, and the method is the tool's."""
    schema = {"type": "object", "properties": NAME, "required": ["customer_name"]}
    zip_code = {"type": "object", "properties": {"zip": {"type": "string"}}}
    party = {"type": "object", "properties": {"X-Party": {"type": "integer", "description": "party size"}}}
    options = {"method": "PUT", "query": zip_code, "headers": party, "body": schema}
    bench.tool("notify", webhook(f"{target.url}/crew?fixed=1", **options))
    bench.carry_out("notify", hears="I'm Giulia Ferri, a table for 4 people. My zip code is 00153.")
    [heard] = target.log
    assert (heard.method, heard.path) == ("PUT", "/crew?fixed=1&zip=00153")
    assert (heard.document, heard.headers["x-party"]) == ({"customer_name": "Giulia Ferri"}, "4")


def test_a_request_is_signed_and_safe_to_repeat(bench: Bench, target: Target) -> None:
    secret = bench.tool("notify", webhook(target.url))
    effect = bench.carry_out("notify")
    [heard] = target.log
    at = datetime.fromtimestamp(int(heard.headers["webhook-timestamp"]), UTC)
    expected = signature_headers([secret], id=effect.effect_key, at=at, body=heard.body)
    assert heard.key == effect.effect_key
    assert heard.headers["webhook-signature"] == expected["webhook-signature"]


def test_the_answer_is_kept_as_data(bench: Bench, target: Target) -> None:
    target.answers(Answers(body='{"order": {"status": "late"}}'))
    bench.tool("notify", webhook(target.url))
    effect = bench.carry_out("notify")
    assert (effect.state, effect.http_status) == ("done", 200)
    assert effect.result == {"status": 200, "body": {"order": {"status": "late"}}}
