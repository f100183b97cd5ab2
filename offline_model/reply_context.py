"""Context of a reply, parsed from its prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from offline_model import prompt_reader
from offline_model.business import opening_hours
from offline_model.dates import date_of, read_now
from offline_model.entities import WEEKDAYS
from offline_model.language import language_of
from offline_model.phrases import PHRASES
from offline_model.prompt_reader import Action, Directives, Line, Scenario, section
from offline_model.scenario_routing import choose_scenario
from offline_model.slots import Slots, fill_slots
from offline_model.wire import ChatCall

OPENING = re.compile(
    r"^You are (?P<agent>.+?), the assistant of (?P<business>.+?)\. You talk with .*(?:`(?P<channel>\w+)`|on the phone)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class ReplyContext:
    """Parsed reply prompt: `before` holds the answered messages, `now` the unanswered ones."""

    call: ChatCall
    agent_name: str
    business_name: str
    channel: str
    before: list[Line]
    now: list[Line]

    @classmethod
    def read(cls, call: ChatCall) -> ReplyContext:
        opening = OPENING.search(call.system)
        history = [m for m in call.messages if m[0] in ("user", "assistant")]
        last_user = max((i for i, m in enumerate(history) if m[0] == "user"), default=-1)
        before = [_as_line(role, text) for role, text in history[: max(0, last_user)]]
        latest = prompt_reader.transcript(section(call.last_user, "LatestMessages"))
        if not latest and "<LatestMessages>" not in call.last_user and last_user >= 0:
            latest = [Line("customer", call.last_user)]
        return cls(
            call=call,
            agent_name=opening["agent"] if opening else "",
            business_name=opening["business"] if opening else "",
            channel=(opening["channel"] or "phone") if opening else "chat",
            before=before,
            now=latest,
        )

    @cached_property
    def lines(self) -> list[Line]:
        return [*self.before, *self.now]

    @cached_property
    def said(self) -> str:
        """The customer's unanswered messages; empty for a proactive message."""
        return " ".join(line.content for line in self.now if line.role == "customer").strip()

    @cached_property
    def last_agent(self) -> str:
        return prompt_reader.last_of(self.before, "agent")

    @cached_property
    def is_opening(self) -> bool:
        return not any(line.role in ("agent", "operator") for line in self.before)

    @cached_property
    def user(self) -> str:
        return self.call.last_user

    @cached_property
    def context(self) -> str:
        return section(self.call.system, "BusinessContext")

    @cached_property
    def sources(self) -> list[str]:
        """Texts to answer questions from, most specific first: what is public, and no instruction."""
        knowledge = prompt_reader.bullets(section(self.user, "Knowledge"))
        return [*knowledge, self.context]

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        return prompt_reader.scenarios(section(self.call.system, "Scenarios"))

    @cached_property
    def directives(self) -> Directives | None:
        return prompt_reader.directives(self.user)

    @cached_property
    def actions(self) -> list[Action]:
        return prompt_reader.actions(section(self.user, "ActionStates"))

    @cached_property
    def urgent(self) -> list[str]:
        return [
            line
            for tag in ("FromTheBusiness", "UrgentMessages")
            for line in prompt_reader.bullets(section(self.user, tag))
        ]

    @cached_property
    def is_follow_up(self) -> bool:
        """True if the prompt asks for a follow-up to a silent customer."""
        return bool(section(self.user, "FollowUp"))

    @cached_property
    def is_going_badly(self) -> bool:
        return bool(section(self.user, "Recovery"))

    @cached_property
    def has_to_correct(self) -> bool:
        """True if the prompt asks the agent to correct a false statement."""
        return bool(section(self.user, "Correction"))

    @cached_property
    def slots(self) -> Slots:
        return fill_slots(self.facts, self.lines)

    @cached_property
    def has_learned(self) -> bool:
        """True if the latest messages say something about the customer or the booking that wasn't known."""
        return self.slots.values != fill_slots(self.facts, self.before).values

    @cached_property
    def facts(self) -> dict[str, str]:
        """Customer facts, including those of the conversation summary."""
        _, earlier = prompt_reader.summary(self.user)
        return {**earlier, **prompt_reader.facts(section(self.user, "Customer"))}

    @cached_property
    def scenario(self) -> Scenario | None:
        return choose_scenario(self.lines, self.scenarios, self.directives.scenario if self.directives else "")

    @cached_property
    def closed_weekday(self) -> str:
        """Requested weekday if the business is closed on it, else an empty string."""
        try:
            wanted = date.fromisoformat(date_of(self.slots.get("date"), now=read_now(section(self.user, "Now"))))
        except ValueError:
            return ""
        is_closed = opening_hours(self.context).get(wanted.weekday()) == "closed"
        return WEEKDAYS[wanted.weekday()].title() if is_closed else ""

    @cached_property
    def language(self) -> str:
        """Language of the latest message, an earlier one or the facts; English by default."""
        standing = self.facts.get("language", "")[:2]
        for text in (*(line.content for line in self.before if line.role == "customer"), self.said):
            standing = language_of(text, standing=standing) or standing
        return standing if standing in PHRASES else "en"

    @cached_property
    def clock(self) -> tuple[str, int]:
        """Weekday name and hour given in the prompt."""
        match = re.match(r"(\w+day) .*?(\d{1,2}):\d{2}", section(self.user, "Now"))
        return (match[1], int(match[2])) if match else ("", 12)

    def state_of(self, tool: str) -> Action | None:
        """The newest action of a tool."""
        return next((action for action in reversed(self.actions) if action.name == tool), None)


def _as_line(role: str, text: str) -> Line:
    return Line("agent" if role == "assistant" else "customer", text)
