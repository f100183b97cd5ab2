"""Opening hours in words, and texts that contradict them."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from projects.agents.hours_text import business_text, find_contradictions, hours_in_words
from projects.agents.templates_catalogue import Locale, business_templates
from projects.models.agent_config import AgentConfig

LUNCH = [["12:00", "15:00"]]
HOURS = {"mon": [], "tue": LUNCH, "wed": LUNCH, "thu": LUNCH, "fri": LUNCH, "sat": [["18:00", "24:00"]], "sun": []}


def test_days_with_the_same_hours_share_a_line() -> None:
    assert hours_in_words(HOURS).splitlines() == [
        "Monday: closed",
        "Tuesday to Friday: 12:00 to 15:00",
        "Saturday: 18:00 to 24:00",
        "Sunday: closed",
    ]


def test_the_placeholder_follows_the_hours() -> None:
    config = AgentConfig(agent_name="-", business_name="-", business_context="Open:\n{hours}", hours={"mon": LUNCH})
    assert business_text(config).startswith("Open:\nMonday: 12:00 to 15:00\n")


# "other" has no hours until its owner sets them.
@pytest.mark.parametrize("name", [name for name in business_templates() if name != "other"])
def test_a_template_names_its_hours_once(name: str) -> None:
    """The text takes them from the hours, and contradicts them nowhere."""
    config = business_templates()[name].config_for("Nello", locale=Locale("UTC", "US"))
    assert hours_in_words(config.hours) in business_text(config)
    assert find_contradictions(config.model_dump(mode="json")) == []


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("We are open Tuesday to Friday from 12 to 3pm.", []),
        ("Open Tue-Fri 12:00-15:00, Sat 18:00-24:00.", []),
        ("Aperti dal martedì al venerdì dalle 12 alle 15.", []),
        ("The kitchen is open on Sundays 10 to 12.", ["Sunday"]),
        ("Closed on Tuesdays.", ["Tuesday"]),
        ("Dienstags geschlossen.", ["Tuesday"]),
        ("Opening hours:\nTuesday to Friday: 12:00 to 14:30", ["Tuesday to Friday"]),
        ("Opening hours:\nMonday: closed\n\nCourses: Monday 10:00 to 12:00", []),
        ("Horario: lunes a viernes 9:00 - 18:00", ["Monday to Friday"]),
        ("Open daily 12:00 to 15:00.", ["Monday, Saturday and Sunday"]),
        ("Tours: Monday to Friday 9 to 10.", []),
    ],
)
def test_contradiction(text: str, days: list[str]) -> None:
    found = find_contradictions({"business_context": text, "hours": HOURS})
    assert [one.days for one in found] == days


def test_what_is_set_is_named_for_each_group_of_days() -> None:
    [found] = find_contradictions({"business_context": "Open daily 9:00 to 12:00.", "hours": HOURS})
    assert found.hours == (
        "Monday: closed; Tuesday to Friday: 12:00 to 15:00; Saturday: 18:00 to 24:00; Sunday: closed"
    )


def test_a_contradiction_is_told_in_the_readers_language() -> None:
    with override("de"):
        [found] = find_contradictions({"business_context": "Open daily 9:00 to 12:00.", "hours": HOURS})
    assert found.hours.startswith("Montag: geschlossen; Dienstag bis Freitag: 12:00 bis 15:00;")


def test_a_business_that_is_always_open_contradicts_nothing() -> None:
    assert find_contradictions({"business_context": "Closed on Mondays.", "hours": {}}) == []
