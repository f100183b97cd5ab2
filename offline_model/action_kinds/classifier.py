"""Clause classifier: the action kinds that a clause names."""

from __future__ import annotations

import re

from offline_model.action_kinds.bookings import booking_kinds
from offline_model.action_kinds.clause import Clause
from offline_model.action_kinds.kinds import ActionKind
from offline_model.action_kinds.lexicon import BOOKED, BOOKING, CANCEL, CHECK, ENDING, LOOK_UP, TIME
from offline_model.action_kinds.lookups import lookup_kinds
from offline_model.action_kinds.messages import message_kinds
from offline_model.action_kinds.transfers import transfer_kinds
from offline_model.wordlist import words

NOT_CANCELLED = words(
    """
    order subscription meeting account name membership newsletter plans insurance contract alarm payment invoice taxi
    """
)
# "Take you off the list for Monday", not off a mailing list.
OFF_THE_LIST = re.compile(
    r"you off (?:the|our|that|\w+'s) (?:(?:class|guest|sign-up) )?(?:list|schedule|register|roster)\b"
)
STRIKING = words("take strike cross wipe")
# Changes that keep the booking: "remove a guest from your booking".
OUT_OF_BOOKING = re.compile(r"\b(?:from|in|on|to) (?:your|the|that) (?:\w+ )?(?:booking|reservation|appointment)\b")
ENTERING = words("plug enter type put pop run")
ZIP_CODES = words("zip zipcode postcode")
FILES = words("file note notes form record")
PROCESSING = words("process handle take do make request arrange submit go proceed")


def classify_clause(clause: Clause) -> set[ActionKind]:
    """The kinds of action that the clause names by its own words."""
    found = message_kinds(clause) | transfer_kinds(clause) | booking_kinds(clause)
    if clause.lemma in CHECK | LOOK_UP:
        found |= lookup_kinds(clause)
    if ActionKind.SEARCH in found and clause.lemma in ("get", "bring", "take"):
        found.discard(ActionKind.BOOKING)
    if clause.lemma in ENTERING and clause.here & ZIP_CODES and not clause.here & FILES:
        found.add(ActionKind.ZIP)
    if _cancels(clause):
        found.add(ActionKind.CANCEL)
    if _ends(clause):
        found.add(ActionKind.GOODBYE)
    return found


def _cancels(clause: Clause) -> bool:
    here = clause.here
    if clause.lemma in CANCEL:
        is_gone = clause.lemma == "cancel" or (bool(here & BOOKING) and not OUT_OF_BOOKING.search(clause.phrase))
        return not here & NOT_CANCELLED and is_gone
    if clause.lemma == "get" and clause.phrase.startswith("rid of") and here & BOOKED:
        return True
    if clause.lemma in PROCESSING and "cancellation" in here:
        return True
    if clause.lemma in STRIKING | CANCEL and OFF_THE_LIST.match(clause.phrase) and _is_timed(clause):
        return True
    if clause.lemma in STRIKING and here & {"out", "off", "from"} and here & (BOOKED | {"table", "slot"}):
        return not OUT_OF_BOOKING.search(clause.phrase)
    return "off" in here and (clause.lemma == "call" or (clause.lemma == "take" and bool(here & BOOKING)))


def _is_timed(clause: Clause) -> bool:
    return bool({word.removesuffix("'s") for word in clause.here} & TIME)


def _ends(clause: Clause) -> bool:
    here = clause.here
    if clause.lemma in ENDING and here & words("call chat conversation"):
        return True
    return bool(clause.lemma == "say" and here & words("goodbye bye")) or (clause.lemma == "hang" and "up" in here)
