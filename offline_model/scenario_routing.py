"""Intent detection, scenario routing and step selection."""

from __future__ import annotations

import re
from dataclasses import dataclass

from offline_model.business import content_words
from offline_model.customer_words import NEVER_MIND
from offline_model.prompt_reader import Action, Line, Scenario, Step
from offline_model.slots import Slots, asked_fields, requested_fields

CLASSES: tuple[tuple[str, re.Pattern[str], set[str]], ...] = (
    (
        "change",
        re.compile(
            r"\b(?:cancel\w*|reschedul\w*|postpone|move (?:my|our|the)|change (?:my|our|the) (?:booking|"
            r"reservation|table|appointment)|can(?:'t| ?not) make it|disdire|annullare|stornieren|annuler)\b",
            re.IGNORECASE,
        ),
        {"cancel", "change", "reschedule", "modify"},
    ),
    (
        "complaint",
        re.compile(
            r"\b(?:complain\w*|lost (?:my|a)|left my|forgot my|was (?:cold|rude|terrible|awful)|disappoint\w*|"
            r"food poisoning|overcharged|wrong bill|dissatisfied)\b",
            re.IGNORECASE,
        ),
        {"complaint", "lost", "problem", "support"},
    ),
    (
        "group",
        re.compile(
            r"\b(?:wedding|hochzeit|matrimonio|company (?:dinner|party)|private (?:event|party)|corporate|"
            r"(?:[2-9]\d|1[5-9]|\d{3}) (?:people|guests|persons))\b",
            re.IGNORECASE,
        ),
        {"wedding", "group", "event", "party", "large"},
    ),
    (
        "booking",
        re.compile(
            r"\b(?:book(?:ing)?|table|reserv\w*|appointment|slot|tavolo|tisch|prenot\w*|mesa|reservier\w*|"
            r"r[ée]serv\w*|termin|rendez-vous|schedule|check-?up|consultation)\b",
            re.IGNORECASE,
        ),
        {"book", "booking", "table", "appointment", "reserve", "reservation", "visit", "schedule"},
    ),
    (
        "info",
        re.compile(
            r"\b(?:open|hours|close|menu|price|cost|how much|vegan|vegetarian|gluten|where|address|"
            r"park\w*|aperti|orari|geöffnet|ouvert|abierto|carte|do you (?:have|serve|sell|deliver|"
            r"take|accept))\b",
            re.IGNORECASE,
        ),
        {"hours", "menu", "price", "opening", "information", "question", "info"},
    ),
)
STEP_TOOLS: tuple[tuple[str, str], ...] = (
    ("create_booking_tool", r"will book|\bbook (?:the|a|it)\b|\bmake the (?:booking|reservation)"),
    ("check_availability_tool", r"availab|is free|free (?:slot|table)"),
    ("search_booking_tool", r"look up|find (?:the|their|your) booking"),
    ("cancel_booking_tool", r"\bcancel"),
    ("send_sms_tool", r"\btext\b|\bsms\b"),
)


@dataclass(frozen=True)
class ScenarioPosition:
    """Current step of a scenario, its missing fields and its tool."""

    scenario: Scenario
    step: Step
    missing: tuple[str, ...]
    tool: str


def detect_intent(text: str) -> str:
    """Intent of a message: change, complaint, group, booking, info, or an empty string."""
    return next((name for name, pattern, _ in CLASSES if pattern.search(text)), "")


def scenario_for(intent: str, scenarios: tuple[Scenario, ...]) -> Scenario | None:
    """Scenario whose title matches the intent best."""
    keys = next((keys for name, _, keys in CLASSES if name == intent), set())
    scored = [
        (len(content_words(s.title) & {k.rstrip("s") for k in keys} | content_words(s.title) & keys), s)
        for s in scenarios
    ]
    best = max(scored, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def choose_scenario(lines: list[Line], scenarios: tuple[Scenario, ...], previous: str) -> Scenario | None:
    """Scenario of the latest intent; a question during a booking doesn't leave it."""
    standing = next((s for s in scenarios if previous.startswith(f"{s.number},")), None)
    chosen = standing
    for line in lines:
        if line.role != "customer":
            continue
        if NEVER_MIND.search(line.content):
            chosen = None
            continue
        wanted = _wanted(line.content, scenarios)
        if wanted is None:
            continue
        intent = detect_intent(line.content)
        is_detour = chosen is not None and intent in ("info", "") and _is_process(chosen)
        if not is_detour and not (intent == "booking" and chosen is not None and _is_about_booking(chosen)):
            chosen = wanted
    return chosen


def _wanted(text: str, scenarios: tuple[Scenario, ...]) -> Scenario | None:
    intent = detect_intent(text)
    found = scenario_for(intent, scenarios) if intent else None
    if found:
        return found
    said = content_words(text)
    scored = [(len(said & content_words(s.title)), s) for s in scenarios]
    best = max(scored, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def _is_process(scenario: Scenario) -> bool:
    """True for a scenario that collects something."""
    return any(step.collects or requested_fields(step.text) for step in scenario.steps)


def _is_about_booking(scenario: Scenario) -> bool:
    """True for booking changes and events, which mention tables too."""
    return bool(content_words(scenario.title) & {"cancel", "change", "wedding", "group", "event", "reschedule"})


def tool_of(step: Step) -> str:
    """Tool named by a step that collects nothing."""
    if step.collects:
        return ""
    return next((name for name, pattern in STEP_TOOLS if re.search(pattern, step.text, re.IGNORECASE)), "")


def next_position(
    scenario: Scenario, *, slots: Slots, lines: list[Line], actions: list[Action], asked_counts: bool
) -> ScenarioPosition:
    """First unfinished step. With `asked_counts`, a field that was just asked for counts as given."""
    last_agent = next((line.content for line in reversed(lines) if line.role == "agent"), "")
    just_asked = asked_fields(last_agent) if asked_counts and lines and lines[-1].role == "agent" else []
    for step in scenario.steps:
        fields = step.collects or tuple(requested_fields(step.text))
        missing = tuple(
            f for f in slots.missing(list(fields)) if f not in just_asked and not _was_answered(step, f, lines)
        )
        if missing:
            return ScenarioPosition(scenario, step, missing, "")
        tool = tool_of(step)
        if not fields and not is_done(tool, actions):
            return ScenarioPosition(scenario, step, (), tool)
    return ScenarioPosition(scenario, scenario.steps[-1], (), "")


def _was_answered(step: Step, name: str, lines: list[Line]) -> bool:
    """True if a custom field was asked for in the step's words and answered."""
    if name in ("phone", "name", "email", "date", "time", "party_size"):
        return False
    wanted = content_words(step.text)
    for at, line in enumerate(lines[:-1]):
        if line.role == "agent" and "?" in line.content and len(content_words(line.content) & wanted) >= 2:
            return any(later.role == "customer" for later in lines[at + 1 :])
    return False


def is_done(tool: str, actions: list[Action]) -> bool:
    return any(action.name == tool and action.is_done for action in actions)


def missing_fields(scenario: Scenario, *, slots: Slots, just_asked: list[str]) -> list[str]:
    """Every field the scenario still needs, in its order."""
    fields = [f for step in scenario.steps for f in (step.collects or requested_fields(step.text))]
    return [f for f in dict.fromkeys(slots.missing(fields)) if f not in just_asked]
