"""Todo extraction from finished conversations."""

from __future__ import annotations

from typing import Any

import pytest

from offline_model.skills.extract import extract
from tests.offline_model.prompts import DEMO, rendered
from todos.sources.extraction_prompt import Findings, NotedLine, TypeLine
from tools.engine.skills.arguments import KnownFact
from tools.engine.skills.detect import TranscriptLine

TYPES = [TypeLine(one["name"], one["description"]) for one in DEMO["seeds"]["todo_types"]]
MAIL, TEAM = (type.name for type in TYPES)


def findings(*said: str, **details: Any) -> list[tuple[str, str]]:
    """Quote and type of each finding in a conversation, which the customer begins."""
    return [(one.quote, one.type) for one in read(*said, **details).todos]


def read(*said: str, **details: Any) -> Findings:
    lines = [TranscriptLine("agent" if at % 2 else "customer", words) for at, words in enumerate(said)]
    context = {
        "business_name": "Da Nello",
        "now": "Friday 20 November 2026, 19:41",
        "types": TYPES,
        "known": [],
        "acts": [],
        "noted": [],
        "undecided": [],
        "summary": "",
        "messages": lines,
    }
    return Findings.model_validate(extract(rendered("extract", **{**context, **details})))


@pytest.mark.parametrize(
    ("said", "quote", "type"),
    [
        (
            ("May I have the banquet menu?", "I'll e-mail you the menu tonight."),
            "I'll e-mail you the menu tonight",
            MAIL,
        ),
        (
            ("Is there wine in it?", "Good question! I'll ask the chef about it."),
            "I'll ask the chef about it",
            TEAM,
        ),
        (
            ("Could somebody call me back about a wedding?", "I can have a colleague call you. Your name, please?"),
            "Could somebody call me back about a wedding?",
            TEAM,
        ),
        (
            ("I left my scarf with you, can somebody look for it?", "I'm sorry to hear that. When was it?"),
            "I left my scarf with you, can somebody look for it?",
            TEAM,
        ),
    ],
)
def test_open_commitments_get_the_matching_type(said: Any, quote: str, type: str) -> None:
    assert findings(*said) == [(quote, type)]


@pytest.mark.parametrize(
    ("said", "quote", "type"),
    [
        (
            ("Könnten Sie mir die Bankettkarte schicken?", "Gern! Ich schicke Ihnen die Karte heute Abend per E-Mail."),
            "Ich schicke Ihnen die Karte heute Abend per E-Mail",
            MAIL,
        ),
        (
            ("Hay vino en el ragú?", "Buena pregunta. Voy a preguntar al chef y le aviso."),
            "Voy a preguntar al chef y le aviso",
            TEAM,
        ),
        (
            ("Quelqu'un peut me rappeler pour un mariage ?", "Un instant. À quel nom ?"),
            "Quelqu'un peut me rappeler pour un mariage ?",
            TEAM,
        ),
        (
            ("Menüyü alabilir miyim?", "Tabii. Menüyü bu akşam e-posta ile göndereceğim."),
            "Menüyü bu akşam e-posta ile göndereceğim",
            MAIL,
        ),
        (
            ("Potreste richiamarmi per un matrimonio?", "La faccio richiamare da un collega."),
            "La faccio richiamare da un collega",
            TEAM,
        ),
    ],
    ids=["de", "es", "fr", "tr", "it"],
)
def test_other_languages_are_read_too(said: Any, quote: str, type: str) -> None:
    assert findings(*said) == [(quote, type)]


@pytest.mark.parametrize(
    "said",
    [
        ("Wann haben Sie offen?", "Ab halb sieben. Soll ich Ihnen die Karte per E-Mail schicken?"),
        ("Rufen Sie mich bitte zurück", "Leider ist heute niemand mehr da."),
        ("La carta, por favor", "Cuando tenga su dirección, le envío la carta por correo."),
        ("Merci, au revoir !", "Merci. Bonne journée, au revoir !"),
        ("Teşekkürler", "Rica ederim, iyi akşamlar!"),
    ],
    ids=["an offer", "a refusal", "a condition", "a goodbye", "thanks"],
)
def test_declined_requests_in_other_languages_are_no_todos(said: Any) -> None:
    assert findings(*said) == []


@pytest.mark.parametrize(
    "said",
    [
        ("When do you open?", "We open at half past six. Would you like me to e-mail you the menu?"),
        ("Please call the manager", "Unfortunately he isn't in today."),
        ("The menu, please", "Once I have your address, I'll e-mail you the menu."),
        ("Thanks, bye!", "Have a lovely evening, goodbye!"),
    ],
    ids=["an offer", "a refusal", "a condition", "a goodbye"],
)
def test_declined_requests_are_no_todos(said: Any) -> None:
    assert findings(*said) == []


def test_noted_commitments_are_not_found_again() -> None:
    said = ("Is there wine in it?", "I'll ask the chef about it.")
    assert findings(*said, noted=[NotedLine("I'll ask the chef about it", "Ask the chef.")]) == []


def test_an_undecided_promise_gets_its_type() -> None:
    said = ("Is there wine in it?", "I'll ask the chef about it.")
    assert findings(*said, undecided=["I'll ask the chef about it"]) == [("I'll ask the chef about it", TEAM)]


def test_a_promise_made_twice_in_the_same_words_gets_its_type_twice() -> None:
    words = "I'll pass it on to my colleagues today"
    said = ("Could somebody call me back?", f"{words}.")
    noted = [NotedLine(words, "Call back.")]
    assert findings(*said, undecided=[words], noted=noted) == [(words, TEAM)]


def test_the_task_names_the_question_and_not_the_yes_to_the_offer() -> None:
    offer, promise = "I don't know that. I can pass your question on.", "I'll pass it on to my colleagues today."
    [found] = read("Where is my order?", offer, "Yes, please", promise).todos
    assert "wrote: “Where is my order?”" in found.description


def test_the_task_says_how_to_reach_the_customer_and_names_no_language_code() -> None:
    facts = {"date": "Saturday", "email": "ada@example.com", "language": "en", "name": "Ada", "phone": "+393475550142"}
    known = [KnownFact(field=field, value=value) for field, value in facts.items()]
    [found] = read("Could somebody call me back?", "I'll pass it on to my colleagues today.", known=known).todos
    assert found.description == (
        "The agent promised Ada: “I'll pass it on to my colleagues today”. "
        "Before that, Ada wrote: “Could somebody call me back?” "
        "To reach them: phone +393475550142, e-mail ada@example.com. Also noted: date Saturday."
    )
