"""Observer skill: facts, opt-ins and quality score."""

from __future__ import annotations

import pytest

from conversations.common.prompt_shapes import Line
from conversations.prompts.observer import RatedObservation
from tests.offline_model.prompts import facts_in, observe

ASK_NAME = "And under which name shall I keep it?"
ASK_TEXT = "May I text you the details?"


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(
    ("said", "asked", "name"),
    [
        ("Hi, I'm Giulia Ferri", "", "Giulia Ferri"),
        ("My name is Paolo Conti and I'd like a table", "", "Paolo Conti"),
        ("Hi, this is Jane. Can you transfer me?", "", "Jane"),
        ("I am Dr. J. Weber. Hello", "", "Dr. J. Weber"),
        ("This is Ole Hansen speaking", "", "Ole Hansen"),
        ("Ferri", ASK_NAME, "Ferri"),
        ("it's under Jean-Luc Moreau", ASK_NAME, "Jean-Luc Moreau"),
        ("Mi chiamo Anna Greco", "", "Anna Greco"),
        ("Ich heiße Jonas Weber", "", "Jonas Weber"),
        ("Je m'appelle Claire Dubois", "", "Claire Dubois"),
    ],
)
def test_name_is_read_in_many_forms(said: str, asked: str, name: str) -> None:
    assert facts_in(said, asked=asked)["name"] == name


@pytest.mark.parametrize("said", ["I'm vegan", "I'm looking for a table", "This is great, thanks", "I'm running late"])
def test_words_after_i_am_are_not_always_a_name(said: str) -> None:
    assert "name" not in facts_in(said)


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(
    "phone", ["+39 347 555 0142", "0347 5550142", "(020) 7946-0958", "06.555.0114", "+1 415-555-0132", "3475550142"]
)
def test_phone_is_kept_as_it_was_written(phone: str) -> None:
    assert facts_in(f"You can reach me on {phone}, thanks")["phone"] == phone


@pytest.mark.parametrize("said", ["We are 4 at 19:30", "on 25.11.2026 please", "the bill was 1.250,00 euros"])
def test_dates_times_and_sums_are_no_phone_numbers(said: str) -> None:
    assert "phone" not in facts_in(said)


def test_email_is_read_without_the_full_stop() -> None:
    assert facts_in("Write to giulia.ferri+table@example.co.uk.")["email"] == "giulia.ferri+table@example.co.uk"


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Hello, I would like to book a table for two", "en"),
        ("Buonasera, vorrei prenotare un tavolo per due", "it"),
        ("Guten Abend, haben Sie am Freitag einen Tisch für uns?", "de"),
        ("Bonjour, je voudrais une table pour ce soir", "fr"),
        ("Hola, quisiera una mesa para esta noche", "es"),
        ("Olá, gostaria de reservar uma mesa para hoje", "pt"),
        ("Hallo, ik wil graag een tafel reserveren voor vanavond", "nl"),
        ("Dzień dobry, chciałbym zarezerwować stolik na jutro", "pl"),
        ("Здравствуйте, есть ли столик на двоих?", "ru"),
    ],
)
def test_language_is_told_by_the_customers_words(said: str, code: str) -> None:
    assert facts_in(said)["language"] == code


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(
    ("said", "asked", "field", "value"),
    [
        ("Yes, please", ASK_TEXT, "sms_opt_in", "true"),
        ("No thanks", ASK_TEXT, "sms_opt_in", "false"),
        ("Please don't text me", "", "sms_opt_in", "false"),
        ("Please no e-mails", "", "email_opt_in", "false"),
        ("Please don't record this call", "", "recording_opt_in", "false"),
        ("Yes, that's fine", "May we record this call?", "recording_opt_in", "true"),
        ("You can call me any time", "", "call_opt_in", "true"),
        ("Sure, email is fine", "Is it okay if we email you the offers?", "email_opt_in", "true"),
    ],
)
def test_opt_ins_are_asked_for_or_stated(said: str, asked: str, field: str, value: str) -> None:
    assert facts_in(said, asked=asked)[field] == value


def test_the_agents_words_prove_nothing() -> None:
    assert "name" not in facts_in("Hello", asked="Hello, my name is Nello and my number is +39 06 555 0114")


def test_only_news_is_reported() -> None:
    facts = facts_in("I'm Giulia Ferri, 347 555 0142", known={"name": "Giulia Ferri", "phone": "+393475550142"})
    assert "name" not in facts
    assert "phone" not in facts


def test_fields_of_the_project_are_found_by_their_description() -> None:
    facts = facts_in("A table for four on Friday at 7 pm, one of us is vegan, it's a birthday")
    assert (facts["party_size"], facts["date"], facts["time"]) == ("4", "Friday", "7 pm")
    assert "vegan" in facts["diet"]
    assert facts["occasion"] == "birthday"


def test_quotes_are_the_customers_own_words() -> None:
    said = "Hi, I'm Giulia Ferri and my number is +39 347 555 0142. Please don't text me."
    assert all(fact["quote"] in said for fact in observe(said)["facts"])


@pytest.mark.requirement("T12")
def test_quality_is_null_unless_asked_for() -> None:
    assert observe("This is ridiculous")["quality"] is None


@pytest.mark.requirement("T19")
def test_frustration_lowers_the_quality_and_is_named() -> None:
    messages = [Line("customer", "Do you have a table on Friday evening?"), Line("agent", "Which day?")]
    said = "I already told you, this is ridiculous. Do you have a table on Friday evening?"
    quality = observe(said, messages=messages, score=True)["quality"]
    assert quality["score"] <= 3
    assert "frustrated" in quality["reason"]


def test_a_smooth_conversation_scores_above_the_recovery_line() -> None:
    assert observe("Perfect, thank you", score=True)["quality"]["score"] > 3


def test_observation_fits_the_output_model() -> None:
    RatedObservation.model_validate(observe("I'm Giulia, 347 555 0142", score=True))
