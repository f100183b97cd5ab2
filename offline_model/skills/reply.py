"""Reply skill: the agent's next message, for any business."""

from __future__ import annotations

import re

from offline_model.agent_notes import asked_for, asks_which
from offline_model.answers import QUESTION, answer_question, is_answered
from offline_model.booking_dialog import YES, BookingDialog
from offline_model.courtesies import Courtesies
from offline_model.phrases import daytime, phrase
from offline_model.reply_context import ReplyContext
from offline_model.scenario_routing import detect_intent
from offline_model.tool_choice import choose_tool, describe_results
from offline_model.urgent_messages import spoken_result
from offline_model.wire import Answer, ChatCall, ToolUse

# Search results that refuse a time.
REFUSED = re.compile(
    r"\b(?:(?:it|we) (?:is|are) closed|can't be booked|outside the opening hours|is past|too far ahead|no [\w' ]+ is free)\b",
    re.IGNORECASE,
)


# How the results of a handover begin, by the phrase that says the same in other languages.
HANDOVER_RESULTS = {
    "person_button": "With the button",
    "person_asked": "A colleague has been asked to take over",
    "person_here": "A colleague has this conversation already",
}
# A greeting in the form of a question, and a request for help that doesn't say with what.
NO_MATTER = re.compile(
    r"\b(?:how are you|wie geht|come (?:sta|stai|va)\b|c[oó]mo (?:est[aá]|va)|qu[eé] tal|[cç]a va\b|allez[- ]vous|"
    r"help|assist|ask (?:you )?(?:something|a question)|helfen|hilfe|aiut\w+|ayud\w+|aide[rz]?)\b",
    re.IGNORECASE,
)
LAST_QUESTION = re.compile(r"[^.!?]+\?\s*$")
# Facts under these names wait for the customer's confirmation.
NEW_CONTACT = ("new phone", "new email")


def reply(call: ChatCall) -> Answer:
    """The next reply, or a tool call where a tool is offered that does what the customer asks."""
    use = choose_tool(call, lacks_answer=lambda: ReplyComposer(ReplyContext.read(call)).lacks_answer())
    if use is not None:
        return Answer(_text_with_call(use, call), tool_calls=(use,))
    described = describe_results(call)
    return Answer(_translated(described, call) if described else ReplyComposer(ReplyContext.read(call)).speak())


def _translated(described: str, call: ChatCall) -> str:
    """The result of a handover in the customer's language; other results as they are."""
    key = next((key for key, start in HANDOVER_RESULTS.items() if described.startswith(start)), "")
    language = ReplyContext.read(call).language if key else "en"
    return described if language == "en" else phrase(key, language)


def _text_with_call(use: ToolUse, call: ChatCall) -> str:
    """Text beside a tool call: a farewell before hanging up."""
    return ReplyComposer(ReplyContext.read(call)).speak() if use.name == "end_call" else ""


