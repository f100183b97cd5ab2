"""Clauses about lookups: availability, bookings, products and service areas."""

from __future__ import annotations

import re

from offline_model.action_kinds.clause import Clause
from offline_model.action_kinds.kinds import ActionKind
from offline_model.action_kinds.lexicon import BACKCHANNEL, CHECK, EMPTY, HAVING, LOOK_UP, TABLE, TIME, ZIP, ZIP_VERBS
from offline_model.wordlist import words

LIGHT_VERBS = words("have take do run go get give open bring know")
LOOKING = words("look check peek glance search through calendar book")
OWN_LOOK = re.compile(
    r"(?:another |a |one )?(?:(?:quick|close|closer|good|proper|brief|second|fresh|little) )?(?:look|check|peek|glance|search)\b"
)
RESTATING = words("confirm verify review")
OPEN_POINT = words("if whether availability available stock")


def lookup_kinds(clause: Clause) -> set[ActionKind]:
    """Action kinds of a lookup clause."""
    if FACT.match(clause.whole) or clause.phrase.startswith(("rid of", "to it", "to that")):
        return set()
    if clause.lemma in LOOK_UP and _is_search(clause) and not MOVING.search(clause.whole):
        return set() if _is_welcome(clause) else {ActionKind.SEARCH}
    if not _is_looking(clause):
        return set()
    if _is_zip(clause.all, clause.whole):
        return {ActionKind.ZIP}
    if MOVING.search(clause.whole):
        return {ActionKind.AVAILABILITY}
    if _is_search(clause):
        return {ActionKind.SEARCH}
    if _is_product(clause):
        return {ActionKind.PRODUCT}
    return {ActionKind.AVAILABILITY} if _is_availability(clause) else set()


def _is_looking(clause: Clause) -> bool:
    """ "Have a look", not "have somebody look"; "confirm whether", not "confirm: four people"."""
    if clause.lemma == "have":
        return has_look(clause)
    if clause.phrase.startswith("forward ") or _is_welcome(clause):
        return False
    if clause.lemma == "make":
        return "sure" in clause.all and bool(clause.all & words("available free open availability"))
    if clause.lemma in LIGHT_VERBS:
        return "out of" not in clause.phrase and bool(clause.all & LOOKING)
    if clause.lemma == "ask":
        if ASKING_STOCK.match(clause.whole) or "in stock" in clause.whole:
            return True
        return clause.phrase.startswith(("if ", "whether ")) or clause.whole.startswith(("if ", "whether "))
    return clause.lemma not in RESTATING or bool(clause.all & (OPEN_POINT | ZIP) or OPEN_TIME.search(clause.whole))


def _is_welcome(clause: Clause) -> bool:
    """ "See you at your appointment"."""
    return clause.lemma in ("see", "meet") and bool(MEETING_YOU.match(clause.phrase))


def has_look(clause: Clause) -> bool:
    """ "Have a quick look": as good as looking."""
    return bool(OWN_LOOK.match(clause.phrase))


def _is_zip(around: set[str], whole: str) -> bool:
    if around & words("zip zipcode postcode postal"):
        return True
    reaches = bool(re.search(r"\bwe service\b", whole)) or bool(
        around & ZIP_VERBS
        | around
        & words(
            """
    delivery covered served deliver delivers covers serves within coverage radius reach
    """
        )
    )
    if CREWS.search(whole) or STREET.search(whole) or OUR_AREA.search(whole) or YOUR_AREA.match(whole):
        return True
    position = bool(around & (ZIP - {"code"})) or bool(
        re.search(
            r"\b(?:to|in|at) (?:your|that|this|the) (?:area|address|street|city|town|place|neighbou?rhood|"
            r"home|house)\b|\b\d{5}\b|\bin \w+$|\bto \w+$|\bthere\b",
            whole,
        )
    )
    return reaches and position and "table" not in around


