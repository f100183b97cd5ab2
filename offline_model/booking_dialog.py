"""Dialog for scenarios with steps: bookings, changes and complaints."""

from __future__ import annotations

import re

from offline_model.entities import find_day, find_party, find_time
from offline_model.phrases import day_word, phrase, wordings
from offline_model.prompt_reader import Scenario, Step
from offline_model.reply_context import ReplyContext
from offline_model.scenario_routing import detect_intent, next_position, tool_of
from offline_model.slots import clock_time, requested_fields, spoken_day, spoken_time
from offline_model.wordlist import listed

YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|please|ok|okay|perfect|great|of course|go ahead|that works|"
    r"sounds good|fine|lovely|wonderful|book it|do it|s[iì]|certo|va bene|perfetto|ja|gern\w*|"
    r"oui|volontiers|d'accord|claro|vale|por favor)\b|\b(?:go ahead|book it|please do|that "
    r"works|works for me|sounds good|let's do)\b",
    re.IGNORECASE,
)
NO = re.compile(r"^\W*(?:no|nope|not|nein|non)\b", re.IGNORECASE)
WHEN = ("date", "time", "party_size")
# Combined questions are the phrases date_time, date_party and time_party.
ASKED_TOGETHER = {"date": "date", "party_size": "party"}


