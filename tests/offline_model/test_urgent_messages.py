"""Results that have just come in, as the offline model tells them."""

from __future__ import annotations

import pytest

from conversations.tool_runs.effects.outcome_events import UNKNOWN_OUTCOME
from offline_model.urgent_messages import spoken_result


def test_a_customer_hears_no_error_code_of_a_provider() -> None:
    said = spoken_result("send_sms_tool was not done: The customer's phone is switched off. (Twilio 30003)")
    assert said == "That did not work: Your phone is switched off."


def test_other_words_in_brackets_are_kept() -> None:
    assert spoken_result("Booked (code 30003).") == "Booked (code 30003)."


@pytest.mark.parametrize(
    "error",
    [
        "The endpoint refused it (404).",
        "crm.example did not answer within 10 seconds. Nothing was sent.",
        "The host name crm.example can't be resolved.",
        "This address is inside a private network (10.0.0.1).",
        "20 of this kind went to this recipient within a day",
    ],
)
def test_a_customer_hears_nothing_of_servers(error: str) -> None:
    assert spoken_result(f"tell_colleagues_tool was not done: {error}") == "I'm sorry, that did not work."


@pytest.mark.parametrize(
    "line", ["notify was not done: The endpoint refused it (404).", UNKNOWN_OUTCOME.format(quote="Ich gebe es weiter")]
)
def test_a_failure_is_told_in_the_customers_language(line: str) -> None:
    assert spoken_result(line, language="de") not in ("", spoken_result(line, language="en"))


def test_an_answer_within_an_object_is_told() -> None:
    """Webhooks often wrap what they answer: {"order": {…}}."""
    assert spoken_result('Depot: {"order": {"status": "shipped"}}') == "Shipped."
    assert spoken_result('Depot: {"order": {"parcels": 2, "carrier": "DHL"}}') == "Parcels: 2, carrier: DHL."