def _is_search(clause: Clause) -> bool:
    around, whole = clause.all, clause.whole
    if "availability" in around or clause.lemma not in LOOK_UP | {"have", "take", "do", "run"} or SIDE.match(whole):
        return False
    if re.search(
        r"\b(?:your|the|that|his|her|their|this|existing|a|any|under|upcoming) (?:\w+ ){0,2}(?:bookings?|"
        r"reservations?|appointments?)\b",
        whole,
    ):
        return not re.search(
            r"\bfor an? (?:\w+ )?appointment\b|"
            r"\b(?:for a|new|make a|take) (?:booking|reservation)\b(?! under| with| by| made)|(?:available|free) (?:for|appointments?|"
            r"slots?)|(?:available|free|open|possible|earliest|next) appointments?|appointments? (?:available|"
            r"free|open|times?|slots?)|(?:booking|reservation) (?:calendar|book|system|availability)\b|"
            r"if (?:we|there)",
            whole,
        )
    return bool(
        re.search(
            r"\bthe (?:\w+ )?(?:table|slot|room|time|place|visit) you have (?:already )?(?:booked|reserved)|"
            r"\byou (?:have )?(?:already )?(?:booked|reserved)\b|"
            r"\bwhat (?:we|you) have (?:already |got )?(?:booked|reserved|down)\b|\bwhich \w+ you (?:have|are)\b|"
            r"\b(?:all|both|any|old|your) (?:\w+ )?(?:bookings|reservations)|"
            r"\b(?:bookings|reservations|appointments) (?:that|from|of|made|in|under)\b|"
            r"\b(?:booking|reservation)s? (?:under|for|in|from|on|number|with|details)\b|\b(?:what|"
            r"when|anything|something) you(?:'ve| have)? (?:booked|reserved)|\byour table\b.*\b(?:under|"
            r"booked)|\bunder (?:your|the|that) (?:\w+ )?(?:name|number)\b|\byou (?:have|are) (?:booked|down)\b",
            whole,
        )
    )


def _is_availability(clause: Clause) -> bool:
    whole = clause.whole.replace("free to ", "")
    around = clause.all if whole == clause.whole else clause.all - {"free"}
    if set(clause.after) & BACKCHANNEL and not around & words("availability available free table tables slot slots"):
        return False
    if around & words("available availability availabilities") or around & (TABLE - words("date time times")):
        return True
    return (
        bool(around & TIME)
        or bool(CLOCK.search(whole) or LEFT_IN.search(whole))
        or bool(OPEN_TIME.search(whole) or TAKING_IN.search(whole))
        or bool(
            re.search(
                r"\b(?:dates?|times?|another (?:day|evening|night)|(?:any|some)thing (?:earlier|later|else|free|open))\b",
                whole,
            )
        )
        or bool(re.search(r"\bin (?:the|our) (?:book|system|diary)\b|\bfit (?:you|everyone|all of you) in", whole))
        or "squeeze you in" in whole
    )


