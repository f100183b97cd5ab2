"""Answers to what a customer may say in any scenario."""

from __future__ import annotations

import re
from collections.abc import Callable

from offline_model import customer_words, recall
from offline_model.answers import QUESTION, answer_question
from offline_model.booking_dialog import YES, BookingDialog
from offline_model.entities import find_email, find_phone
from offline_model.language import language_of
from offline_model.phrases import PHRASES
from offline_model.prompt_reader import last_of
from offline_model.scenario_routing import detect_intent

Parts = list[str]
HELD = re.compile(r"[^.\n]*\bheld for \d+ minutes[^.\n]*\.")


class Courtesies:
    """Answers that need no scenario: about the agent, the person asked for, what was said, and goodbyes."""

    def __init__(self, dialog: BookingDialog) -> None:
        self.dialog = dialog
        self.turn = dialog.turn
        self.said = dialog.turn.said

    def answer(self) -> Parts:
        """The sentences of the first matching answer; none if the message is about the business."""
        for matches, answer in self._answers():
            if matches.search(self.said) and (found := answer()):
                return found
        if self._wants_it_passed_on():
            return [self._say("pass_on")]
        if customer_words.NOTHING_MORE.match(self.said) and self._was_asked("more", "help"):
            return self._bye()
        return self._contact() or self._foreign() or self._backchannel()

    def _answers(self) -> tuple[tuple[re.Pattern[str], Callable[[], Parts]], ...]:
        return (
            (customer_words.INJECTION, lambda: [self._say("refuse")]),
            (customer_words.PRESENCE, self._presence),
            (customer_words.HANDOVER, self._handover),
            (customer_words.REPEAT, self._again),
            (customer_words.PROMISED, self._promised),
            (customer_words.TOLD, self._told),
            (customer_words.STATUS, lambda: [self._say(recall.deed_state(self.turn))]),
            (customer_words.IDENTITY, lambda: [self._say("identity")]),
            (customer_words.ABILITY, lambda: [self._say("identity"), self._say("help")]),
            (customer_words.TAKEN_BACK, self._taken_back),
            (customer_words.PERSON, self._person),
            (customer_words.STOP_WRITING, lambda: [self._say("not_wanted")]),
            (customer_words.BY_TEXT, self._text),
            (customer_words.BY_MAIL, self._mail),
            (customer_words.NEVER_MIND, self._dropped),
            (customer_words.BYE, self._bye),
            (customer_words.THANKS, self._thanks),
            (customer_words.SURE, lambda: [self._say("sure")] if self.turn.before else []),
            (customer_words.RUNNING_LATE, self._late),
            (customer_words.INSULT, self._upset),
        )

    def _say(self, key: str) -> str:
        return self.dialog.say(key)

    def _was_asked(self, *keys: str) -> bool:
        return any(self.dialog.has_said(key) for key in keys)

    # The person asked for

    def _asked_person(self) -> bool:
        lines = self.turn.before
        return any(line.role == "customer" and customer_words.PERSON.search(line.content) for line in lines)

    def _presence(self) -> Parts:
        """Answer to "Is anybody there?"; after a request for a person, it says that nobody has joined yet."""
        return [self._say("present"), self._say("nobody_yet" if self._asked_person() else "help")]

    def _handover(self) -> Parts:
        if not self._asked_person():
            return []
        return [self._say("no_time") if customer_words.WHEN.search(self.said) else "", self._say("nobody_yet")]

    def _person(self) -> Parts:
        if self.turn.channel in ("phone", "webcall"):
            return [self._say("transfer")]
        missing = self.turn.slots.missing(["phone", "name"])
        return [self._say("person"), self.dialog.ask(missing)] if missing else [self._say("pass_on")]

    def _contact(self) -> Parts:
        """The contact that was asked for: of a text, an e-mail or a call by a person."""
        earlier = last_of(self.turn.before, "customer")
        if customer_words.BY_MAIL.search(earlier) and find_email(self.said):
            return [self._say("mail")]
        if customer_words.BY_TEXT.search(earlier) and find_phone(self.said):
            return [self._say("sms")]
        if not self._asked_person() or self.turn.scenario or not self.turn.has_learned:
            return []
        missing = self.turn.slots.missing(["phone", "name"])
        return [self._say("noted"), self.dialog.ask(missing) if missing else self._say("pass_on")]

    # What was said

    def _again(self) -> Parts:
        said = recall.last_statement(self.turn)
        if not said:
            return [self._say("help")]
        return [said if recall.is_recital(self.turn, said) else self._say_with("again", said=said)]

    def _promised(self) -> Parts:
        promises = recall.promises_made(self.turn)
        return [self._say_with("promised", said=" ".join(promises)) if promises else self._say("promised_none")]

    def _told(self) -> Parts:
        facts = recall.known_facts(self.turn)
        return [self._say_with("known", facts=facts) if facts else self._say("known_none")]

    def _say_with(self, key: str, **values: str) -> str:
        return self.dialog.say(key, **values)

    # Texts and e-mails

    def _text(self) -> Parts:
        if YES.search(self.said) and not re.search(r"\b(?:text|send|sms)\b", self.said, re.IGNORECASE):
            return []
        can_send = self.turn.slots.get("phone") or self.turn.channel == "sms"
        answer = [self._say("sms" if can_send else "phone")]
        return [*answer, *self._mail()] if can_send and customer_words.BY_MAIL.search(self.said) else answer

    def _mail(self) -> Parts:
        return [self._say("mail")] if self.turn.slots.get("email") else [self._say("email")]

    # Endings and moods

    def _taken_back(self) -> Parts:
        """Without a promise to take back, it is a refusal."""
        return self._dropped() if recall.promises_made(self.turn) else [self._say("not_wanted")]

    def _dropped(self) -> Parts:
        answer = answer_question(self.turn) if QUESTION.search(self.said) else ""
        return [self._say("dropped"), answer or self._say("more")]

    def _bye(self) -> Parts:
        if "?" in self.said or detect_intent(self.said):
            return []
        return [self._say("bye")]

    def _thanks(self) -> Parts:
        rest = re.split(r"[.!,]", self.said, maxsplit=1)
        if len(self.said.split()) > 6 or "?" in self.said or (len(rest) > 1 and len(rest[1].split()) > 2):
            return []
        if self.turn.slots.missing(["phone", "name"]) and "?" in self.turn.last_agent and self.turn.scenario:
            return []
        if self._was_asked("more"):
            return self._bye()
        return [self._say("thanks"), self._say("more")]

    def _late(self) -> Parts:
        held = HELD.search(self.turn.context)
        return [f"Thank you for telling me. {held[0].strip()}", self._say("more")] if held else []

    def _upset(self) -> Parts:
        return [] if detect_intent(self.said) or "?" in self.said else [self._say("upset")]

    def _foreign(self) -> Parts:
        found = language_of(self.said)
        return [self._say("languages")] if found and found not in PHRASES else []

    def _backchannel(self) -> Parts:
        """Reply to "ok" or a lone sign when nothing is open."""
        is_open = self.turn.scenario is not None or self.turn.is_opening
        if is_open or not customer_words.BACKCHANNEL.match(self.said) or self._is_accepting():
            return []
        return [self._say("more")]

    def _wants_it_passed_on(self) -> bool:
        """True for a yes to the offer that comes with a question without an answer."""
        return self._was_asked("unknown") and "?" not in self.said and bool(YES.match(self.said))

    def _is_accepting(self) -> bool:
        return bool(YES.search(self.said)) and "?" in self.turn.last_agent and not self._was_asked("more", "help")
