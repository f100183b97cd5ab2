"""Clauses about bookings and meetings."""

from __future__ import annotations

import re

from offline_model.action_kinds.clause import Clause
from offline_model.action_kinds.kinds import ActionKind
from offline_model.action_kinds.lexicon import BOOK, BOOK_WITH_OBJECT, BOOKING, MAILING, MEET, MEETING, TEXTING, TIME
from offline_model.action_kinds.lookups import has_look
from offline_model.action_kinds.transfers import transfer_kinds
from offline_model.wordlist import words

NO_MEETING_VERBS = words("send have get add put make")
MEETING_WORDS = words("meeting invite invitation calendar diary consultation demo")
# Preparations, not meetings: "have the room ready for your meeting".
FOR_THE_MEETING = re.compile(
    r"\b(?:for|of|at|before|about|in|to) (?:the|your|our|that|this) "
    r"(?:\w+ )?(?:meeting|call|consultation|demo|session|event)\b"
)
INVITING = words("invite invitation calendar")
NO_BOOKING = words(
    "note notes request question mind calendar link details ready waiting waitlist confirmation off posted rid"
)
SECURING = words("block secure lock arrange")
ROOMS = words("room suite court stay cabin lane studio desk bay car bike boat")
LISTS = words("list waitlist newsletter callback call-back")
HOLDING = words("hold keep save")
YOURS = re.compile(r"your (?:\w+ )?(?:booking|reservation|appointment)\b")
OTHER_GOODS = words("taxi cab hotel flight parking")
IDIOMS = words(
    """
    mind touch short brief line door lift elevator luggage bag bags coat parcel package keys cake dessert food dish
    order change receipt posted
    """
)
FINISHING = words("confirm finalise finalize complete")
WRITING = words("note mark jot write")
PLACING = words("put note pencil lock pop sign squeeze mark jot add get write place fit slip")
ON_SCHEDULE = re.compile(
    r"\byou (?:in|on|into|onto|to) (?:the|our|\w+'s) (?:\w+ )?(?:schedule|diary|calendar|books?)\b"
)
DOWN = re.compile(
    r"\b(?:you|your name|that|it|everyone) (?:down|in)\b(?! (?:an? |writing|your |the (?:e-?mail|file|notes?)))"
)
# "Put Rex down for Thursday": whose name it is doesn't matter, when it is does.
NAME_DOWN = re.compile(r"(?:[\w']+ ){1,3}down (?:for|on|at) ")
YOU_IN = re.compile(r"you (?:in|a table|booked|seated|that table|the table)\b")
KEPT_FOR = re.compile(r"(?:it|that|this|one|the \w+) (?:for|under|in) (?:you|your|\w+)")
GOING_AHEAD = re.compile(r"(?:ahead |on )?with (?:the|your|that|this) (?:booking|reservation|appointment)\b")
# No new booking: "a table of the prices", "add it to your booking".
NOT_A_BOOKING = re.compile(
    r"\b(?:on|onto|under|about|near|beside|next to) (?:the|your|that|our|a) (?:\w+ )?(?:table|seat|chair)\b|"
    r"\b(?:about|regarding|before|after|during) (?:the|your|that|our) (?:\w+ )?(?:booking|reservation|appointment)\b|"
    r"\btable of (?:the|our|all)\b|\b(?:to|on|in|into|from) (?:your|that) (?:\w+ )?(?:booking|reservation|appointment)\b"
)
WHAT_WAS_SAID = re.compile(r"(?:it|that|this|everything)\b")


def booking_kinds(clause: Clause) -> set[ActionKind]:
    """BOOKING or MEETING, if the clause makes one."""
    if _makes_meeting(clause):
        return {ActionKind.MEETING}
    if clause.lemma == "send" or clause.lemma in TEXTING | MAILING:
        return set()
    if clause.lemma in BOOK:
        named = clause.rest[: clause.rest.index("by")] if "by" in clause.rest else clause.rest
        return set() if set(named) & OTHER_GOODS else {ActionKind.BOOKING}
    if clause.lemma in ("go", "proceed") and GOING_AHEAD.match(clause.phrase):
        return {ActionKind.BOOKING}
    return {ActionKind.BOOKING} if _puts_down(clause) or _keeps(clause) or _makes_booking(clause) else set()


def _makes_meeting(clause: Clause) -> bool:
    if clause.lemma not in MEET or not clause.here & MEETING or transfer_kinds(clause):
        return False
    if clause.lemma == "send":
        return bool(clause.here & INVITING)
    if clause.lemma not in NO_MEETING_VERBS:
        return True
    return bool(clause.here & MEETING_WORDS) and not FOR_THE_MEETING.search(clause.phrase)


def _puts_down(clause: Clause) -> bool:
    """ "Put you down for seven", "get you in"."""
    if ON_SCHEDULE.search(clause.phrase) and clause.lemma in PLACING:
        return True
    if clause.lemma in WRITING:
        return bool(re.search(r"\b(?:you|your name) (?:down|in)\b", clause.phrase))
    if clause.lemma in PLACING:
        if clause.here & LISTS:
            return False
        is_down = DOWN.search(clause.phrase) or (NAME_DOWN.match(clause.phrase) and clause.here & TIME)
        return bool(is_down) or (clause.lemma == "sign" and "you up" in clause.phrase)
    return clause.lemma == "get" and bool(YOU_IN.match(clause.phrase))


def _keeps(clause: Clause) -> bool:
    """ "Keep it for you", "confirm that for Friday"."""
    if clause.lemma in SECURING and clause.here & ROOMS and not clause.here & NO_BOOKING:
        return True
    if clause.lemma in HOLDING:
        return bool(KEPT_FOR.match(clause.phrase)) and not clause.here & IDIOMS
    is_final = clause.lemma in FINISHING and bool(WHAT_WAS_SAID.match(clause.phrase))
    return is_final and bool(clause.here & (TIME | words("you your")))


def _makes_booking(clause: Clause) -> bool:
    if has_look(clause) or NOT_A_BOOKING.search(clause.phrase):
        return False
    is_there = clause.lemma in HOLDING and YOURS.match(clause.phrase)
    if is_there or (clause.lemma == "take" and "out" in clause.here):
        return False
    if clause.lemma not in BOOK_WITH_OBJECT or not clause.here & BOOKING or clause.here & NO_BOOKING:
        return False
    if clause.lemma in ("take", "have", "give", "get", "process", "set", "add", "enter", "fix", "request"):
        return bool(
            re.search(
                r"\b(?:an?|the|your|that|this) (?:\w+ ){0,2}(?:booking|reservation|table|spot|slot|appointment|"
                r"place|seat)",
                clause.phrase or " ".join(clause.subject),
            )
        )
    return True