CLOCK = re.compile(
    r"\b(?:at|around|by|before|after|from) (?:half|noon|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|\b(?:at|for|around|by|before|after|from) \d|\d ?[ap]\.?m|\d[:.]\d\d|\b\d+ ?(?:st|nd|rd|th)\b"
)
# Something that is free at a time, or left in an event, is no stock: "a bay free on Saturday", "a mat left in the class".
FREE_AT = re.compile(r"\b(?:free|open) (?:on|at|in|for|from|this|next|today|tonight|tomorrow)\b")
LEFT_IN = re.compile(
    r"\bleft (?:in|on|at|for) (?:[\w':]+ ){0,4}(?:class|session|tour|course|workshop|lesson|show|screening|trip|group)\b"
)
STREET = re.compile(
    r"\b(?:serves?|covers?|reach|deliver to|comes? (?:out )?to|go(?: out)? to) (?:[\w']+ ){1,3}"
    r"(?:road|street|lane|avenue|drive|hill|village|suburbs?|quarter|square)\b"
)
# New time for an existing booking; the tool's own condition holds it back.
MOVING = re.compile(
    r"\b(?:whether|if) (?:we|i|it|your \w+|the \w+) (?:can|could) (?:still )?(?:be )?"
    r"(?:move|shift|extend|push|reschedule|moved|shifted|rescheduled)\b"
)
WE_HAVE = re.compile(
    r"\b(?:whether|if) we (?:\w+ly |still |also |even )?"
    r"(?:have|offer|carry|sell|stock|do|repair|fix|make|rent|got|can (?:still )?(?:get|order|find))(?: got)? "
    r"(?!to\b|time\b|space\b|room\b)"
)
ASKING_STOCK = re.compile(
    r"(?:with )?(?:the|our) (?:\w+ )?(?:warehouse|stockroom|store|shop|branch)\b.* (?:if|whether) "
)
MEETING_YOU = re.compile(r"you(?: all| both| there| again| then| on| at| in|$)")
TAKING_IN = re.compile(
    r"\b(?:can|could) (?:still )?(?:accommodate|seat|host|(?:put|fit|squeeze|take) (?:you|all|everyone|them))\b"
)
# Facts, not availability: "what the soup is".
FACT = re.compile(
    r"(?:out |up )?(?:who|why|whose|where)\b(?!.*\b(?:free|available|open)\b)"
    r"|(?:out |up )?what (?:the|your|our|his|her|their|is on|it) "
    r"(?!.*\b(?:free|available|open|left|booked|earliest|next|first|slots?|times?|"
    r"calendar|schedule|diary|availability|booking|reservation|appointment)\b)"
)
# Side topics of a booking: "the weather for your booking".
SIDE = re.compile(
    r"(?:the|a|an|our|your|with the) (?!(?:\w+ )?(?:details?|status|date|day|time|info|information|name|number|notes?|history|records?|"
    r"entry|file|system|calendar|book|list|computer|look|check|glance|peek|search|bookings?|reservations?|appointments?)\b)"
    r"\w+ (?:for|with|about|of|during|at|before) your (?:\w+ )?(?:booking|reservation|appointment|visit|stay)\b"
)
CREWS = re.compile(
    r"\b(?:technician|plumber|driver|courier|crew|installer|van)s? (?:\w+ )?(?:serve|cover|reach|come|go)s?\b"
)
OUR_AREA = re.compile(
    r"\b(?:our|the) (?:delivery|service) (?:area|zone|map|radius|region)s?\b|"
    r"\b(?:in|within|inside|outside) (?:our|the) (?:\w+ )?(?:area|zone|range|radius)\b|^(?:up |if |whether |that )?\d{5}\b|^addresses\b"
)
YOUR_AREA = re.compile(r"(?:on |up )?your (?:area|neighbou?rhood|location|region|zone|district)\b")
OPEN_TIME = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midday) (?:o'clock )?(?:slot )?"
    r"(?:is|are) (?:still )?(?:open|free|available)\b|"
    r"\d (?:o'clock )?(?:slot )?(?:is|are) (?:still )?open\b|"
    r"\b(?:anything|something) is (?:still )?(?:open|free|left|available)\b|"
    r"\b(?:what is|what we have|what there is|something|anything|whatever is|which times are) (?:\w+ )?(?:open|free|left|available)\b"
)
FREE_TIME = re.compile(r"\b(?:is|are|still|be|anything|something|someone|anyone) (?:still |also )?free\b")
MORE_OF_IT = re.compile(r"\bany (?:more )?(?:of (?:those|these|the|that|our)|left)\b")
SOLD = re.compile(
    r"\b(?:whether|if|that) (?!there|anything|something|it|that|this|you|we|i)[\w ]{3,40}? (?:is|are) (?:still )?"
    r"(?:offered|in stock|served|sold|left|on the shelf|on the shelves|in store)\b"
)
GOODS = words(
    """
    product products service services item items stock inventory treatment treatments voucher vouchers stocked
    warehouse
    """
)
PERSONAL = words("dr doctor mr mrs ms professor")


def _is_product(clause: Clause) -> bool:
    around = clause.all | {word.removesuffix("'s") for word in clause.all}
    if LEFT_IN.search(clause.whole) or (FREE_AT.search(clause.whole) and (around & TIME or CLOCK.search(clause.whole))):
        return False
    if MORE_OF_IT.search(clause.whole) and not around & (TABLE | TIME):
        return True
    if around & GOODS and (around & HAVING or clause.lemma in CHECK):
        return True
    if FREE_TIME.search(clause.whole) or (OPEN_TIME.search(clause.whole) and around & TIME):
        return False
    if (
        WE_HAVE.search(clause.whole)
        and _leftovers(clause)
        and not around & (TABLE | TIME)
        and not _is_for_people(clause)
    ):
        return True
    if SOLD.search(clause.whole) and not around & PERSONAL:
        return True
    if not around & HAVING or around & (TABLE - words("availability free date time times space")):
        return False
    leftovers = _leftovers(clause) - PERSONAL
    named = re.search(
        r"\b(?:whether|if) (?:the|we have|we have got|we still have|there is|there are|we offer|"
        r"we carry|we sell|we do|we stock|that|our|a|we serve)\b|\bavailability of (?:the|"
        r"that|our|a)\b",
        clause.whole,
    )
    return bool(leftovers) and bool(named) and not _is_for_people(clause)


def _is_for_people(clause: Clause) -> bool:
    return bool(re.search(r"\b(?:for|at) \d+ (?:people|guests|persons)\b", clause.whole))


def _leftovers(clause: Clause) -> set[str]:
    """The content words which are neither time nor table: "the sea bass"."""
    known = EMPTY | TIME | TABLE | HAVING | CHECK
    return {w for w in clause.after if w.isalpha() and len(w) > 2 and w not in known and not w.endswith("ly")}