class ReplyComposer:
    """Composes the agent's reply."""

    def __init__(self, turn: ReplyContext) -> None:
        self.turn = turn
        self.dialog = BookingDialog(turn)

    def speak(self) -> str:
        parts = self._silence_prompt() or self._result_of_action() or self._courtesies() or self._answer()
        said = (self._correction(), self._recovery(), *parts)
        text = " ".join(part[:1].upper() + part[1:] for part in said if part).strip()
        question = self._contact_question()
        return f"{LAST_QUESTION.sub('', text)} {question}".strip() if question else text

    def _contact_question(self) -> str:
        """The question whether a new number or address is right, once."""
        new = next((value for key, value in self.turn.facts.items() if key.startswith(NEW_CONTACT)), "")
        return self.dialog.say("confirm_contact", value=new) if new and new not in self.turn.last_agent else ""

    def lacks_answer(self) -> bool:
        """True if the prompt doesn't answer the customer's question."""
        turn = self.turn
        if not turn.said or turn.urgent or detect_intent(turn.said) not in ("", "info") or not self._is_question():
            return False
        return not self._courtesies() and not is_answered(turn)

    def _silence_prompt(self) -> list[str]:
        """Follow-up for a silent customer: repeats the last question."""
        if not self.turn.is_follow_up or self.turn.urgent:
            return []
        asked = re.findall(r"[^.!?]+\?", self.turn.last_agent)
        return [self._say("still_there"), asked[-1].strip() if asked else self._say("more")]

    def _correction(self) -> str:
        """Correction of a false statement."""
        return self._say("correct") if self.turn.has_to_correct else ""

    def _recovery(self) -> str:
        """Apology for a poor conversation, at most every other reply."""
        regret = self._say("regret")
        return regret if self.turn.is_going_badly and regret not in self.turn.last_agent else ""

    def _say(self, key: str) -> str:
        return self.dialog.say(key)

    def _answer(self) -> list[str]:
        greeting = self._greeting()
        answer = answer_question(self.turn) if self._is_question() else ""
        next_step = self.dialog.next()
        if answer and next_step.startswith(answer):
            # The closed-day notice also answers the question.
            answer = ""
        if answer or next_step:
            noted = "" if answer or greeting or "?" not in self.turn.last_agent else self._noted(next_step)
            glad = (
                self._say("glad_general")
                if greeting and not answer and detect_intent(self.turn.said) in ("change", "group")
                else ""
            )
            return [greeting, glad, answer, noted, next_step]
        if greeting:
            opening = self._say("glad_general") if detect_intent(self.turn.said) else ""
            return [greeting, opening, self._unknown_or_help()]
        return [self._unknown()]

    def _is_question(self) -> bool:
        """True for a question about the business; a booking request in question form is none."""
        said = self.turn.said
        return bool(QUESTION.search(said)) and not (
            detect_intent(said) in ("booking", "change")
            and not re.search(
                r"\b(?:vegan|gluten|open|price|cost|how much|where|park|terrace|dog|kids|children)", said, re.IGNORECASE
            )
        )

    def _unknown_or_help(self) -> str:
        is_asked = "?" in self.turn.said and not NO_MATTER.search(self.turn.said)
        return self._unknown() if is_asked else self._say("help")

    def _unknown(self) -> str:
        if self._is_question() or len(self.turn.said.split()) > 6:
            return self._say("unknown")
        return self._say("more") if self.turn.before else self._say("help")

    def _noted(self, next_step: str) -> str:
        """Short thanks before the next question, for an answer."""
        is_answer = self.turn.has_learned or YES.search(self.turn.said)
        return self._say("noted") if next_step and is_answer else ""

    def _greeting(self) -> str:
        if not self.turn.is_opening:
            return ""
        language, business = self.turn.language, self.turn.business_name
        hello = daytime(self.turn.clock[1], language)
        return phrase("greet", language, daytime=hello, business=business) if business else f"{hello}!"

    # Results

    def _result_of_action(self) -> list[str]:
        if not self.turn.urgent:
            return []
        described = [spoken_result(line, language=self.turn.language) for line in self.turn.urgent]
        asked = next((question for line in self.turn.urgent if (question := self._asked_for(line))), "")
        answer = answer_question(self.turn) if self.turn.said and self._is_question() else ""
        told = " ".join(part for part in (*described, answer) if part)
        if not (told or asked):
            return self._unsaid()
        in_english = " ".join(spoken_result(line) for line in self.turn.urgent)
        return [told, asked or self._follow_up(f"{in_english} {answer}")]

    def _asked_for(self, line: str) -> str:
        """The question that a message has the agent ask."""
        fields, what = asked_for(line)
        missing = self.dialog.slots.missing(fields)
        if missing:
            return self.dialog.ask(missing)
        if asks_which(line):
            return self._say("which_one")
        return f"May I ask for your {what}?" if what and not fields else ""

    def _unsaid(self) -> list[str]:
        """Nothing that came in is for the customer: the conversation goes on."""
        return (self._courtesies() or self._answer()) if self.turn.said else [self._say("more")]

    def _follow_up(self, described: str) -> str:
        if "?" in described:
            return ""
        if REFUSED.search(described):
            return self._say("another")
        free = re.search(r"\b(?:free|available|availability|open)\b", described, re.IGNORECASE)
        full = re.search(
            r"\b(?:full|not available|unavailable|no table|booked out|fully booked)\b", described, re.IGNORECASE
        )
        if full and not re.search(r"\bbut\b|\binstead\b|alternativ", described, re.IGNORECASE):
            return self._say("another")
        if full and re.search(r"\bare free\b", described):
            return self._say("which")
        if free or full:
            return "Shall I book it for you?" if self.turn.language == "en" else self._say("propose")
        booking = self.turn.state_of("create_booking_tool")
        return (
            self._say("details")
            if booking and booking.is_done and re.search(r"\bbooked|reserved|confirmed", described, re.IGNORECASE)
            else ""
        )

    # Courtesies

    def _courtesies(self) -> list[str]:
        if not self.turn.said:
            return [self._greeting() or self._say("more")]
        found = Courtesies(self.dialog).answer()
        return [self._greeting(), *found] if found else []
