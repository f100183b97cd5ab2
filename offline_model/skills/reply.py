"""Reply skill: the agent's next message, for any business."""

from __future__ import annotations

import json
import re
from typing import Any

from offline_model.answers import QUESTION, answer_question, is_answered
from offline_model.booking_dialog import YES, BookingDialog
from offline_model.phrases import daytime, phrase
from offline_model.reply_context import ReplyContext
from offline_model.scenario_routing import detect_intent
from offline_model.tool_choice import choose_tool, describe_results, without_instructions
from offline_model.wire import Answer, ChatCall, ToolUse

BYE = re.compile(
    r"\b(?:good ?bye|bye|see you|that(?:'s| is| was) (?:all|everything)|nothing else|arrivederci|"
    r"tschüss|auf wiedersehen|au revoir|adi[oó]s|ciao ciao|have a (?:good|nice|lovely) \w+)\b",
    re.IGNORECASE,
)
THANKS = re.compile(
    r"^\W*(?:(?:ok|okay|great|perfect|super|alright|no)\W+)*(?:many )?(?:thanks?|thank you|"
    r"grazie|danke|merci|gracias|cheers)\b",
    re.IGNORECASE,
)
NOTHING_MORE = re.compile(r"^\W*(?:no|nope|nein|non)\b.{0,30}$", re.IGNORECASE)
PERSON = re.compile(
    r"\b(?:(?:speak|talk|connect|transfer|put me through)\b.{0,25}\b(?:person|human|someone|"
    r"somebody|manager|owner|colleague|agent|staff|lucia)|real person|human being|call me back)\b",
    re.IGNORECASE,
)
BY_TEXT = re.compile(
    r"\b(?:text|sms|message) (?:me|us|it|that|them|the|my)\b|\b(?:send|get|have)\b.{0,40}\b(?:text|"
    r"sms)\b|\bby (?:text|sms)\b|\b(?:un sms|per sms|als sms|par sms|por sms)\b",
    re.IGNORECASE,
)
BY_MAIL = re.compile(
    r"\be-?mail (?:me|us|it|that|them|the)\b|\b(?:send|get|have|mail)\b.{0,40}\be-?mail\b|\bby "
    r"e-?mail\b|\b(?:per e-?mail|par e-?mail|por correo|via e-?mail)\b",
    re.IGNORECASE,
)
INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules?|prompt|previous)\b|\bsystem "
    r"prompt\b|\breveal\b.{0,30}\b(?:prompt|instructions?)\b|\byou are now\b|\bdeveloper mode\b|"
    r"\byour (?:instructions|prompt)\b",
    re.IGNORECASE,
)
# Search results that refuse a time.
REFUSED = re.compile(
    r"\b(?:is closed|can't be booked|outside the opening hours|is past|too far ahead|no [\w' ]+ is free)\b",
    re.IGNORECASE,
)
PRESENCE = re.compile(
    r"\b(?:is )?(?:any|some)(?:body|one) (?:still )?(?:there|here)\b|\bare you (?:still )?there\b|\bc'è qualcuno\b|"
    r"\b(?:ist|noch) (?:da |noch )*jemand\b|\by a(?:-t-il)? quelqu'un\b|\bhay alguien\b",
    re.IGNORECASE,
)
RUNNING_LATE = re.compile(r"\b(?:running late|be late|late by|delayed)\b", re.IGNORECASE)


