"""Results that have just come in, as the offline model tells them."""

from __future__ import annotations

from offline_model.urgent_messages import spoken_result


def test_a_customer_hears_no_error_code_of_a_provider() -> None:
    said = spoken_result("send_sms_tool was not done: The customer's phone is switched off. (Twilio 30003)")
    assert said == "That did not work: Your phone is switched off."


def test_other_words_in_brackets_are_kept() -> None:
    assert spoken_result("Booked (code 30003).") == "Booked (code 30003)."