class BookingDialog:
    """Scenario dialog for one reply."""

    def __init__(self, turn: ReplyContext) -> None:
        self.turn = turn
        self.slots = turn.slots

    def say(self, key: str, **more: str) -> str:
        """A phrase, in a wording that the agent hasn't just used if there is one."""
        said = [line.content for line in self.turn.before if line.role == "agent"]
        offered = self._wordings(key, more)
        return min(
            offered, key=lambda wording: max((at + 1 for at, text in enumerate(said) if wording in text), default=0)
        )

    def has_said(self, key: str) -> bool:
        """True if the agent's last message holds the phrase, in any wording."""
        return any(wording in self.turn.last_agent for wording in self._wordings(key, {}))

    def _wordings(self, key: str, more: dict[str, str]) -> list[str]:
        values = {**self._values(), **more}
        return [template.format(**values) for template in wordings(key, self.turn.language)]

    def _values(self) -> dict[str, str]:
        language = self.turn.language
        day, time = spoken_day(self.slots.get("date")), self._time(language)
        size = self.slots.get("party_size")
        party = phrase("for", language, party=_count(size) if language == "en" else size) if size else ""
        name = f", {self.slots.first_name}" if self.slots.first_name else ""
        return {
            "day": day_word(day, language),
            "time": time,
            "party": party,
            "name": name,
            "business": self.turn.business_name,
            "agent": self.turn.agent_name,
        }

    def _time(self, language: str) -> str:
        time = self.slots.get("time")
        if not time:
            return ""
        return spoken_time(time) if language == "en" else clock_time(time)

    def next(self) -> str:
        """Next question or action of the scenario; empty if there is none."""
        scenario = self.turn.scenario
        if scenario is None or not any(step.collects or requested_fields(step.text) for step in scenario.steps):
            return ""
        if closed := self._closed_then(scenario):
            return closed
        asked = self._ask_first()
        if asked:
            return asked
        position = next_position(
            scenario, slots=self.slots, lines=self.turn.lines, actions=self.turn.actions, asked_counts=False
        )
        if position.missing:
            return self.ask(list(position.missing))
        return self._act(position.tool, position.step)

    def closed_day(self) -> str:
        """Notice that the business is closed on the requested day, or an empty string."""
        weekday, language = self.turn.closed_weekday, self.turn.language
        return phrase("closed_day", language, day=day_word(weekday, language)) if weekday else ""

    def _closed_then(self, scenario: Scenario) -> str:
        """Asks for another day if the business is closed on the requested one."""
        books = any(tool_of(step) == "check_availability_tool" for step in scenario.steps)
        return f"{said} {self.say('another')}" if books and (said := self.closed_day()) else ""

    def _ask_first(self) -> str:
        """Opening question of a booking, before the first directives exist."""
        if self.turn.directives is not None or not self.turn.is_opening or detect_intent(self.turn.said) != "booking":
            return ""
        wanted = (
            [f for step in self.turn.scenario.steps for f in (requested_fields(step.text))]
            if self.turn.scenario
            else []
        )
        missing = [name for name in dict.fromkeys(self.slots.missing(wanted)) if name in WHEN]
        glad = "glad" if self.turn.scenario and "table" in self.turn.scenario.title.lower() else "glad_general"
        return f"{self.say(glad)} {self.ask(missing)}" if missing else ""

    def ask(self, missing: list[str]) -> str:
        when = [name for name in missing if name in WHEN]
        if missing[0] in WHEN and len(when) > 1:
            return self.say(
                "when" if len(when) > len(ASKED_TOGETHER) else "_".join(ASKED_TOGETHER.get(name, name) for name in when)
            )
        key = missing[0]
        is_known = key in ("phone", "name", "email", "problem", "change", *WHEN)
        return self.say(key) if is_known else f"May I ask for your {key.replace('_', ' ')}?"

    def _act(self, tool: str, step: Step) -> str:
        match tool:
            case "check_availability_tool":
                return self._check()
            case "create_booking_tool":
                return self._book()
            case "search_booking_tool":
                return self._pending_or(tool, "lookup")
            case "cancel_booking_tool":
                return self._cancel()
            case "send_sms_tool":
                return self._after_booking()
            case _:
                return self._pass_on() if re.search(r"pass it on|call(?:s)? back", step.text) else ""

    def _pass_on(self) -> str:
        """The promise to pass it on, once."""
        promised = any(self.say("pass_on") in line.content for line in self.turn.before if line.role == "agent")
        return self.say("more" if promised else "pass_on")

    def _pending_or(self, tool: str, key: str) -> str:
        action = self.turn.state_of(tool)
        return (
            self.say("pending" if tool == "check_availability_tool" else "pending_other")
            if action and action.is_pending
            else self.say(key)
        )

    def _check(self) -> str:
        if not (self.slots.get("date") and self.slots.get("time")):
            return self.ask(self.slots.missing(list(WHEN)) or ["date"])
        return self._pending_or("check_availability_tool", "check")

    def _book(self) -> str:
        action = self.turn.state_of("create_booking_tool")
        if action and action.is_pending:
            return self.say("pending_other")
        if self._wants_other_time():
            return self.say("check")
        if self._said_yes():
            return self.say("book")
        if NO.search(self.turn.said) or self.has_said("another"):
            return self.say("another")
        return self.say("propose") if self.slots.get("date") and self.slots.get("time") else self.ask(["date", "time"])

    def _said_yes(self) -> bool:
        asked = self.turn.last_agent
        return bool(YES.search(self.turn.said)) and "?" in asked and not self.has_said("another")

    def _wants_other_time(self) -> bool:
        """True if the customer names a new day or time instead of accepting the proposal."""
        said = self.turn.said
        fresh = find_day(said) or find_time(said) or find_party(said)
        proposed = self.turn.last_agent.lower()
        return bool(fresh) and not (self._said_yes() and spoken_time(self.slots.get("time")).lower() in proposed)

    def _cancel(self) -> str:
        if self._said_yes() or re.search(r"\bcancel\b", self.turn.said, re.IGNORECASE):
            return self._pending_or("cancel_booking_tool", "cancel")
        return self.say("confirm_cancel")

    def _after_booking(self) -> str:
        if YES.search(self.turn.said) and re.search(r"\b(?:text|sms)\b", self.turn.last_agent, re.IGNORECASE):
            action = self.turn.state_of("send_sms_tool")
            return self.say("more") if action and (action.is_done or action.is_pending) else self.say("sms")
        if self.say("details") in " ".join(line.content for line in self.turn.before):
            return self.say("more")
        return self.say("details")


def _count(size: str) -> str:
    words = listed("one two three four five six seven eight nine ten eleven twelve")
    return words[int(size) - 1] if size.isdigit() and 0 < int(size) <= len(words) else size
