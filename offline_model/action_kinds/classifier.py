"""All the kinds of action that a clause names."""

from __future__ import annotations

import re

from offline_model.action_kinds.bookings import booking
from offline_model.action_kinds.clause import Clause
from offline_model.action_kinds.kinds import Matter
from offline_model.action_kinds.lexicon import BOOKED, BOOKING, CANCEL, CHECK, LOOK_UP, TELL_OFF
from offline_model.action_kinds.lookups import checking
from offline_model.action_kinds.messages import sending
from offline_model.action_kinds.transfers import calling
from offline_model.wordlist import words

NOT_CANCELLED = words(
    """
    order subscription meeting account name membership newsletter plans insurance contract alarm payment invoice taxi
    """
)
STRIKING = words("take strike cross wipe")
# "Remove a guest from your booking": the booking stays.
OUT_OF_BOOKING = re.compile(r"\b(?:from|in|on|to) (?:your|the|that) (?:\w+ )?(?:booking|reservation|appointment)\b")
ENTERING = words("plug enter type put pop run")
ZIP_CODES = words("zip zipcode postcode")
FILES = words("file note notes form record")
PROCESSING = words("process handle take do make request arrange submit go proceed")


def matters_of(clause: Clause) -> set[Matter]:
    """The kinds of action that the clause names by its own words."""
    found = sending(clause) | calling(clause) | booking(clause)
    if clause.lemma in CHECK | LOOK_UP:
        found |= checking(clause)
    if Matter.SEARCH in found and clause.lemma in ("get", "bring", "take"):
        found.discard(Matter.BOOKING)
    if clause.lemma in ENTERING and clause.here & ZIP_CODES and not clause.here & FILES:
        found.add(Matter.ZIP)
    if _cancels(clause):
        found.add(Matter.CANCEL)
    if _ends(clause):
        found.add(Matter.GOODBYE)
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
    if clause.lemma in STRIKING and here & {"out", "off", "from"} and here & (BOOKED | {"table", "slot"}):
        return not OUT_OF_BOOKING.search(clause.phrase)
    return "off" in here and (clause.lemma == "call" or (clause.lemma == "take" and bool(here & BOOKING)))


def _ends(clause: Clause) -> bool:
    here = clause.here
    if clause.lemma in TELL_OFF and here & words("call chat conversation"):
        return True
    return bool(clause.lemma == "say" and here & words("goodbye bye")) or (clause.lemma == "hang" and "up" in here)
