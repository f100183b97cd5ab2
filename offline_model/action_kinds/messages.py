"""Clauses about texts, e-mails and links."""

from __future__ import annotations

import re

from offline_model.action_kinds.clause import Clause
from offline_model.action_kinds.kinds import ActionKind
from offline_model.action_kinds.lexicon import (
    BOOKED,
    DETAILS,
    EMAIL_NOUNS,
    LINK_NOUNS,
    MAILING,
    MANAGE,
    SEND,
    SMS_NOUNS,
    TEXTING,
    WISHES,
)
from offline_model.wordlist import words

# Excluded medium: "… and not by e-mail".
NOT_THIS_WAY = re.compile(
    r"\b(?:not|rather than|instead of) (?:by |via |as |in )?(?:an? )?(email|mail|text|sms|phone)\b"
)

# Nouns that make "mail" physical mail.
PARCELS = words("parcel package packet box home")
OTHERS = (
    r"(?:kitchen|chef|cook|manager|owner|team|staff|crew|colleagues?|host|waiter|office|boss|drivers?|courier|supplier|"
    r"suppliers|plumber|electrician|mechanic|technicians?|doctor|dentist|nurse|stylist|therapist|supervisor|planner|"
    r"warehouse|workshop|reception|receptionist|department|accountant|landlord|partner|insurer|manufacturer|lab|"
    r"pharmacy|school|teacher|trainer|agency|concierge|housekeeping|front desk)"
)
TO_OTHERS = re.compile(rf"(?:\b(?:to|for) |^)(?:the|our|my|your|a|one of our) (?:\w+ )?{OTHERS}\b")
# The customer's own message ("look at your text"), unlike a destination ("to your mail").
OWN_MESSAGE = re.compile(
    r"(?<!\bto )(?<!\binto )\byour (?:\w+ )?(?:text|sms|message|messages|texts|email|emails|mail)\b(?! address)"
)


def message_kinds(clause: Clause) -> set[ActionKind]:
    here = clause.here - set(NOT_THIS_WAY.findall(clause.phrase))
    by_text = clause.lemma in TEXTING or (
        clause.lemma in SEND and bool(here & SMS_NOUNS) and not _is_staff_message(clause)
    )
    if clause.lemma in WISHES:
        wished = {m for m, nouns in ((ActionKind.SMS, SMS_NOUNS), (ActionKind.EMAIL, EMAIL_NOUNS)) if here & nouns}
        link = {ActionKind.MANAGE_LINK} if is_manage_link(clause) else set()
        return link | (set() if _is_address(clause) else wished)
    by_mail = clause.lemma in MAILING or (
        clause.lemma in SEND and (bool(here & EMAIL_NOUNS) or any("@" in w for w in clause.all))
    )
    by_mail &= not here & PARCELS
    by_phone = clause.lemma in SEND - {"have", "get", "put", "give"} and bool(
        re.search(r"\b(?:to|on) your (?:\w+ )?(?:phone|mobile|cell|number)", clause.phrase)
    )
    by_phone = by_phone or (
        clause.lemma in ("send", "forward", "drop", "shoot")
        and bool(re.search(r"\bto \+?\d[\d ]{5,}|to (?:this|that|the same) number", clause.phrase))
    )
    if clause.lemma in TEXTING | MAILING and _is_staff_message(clause):
        return set()
    if clause.lemma in ("have", "put", "be", "go", "get", "give", "take") and _is_address(clause):
        by_mail = by_text = False
    found = {m for m, is_so in ((ActionKind.SMS, by_text or by_phone), (ActionKind.EMAIL, by_mail)) if is_so}
    if found == {ActionKind.SMS, ActionKind.EMAIL} and not re.search(
        r"\b(?:and|or|both|plus|also|as well)\b", clause.phrase
    ):
        found = {_nearest_medium(clause)}
    if clause.lemma in SEND and is_manage_link(clause):
        found.add(ActionKind.MANAGE_LINK)
    if (
        clause.lemma in ("send", "forward")
        and here & words("invite invitation")
        and here & words("calendar meeting call")
    ):
        return {ActionKind.MEETING}
    return found


def _is_address(clause: Clause) -> bool:
    """ "I have your e-mail address", "put your number down": the address itself, no message."""
    return bool(re.search(r"\byour (?:\w+ )?(?:email|mail|phone|mobile|number)", clause.phrase)) and not clause.here & (
        DETAILS - words("it that this number address list")
    )


def _is_staff_message(clause: Clause) -> bool:
    """True for a message to somebody else, and for the customer's own message."""
    if clause.lemma == "pass" and "you" not in clause.here:
        return True
    return bool(TO_OTHERS.search(clause.phrase) or OWN_MESSAGE.search(clause.phrase))


def _nearest_medium(clause: Clause) -> ActionKind:
    """The first medium named is the one used; the other describes it ("text you the e-mail address")."""
    if clause.lemma in TEXTING:
        return ActionKind.SMS
    if clause.lemma in MAILING:
        return ActionKind.EMAIL
    by = re.search(r"\b(?:by|via|per|through|as an?|an|in an?) (\w+)", clause.phrase)
    named = by[1] if by else next((w for w in clause.rest if w in SMS_NOUNS | EMAIL_NOUNS), "")
    return ActionKind.EMAIL if named in EMAIL_NOUNS else ActionKind.SMS


NEW_TIME = re.compile(r"\b(?:another|different|new) (?:time|date|day|slot)\b")
OWN_LINK = re.compile(
    r"\blinks? (?:to|for|of) your (?:\w+ )?(?:booking|reservation|appointment)\b|\byour (?:own |personal )?(?:booking|reservation) links?\b"
    r"|\bself service links?\b"
)


def is_manage_link(clause: Clause) -> bool:
    """A link where a booking that exists is managed."""
    around = clause.all
    has_link = bool(around & LINK_NOUNS)
    if has_link and (OWN_LINK.search(clause.whole) or (NEW_TIME.search(clause.whole) and around & BOOKED)):
        return True
    return (
        has_link
        and bool(around & MANAGE)
        and bool(around & (BOOKED | words("it table management self service reschedule rescheduling")))
    )


def is_vague_sending(clause: Clause) -> bool:
    """ "I'll send you the details": no word says how."""
    if clause.lemma not in ("send", "forward", "shoot", "drop", "share"):
        return False
    if _is_staff_message(clause) or ("to the" in clause.phrase and not clause.here & words("you your")):
        return False
    return bool(clause.here & words("you your") or clause.here & words("it that over them")) and bool(
        clause.here & DETAILS
    )