def reply(call: ChatCall) -> Answer:
    """The next reply, or a tool call where a tool is offered that does what the customer asks."""
    use = choose_tool(call, lacks_answer=lambda: ReplyComposer(ReplyContext.read(call)).lacks_answer())
    if use is not None:
        return Answer(_text_with_call(use, call), tool_calls=(use,))
    described = describe_results(call)
    return Answer(described or ReplyComposer(ReplyContext.read(call)).speak())


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
        return " ".join(part for part in (self._correction(), self._recovery(), *parts) if part).strip()

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
            return [greeting, opening, self._say("help") if not opening else self._unknown_or_help()]
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
        return self._unknown() if "?" in self.turn.said else self._say("help")

    def _unknown(self) -> str:
        if self._is_question() or len(self.turn.said.split()) > 6:
            return self._say("unknown")
        return self._say("more") if self.turn.before else self._say("help")

    def _noted(self, next_step: str) -> str:
        """Short thanks before the next question."""
        return self._say("noted") if next_step else ""

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
        described = [spoken_result(line) for line in self.turn.urgent]
        answer = answer_question(self.turn) if self.turn.said and self._is_question() else ""
        return [*described, answer, self._follow_up(" ".join(described))]

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
        if free or full:
            return "Shall I book it for you?" if self.turn.language == "en" else self._say("propose")
        booking = self.turn.state_of("create_booking_tool")
        return (
            self._say("details")
            if booking and booking.is_done and re.search(r"\bbooked|reserved|confirmed", described, re.IGNORECASE)
            else ""
        )

    # Courtesies and wishes that need no scenario

    def _courtesies(self) -> list[str]:
        said = self.turn.said
        if not said:
            return [self._greeting() or self._say("more")]
        for matches, answer in (
            (INJECTION, self._refuse),
            (PRESENCE, self._presence),
            (PERSON, self._person),
            (BY_TEXT, self._text),
            (BY_MAIL, self._mail),
            (BYE, self._bye),
            (THANKS, self._thanks),
            (RUNNING_LATE, self._late),
        ):
            if matches.search(said) and (found := answer()):
                return found
        if NOTHING_MORE.match(said) and self._say("more") in self.turn.last_agent:
            return self._bye()
        return []

    def _refuse(self) -> list[str]:
        return [self._say("refuse")]

    def _presence(self) -> list[str]:
        """Answer to "Is anybody there?"; after a request for a person, it says that nobody has joined yet."""
        asked = any(line.role == "customer" and PERSON.search(line.content) for line in self.turn.before)
        return [self._say("present"), self._say("nobody_yet" if asked else "help")]

    def _person(self) -> list[str]:
        if self.turn.channel in ("phone", "webcall"):
            return [self._say("transfer")]
        missing = self.turn.slots.missing(["phone", "name"])
        return [self._say("person"), self.dialog.ask(missing)] if missing else [self._say("pass_on")]

    def _text(self) -> list[str]:
        if YES.search(self.turn.said) and not re.search(r"\b(?:text|send|sms)\b", self.turn.said, re.IGNORECASE):
            return []
        return (
            [self._say("sms")] if self.turn.slots.get("phone") or self.turn.channel == "sms" else [self._say("phone")]
        )

    def _mail(self) -> list[str]:
        return [self._say("mail")] if self.turn.slots.get("email") else [self._say("email")]

    def _bye(self) -> list[str]:
        if "?" in self.turn.said or detect_intent(self.turn.said):
            return []
        return [self._say("bye")]

    def _thanks(self) -> list[str]:
        rest = re.split(r"[.!,]", self.turn.said, maxsplit=1)
        if len(self.turn.said.split()) > 6 or "?" in self.turn.said or (len(rest) > 1 and len(rest[1].split()) > 2):
            return []
        if self.turn.slots.missing(["phone", "name"]) and "?" in self.turn.last_agent and self.turn.scenario:
            return []
        if self._say("more") in self.turn.last_agent:
            return self._bye()
        return [self._say("thanks"), self._say("more")]

    def _late(self) -> list[str]:
        from_procedure = next((s for s in self.turn.sources if "late" in s.lower() and "held" in s.lower()), "")
        held = re.search(r"[^.]*held for \d+ minutes[^.]*\.", from_procedure)
        return [f"Thank you for telling me.{held[0]}" if held else "", self._say("more")] if held else []


def spoken_result(line: str) -> str:
    """Urgent message in spoken form: without tool names and instructions, JSON as a sentence."""
    text = re.sub(r"^\s*[\w.-]+ was not done:", "That did not work:", line)
    text = re.sub(r"^\s*[\w.-]*(?:_tool|result|Result)\b[\w ]*:\s*", "", text)
    text = without_instructions(re.sub(r" \(“[^”]*”\)", "", text))
    data = _json_in(text)
    if isinstance(data, dict):
        text = _sentence_of(data)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _json_in(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        return None
    try:
        return json.loads(text[start : text.rfind("}") + 1])
    except ValueError:
        return None


def _sentence_of(data: dict[str, Any]) -> str:
    other = data.get("alternatives") or data.get("slots") or []
    if data.get("available") is True:
        return "Good news, that is free"
    if data.get("available") is False:
        offered = ", ".join(str(one) for one in other[:3]) if isinstance(other, list) else str(other)
        return f"That time is full, but {offered} is free" if offered else "That time is full"
    for key in ("message", "text", "summary", "result", "status"):
        if isinstance(data.get(key), str):
            return str(data[key])
    return ", ".join(
        f"{key.replace('_', ' ')}: {value}" for key, value in data.items() if not isinstance(value, dict | list)
    )
