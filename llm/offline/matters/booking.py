"""Bookings and meetings."""

from __future__ import annotations

import re

from llm.offline.matters.clause import Clause
from llm.offline.matters.connecting import calling
from llm.offline.matters.kinds import Matter
from llm.offline.matters.vocabulary import (
    BOOK,
    BOOK_WITH_OBJECT,
    BOOKING,
    MAILING,
    MEET,
    MEETING,
    TEXTING,
    TIME,
)
from llm.offline.wordlist import words

NO_MEETING_VERBS = words("send have get add put make")
MEETING_WORDS = words("meeting invite invitation calendar consultation demo")
NO_BOOKING = words("note notes request question mind calendar link details waiting waitlist confirmation off")
OTHER_GOODS = words("taxi cab hotel flight parking")
IDIOMS = words("mind touch short brief line")
FINISHING = words("confirm finalise finalize complete")
DOWN = re.compile(r"\b(?:you|your name|that|it|everyone) (?:down|in)\b")
YOU_IN = re.compile(r"you (?:in|a table|booked|seated|that table|the table)\b")
KEPT_FOR = re.compile(r"(?:it|that|this|one|the \w+) (?:for|under|in) (?:you|your|\w+)")
GOING_AHEAD = re.compile(r"(?:ahead |on )?with (?:the|your|that|this) (?:booking|reservation|appointment)\b")
WHAT_WAS_SAID = re.compile(r"(?:it|that|this|everything)\b")


def booking(clause: Clause) -> set[Matter]:
    """BOOKING or MEETING, if the clause makes one."""
    if _makes_meeting(clause):
        return {Matter.MEETING}
    if clause.lemma == "send" or clause.lemma in TEXTING | MAILING:
        return set()
    if clause.lemma in BOOK:
        named = clause.rest[: clause.rest.index("by")] if "by" in clause.rest else clause.rest
        return set() if set(named) & OTHER_GOODS else {Matter.BOOKING}
    if clause.lemma in ("go", "proceed") and GOING_AHEAD.match(clause.phrase):
        return {Matter.BOOKING}
    return {Matter.BOOKING} if _puts_down(clause) or _keeps(clause) or _makes_booking(clause) else set()


def _makes_meeting(clause: Clause) -> bool:
    if clause.lemma not in MEET or not clause.here & MEETING or calling(clause):
        return False
    return clause.lemma not in NO_MEETING_VERBS or bool(clause.here & MEETING_WORDS)


def _puts_down(clause: Clause) -> bool:
    """ "Put you down for seven", "get you in"."""
    if clause.lemma in ("put", "pencil"):
        return bool(DOWN.search(clause.phrase))
    return clause.lemma == "get" and bool(YOU_IN.match(clause.phrase))


def _keeps(clause: Clause) -> bool:
    """ "Keep it for you", "confirm that for Friday"."""
    if clause.lemma in ("hold", "keep", "save"):
        return bool(KEPT_FOR.match(clause.phrase)) and not clause.here & IDIOMS
    is_final = clause.lemma in FINISHING and bool(WHAT_WAS_SAID.match(clause.phrase))
    return is_final and bool(clause.here & (TIME | words("you your")))


def _makes_booking(clause: Clause) -> bool:
    if clause.lemma not in BOOK_WITH_OBJECT or not clause.here & BOOKING or clause.here & NO_BOOKING:
        return False
    if clause.lemma in ("take", "have", "give", "get", "process", "set", "add", "enter", "fix", "request"):
        return bool(
            re.search(
                r"\b(?:a|the|your|that|this) (?:\w+ ){0,2}(?:booking|reservation|table|spot|slot|appointment|"
                r"place|seat)",
                clause.phrase or " ".join(clause.subject),
            )
        )
    return True
