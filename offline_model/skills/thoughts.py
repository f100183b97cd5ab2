"""Thoughts skill: the scenario, the step and instructions for the next reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from offline_model import prompt_reader
from offline_model.prompt_reader import Action, Line, Scenario, last_of
from offline_model.scenario_routing import ScenarioPosition, choose_scenario, missing_fields, next_position
from offline_model.slots import Slots, asked_fields, fill_slots, spoken_day, spoken_time
from offline_model.wire import ChatCall

FIELD_NAMES = {
    "phone": "phone number",
    "name": "name",
    "email": "e-mail address",
    "date": "day",
    "time": "time",
    "party_size": "number of guests",
    "change": "change that is wanted",
    "problem": "story of what happened",
}
KNOWN_ORDER = ("name", "phone", "email", "language", "date", "time", "party_size", "diet")


@dataclass(frozen=True)
class View:
    """Parsed thoughts prompt."""

    scenarios: tuple[Scenario, ...]
    actions: list[Action]
    lines: list[Line]
    slots: Slots
    known: dict[str, str]
    previous: str

    @property
    def pending(self) -> list[str]:
        return list(dict.fromkeys(action.name for action in self.actions if action.is_pending))


def think(call: ChatCall) -> dict[str, Any]:
    """The directives, in the shape of the skill's output."""
    view = _read(call)
    scenario = choose_scenario(view.lines, view.scenarios, view.previous)
    if scenario is None or not scenario.steps:
        return _routing(view)
    position = next_position(scenario, slots=view.slots, lines=view.lines, actions=view.actions, asked_counts=True)
    return _directives(view, position)


def _read(call: ChatCall) -> View:
    user = call.last_user
    lines = prompt_reader.transcript(prompt_reader.section(user, "Conversation"))
    _, earlier = prompt_reader.summary(user)
    known = {**earlier, **prompt_reader.facts(prompt_reader.section(user, "KnownFacts"))}
    previous = prompt_reader.directives(user, tag="PreviousDirectives")
    return View(
        scenarios=prompt_reader.scenarios(prompt_reader.section(call.system, "Scenarios")),
        actions=prompt_reader.actions(prompt_reader.section(user, "ActionStates")),
        lines=lines,
        slots=fill_slots(known, lines),
        known=known,
        previous=previous.scenario if previous else "",
    )


def _routing(view: View) -> dict[str, Any]:
    return {
        "scenario": "0, Routing",
        "step": "0.1, Find out what the customer wants",
        "goal": "Learn what the customer wants, so that a scenario can be chosen.",
        "instructions": ["Answer what the customer has asked.", "Ask how you can help."],
        "to_collect": [],
        "known": _known(view),
        "tools_pending": view.pending,
        "avoid": _avoid(view, None),
    }


def _directives(view: View, position: ScenarioPosition) -> dict[str, Any]:
    just_asked = asked_fields(last_of(view.lines, "agent"))
    return {
        "scenario": f"{position.scenario.number}, {position.scenario.title}",
        "step": f"{position.step.number}, {_filled(position.step.text, view.slots)}",
        "goal": _goal(view, position),
        "instructions": _instructions(view, position, just_asked)[:5],
        "to_collect": missing_fields(position.scenario, slots=view.slots, just_asked=[]),
        "known": _known(view),
        "tools_pending": view.pending,
        "avoid": _avoid(view, position),
    }


def _known(view: View) -> list[dict[str, str]]:
    values = {**view.slots.values, **view.known}
    ordered = [*(k for k in KNOWN_ORDER if k in values), *(k for k in values if k not in KNOWN_ORDER)]
    return [{"field": key, "value": values[key]} for key in ordered if values[key]]


def _goal(view: View, position: ScenarioPosition) -> str:
    if view.pending:
        return f"Keep the customer company until {view.pending[0]} has answered."
    if position.missing:
        return f"Learn the {_listed(position.missing)}."
    return _filled(_first_sentence(position.step.text), view.slots)


def _instructions(view: View, position: ScenarioPosition, just_asked: list[str]) -> list[str]:
    if view.pending:
        return ["Answer what the customer says.", f"Say that {view.pending[0]} is still running, if they ask."]
    steps = [*_results(view), "Answer first what the customer has asked, if anything."]
    open_asked = [name for name in just_asked if not view.slots.get(name)]
    if open_asked:
        steps.append(f"If the {_listed(open_asked)} didn't come, ask for it once more.")
    steps.append(_filled(position.step.text, view.slots))
    if position.missing and len(position.missing) > 1:
        steps.append("Ask for everything in one question.")
    return steps


def _results(view: View) -> list[str]:
    """Result of the latest action, until the customer responds."""
    newest = view.actions[-1] if view.actions else None
    is_new = bool(view.lines) and view.lines[-1].role == "agent"
    return [f"The result of {newest.name} stands: {newest.note}"] if newest and newest.note and is_new else []


def _filled(text: str, slots: Slots) -> str:
    """The step's text with {day} and {time} filled in where they are known."""
    day, time = slots.get("date"), slots.get("time")
    if day:
        text = text.replace("{day}", spoken_day(day))
    return text.replace("{time}", spoken_time(time)) if time else text


def _avoid(view: View, position: ScenarioPosition | None) -> list[str]:
    if view.pending:
        return [f"Announce the result of {view.pending[0]} before it has answered.", "Promise the same thing again."]
    if position is not None and position.tool:
        return ["Say that it has been done before it stands under ActionStates as done."]
    known = [FIELD_NAMES[k] for k in ("name", "phone") if view.slots.get(k)]
    return [f"Ask again for the {_listed(known)}."] if known else []


def _listed(names: list[str] | tuple[str, ...]) -> str:
    shown = [FIELD_NAMES.get(name, name.replace("_", " ")) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _first_sentence(text: str) -> str:
    head = text.split(". ")[0].rstrip(".")
    return f"{head}."
