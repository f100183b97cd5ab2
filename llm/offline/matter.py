"""What a clause is about: which of the known kinds of action its verb and words name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from llm.offline.grammar.rules import Reading
from llm.offline.grammar.verbs import Form, verb_of


class Matter(StrEnum):
    """A kind of action, as the built-in tools have them."""

    AVAILABILITY = "availability"
    BOOKING = "booking"
    SEARCH = "search"
    CANCEL = "cancel"
    SMS = "sms"
    EMAIL = "email"
    MANAGE_LINK = "manage_link"
    TRANSFER = "transfer"
    MEETING = "meeting"
    ZIP = "zip"
    PRODUCT = "product"
    GOODBYE = "goodbye"


def words(text: str) -> set[str]:
    return set(text.split())


CHECK = words("check look see verify find search pull review run confirm consult double-check recheck browse scan explore investigate inquire enquire take have do know go")
LOOK_UP = words("check look find search pull locate retrieve see verify fetch grab open get bring review")
SEND = words("send forward share shoot drop pop ping fire deliver dispatch write get have provide pass put issue follow give email text message mail sms whatsapp receive arrive come expect go be return reply attach")
TEXTING = words("text sms message whatsapp")
MAILING = words("email mail")
BOOK = words("book reserve pencil rebook schedule")
BOOK_WITH_OBJECT = words("hold keep save secure lock block make create put place add confirm register set arrange complete finalise finalize take get give have process fix enter sign move request")
CANCEL = words("cancel delete remove annul void erase withdraw drop")
TRANSFER = words("transfer connect patch redirect route direct switch relay link hand put pass forward get bring have dial escalate")
MEET = words("schedule arrange organise organize plan book create add put send make fix set have get confirm")
TELL_OFF = words("end close finish wrap hang conclude")

TABLE = words("table tables slot slots seat seats seating space spaces room spot spots opening openings terrace window garden patio indoors outdoors outside inside appointment appointments vacancy vacancies calendar schedule diary date time times availability availabilities timeslot timeslots timetable free agenda chair")
BOOKING = words("booking bookings reservation reservations appointment appointments table spot slot seat seats place reschedule")
BOOKED = words("booking bookings reservation reservations appointment appointments")
TIME = words("monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight evening afternoon morning lunch dinner noon midday weekend week january february march april may june july august september october november december brunch mondays fridays night hour")
SMS_NOUNS = words("text sms texts whatsapp message txt")
PHONE_NOUNS = words("phone mobile cell number smartphone cellphone handset")
EMAIL_NOUNS = words("email emails mail inbox e-mail")
LINK_NOUNS = words("link url page site portal")
MANAGE = words("manage change modify cancel edit update reschedule managing changing modifying cancelling canceling editing updating rescheduling amend amending management move manage-booking self-service")
PEOPLE = words("colleague manager human person someone somebody agent representative owner department team staff host operator supervisor chef specialist reception receptionist nurse doctor sales support anna nello headwaiter maître waiter expert advisor assistant member technician dispatcher")
MEETING = words("meeting meetings call consultation demo invite invitation conference videocall video-call event session zoom")
ZIP = words("zip zipcode postcode postal area region neighbourhood neighborhood location district address town city code zone street radius coverage")
ZIP_VERBS = words("serve cover deliver reach service operate ship come")
PRODUCT = words("product products service services item items stock treatment treatments gift vouchers voucher model colour color size dish bottle wine shelf inventory warehouse repair unit part goods")
HAVING = words("available availability stock have got left offer carry sell stocked provide remaining serve do in-stock free")
BACKCHANNEL = words("kitchen chef cook manager owner team staff colleague colleagues board supplier hours price prices menu weather policy recipe allergens ingredients wine list traffic")
EMPTY = words(
    "i we you he she it they me us him her them my our your the a an this that these those will shall can could may might would should "
    "be am is are was were been being have has had do does did not no and or but if whether to for of in on at by with from about as "
    "so just quickly now also please right away moment second minute while one there here what which when where who how still already then "
    "first next again let check look see find out up into over back got get any some all more still really okay sure yes great perfect "
    "wonderful thank thanks need want like party people guests persons two three four five six seven eight nine ten twelve pm am "
    "p.m. a.m. o'clock day days go ahead our us seven-thirty around before after until both either possible very exactly whole would "
    "time times left tell give know system quick peek offer carry sell open book books latest earliest early late later"
)  # fmt: skip
DETAILS = words("details detail directions address menu information info confirmation summary receipt link everything reminder copy list hours price prices brochure document map number code offer quote invoice answer it that this them instructions notes file picture photo")


@dataclass(frozen=True)
class Clause:
    """The words of a predicate, ready to be matched."""

    lemma: str
    form: Form
    rest: tuple[str, ...]
    after: tuple[str, ...]
    """The rest, and what follows in the sentence up to the next main clause."""

    @property
    def here(self) -> set[str]:
        return set(self.rest)

    @property
    def all(self) -> set[str]:
        return set(self.after)

    @property
    def phrase(self) -> str:
        return " ".join(self.rest)

    @property
    def whole(self) -> str:
        return " ".join(self.after)


def clause_of(reading: Reading, *, reach: int) -> Clause:
    """The words of a reading's clause; `reach` is the word at which the next main clause starts."""
    p = reading.predicate
    texts = [part for word in reading.sentence.words for part in (word.text,)]
    lemma, rest = p.lemma, texts[p.verb_at + 1 : p.end]
    after = texts[p.verb_at + 1 : max(reach, p.end)]
    subject = texts[p.start : p.verb_at] if p.subject.value == "other" else []
    if p.lemma in ("have", "get") and (caused := _caused(rest)):
        lemma = caused
    split = [piece for text in rest for piece in _pieces(text)]
    return Clause(lemma, p.form, tuple([*subject, *split]), tuple([*subject, *(x for t in after for x in _pieces(t))]))


def _pieces(text: str) -> list[str]:
    return text.split("-") if "-" in text and "@" not in text else [text]


def _caused(rest: list[str]) -> str | None:
    """ "I'll have a text sent", "get you booked in": the participle names the deed."""
    for i, text in enumerate(rest[:9]):
        known = verb_of(text)
        if known and known[1] is Form.PAST and i and known[0] not in ("have", "do", "let", "set", "put", "read", "get"):
            return known[0]
    return None


def matters_of(clause: Clause) -> set[Matter]:
    """The kinds of action that the clause names by its own words."""
    found = _sending(clause) | _calling(clause)
    found |= _checking(clause) if clause.lemma in CHECK | LOOK_UP | {"help"} else set()
    found |= _booking(clause)
    if clause.lemma in CANCEL and not clause.here & words("order subscription meeting account name membership"):
        if clause.lemma in ("cancel",) or clause.here & BOOKING:
            found.add(Matter.CANCEL)
    if clause.lemma in words("process handle take do make request arrange submit go proceed") and "cancellation" in clause.here:
        found.add(Matter.CANCEL)
    if clause.lemma == "call" and "off" in clause.here:
        found.add(Matter.CANCEL)
    if clause.lemma == "take" and "off" in clause.here and clause.here & BOOKING:
        found.add(Matter.CANCEL)
    if clause.lemma in TELL_OFF and clause.here & words("call chat conversation"):
        found.add(Matter.GOODBYE)
    if clause.lemma == "say" and clause.here & words("goodbye bye"):
        found.add(Matter.GOODBYE)
    if clause.lemma == "hang" and "up" in clause.here:
        found.add(Matter.GOODBYE)
    return found


# Sending

def _sending(clause: Clause) -> set[Matter]:
    here = clause.here
    by_text = clause.lemma in TEXTING or (clause.lemma in SEND and bool(here & SMS_NOUNS) and not _is_staff_message(clause))
    by_mail = clause.lemma in MAILING or (clause.lemma in SEND and (bool(here & EMAIL_NOUNS) or any("@" in w for w in here)))
    by_phone = clause.lemma in SEND - {"have", "get", "put", "give"} and bool(re.search(r"\b(?:to|on) your (?:\w+ )?(?:phone|mobile|cell|number)", clause.phrase))
    by_phone = by_phone or clause.lemma in ("send", "forward", "drop", "shoot") and bool(re.search(r"\bto \+?\d[\d ]{5,}|to (?:this|that|the same) number", clause.phrase))
    if clause.lemma in TEXTING | MAILING and _is_staff_message(clause):
        return set()
    if clause.lemma in ("have", "put", "be", "go", "get", "give", "take") and _is_address(clause):
        by_mail = by_text = False
    found = {m for m, is_so in ((Matter.SMS, by_text or by_phone), (Matter.EMAIL, by_mail)) if is_so}
    if found == {Matter.SMS, Matter.EMAIL} and not re.search(r"\b(?:and|or|both|plus|also|as well)\b", clause.phrase):
        found = {_nearest_medium(clause)}
    if clause.lemma in SEND and is_manage_link(clause):
        found.add(Matter.MANAGE_LINK)
    if clause.lemma in ("send", "forward") and here & words("invite invitation") and here & words("calendar meeting call"):
        return {Matter.MEETING}
    return found


def _is_address(clause: Clause) -> bool:
    """ "I have your e-mail address", "put your number down": the address itself, no message."""
    return bool(re.search(r"\byour (?:\w+ )?(?:email|mail|phone|mobile|number)", clause.phrase)) and not clause.here & (DETAILS - words("it that this number address list"))


def _is_staff_message(clause: Clause) -> bool:
    """A message to somebody in the house, or the customer's own message, is none to the customer."""
    to_staff = re.search(r"\b(?:to|for) (?:the|our|my) (?:\w+ )?(?:kitchen|chef|manager|owner|team|staff|colleagues?|host|waiter|office|boss)\b", clause.phrase)
    direct = re.match(r"(?:the|our|my) (?:\w+ )?(?:kitchen|chef|manager|owner|team|staff|colleagues?|host|waiter|office|boss)\b", clause.phrase)
    return bool(to_staff or direct or re.search(r"\byour message\b", clause.phrase))


def _nearest_medium(clause: Clause) -> Matter:
    """The first medium named is the one used; the other describes it ("text you the e-mail address")."""
    if clause.lemma in TEXTING:
        return Matter.SMS
    if clause.lemma in MAILING:
        return Matter.EMAIL
    by = re.search(r"\b(?:by|via|per|through|as an?|an|in an?) (\w+)", clause.phrase)
    named = by[1] if by else next((w for w in clause.rest if w in SMS_NOUNS | EMAIL_NOUNS), "")
    return Matter.EMAIL if named in EMAIL_NOUNS else Matter.SMS


def is_manage_link(clause: Clause) -> bool:
    """A link where a booking that exists is managed."""
    around = clause.all
    has_link = bool(around & LINK_NOUNS)
    return has_link and bool(around & MANAGE) and (bool(around & BOOKED | around & words("it table")) or bool(around & words("management self service")))


def is_vague_sending(clause: Clause) -> bool:
    """ "I'll send you the details": no word says how."""
    if clause.lemma not in ("send", "forward", "shoot", "drop", "share"):
        return False
    if _is_staff_message(clause) or "to the" in clause.phrase and not clause.here & words("you your"):
        return False
    return bool(clause.here & words("you your") or clause.here & words("it that over them")) and bool(clause.here & DETAILS)


# Connecting

def _calling(clause: Clause) -> set[Matter]:
    here, phrase = clause.here, clause.phrase
    if clause.lemma in ("transfer", "connect", "patch", "redirect", "route", "direct", "switch", "relay", "escalate"):
        is_call = bool(here & words("you your call calls caller customer line them")) or bool(here & PEOPLE) or not here
        if is_call and not here & words("money funds amount payment website page"):
            return {Matter.TRANSFER}
    if clause.lemma in ("put", "patch", "get") and re.search(r"\b(?:you|your call|the call|call|them|caller)\b.*\b(?:through|in touch|on to|onto)\b|through to|\bon the line\b|\bon the phone\b", phrase):
        return {Matter.TRANSFER}
    if clause.lemma in ("hand", "pass") and re.search(r"\byou (?:over|on|across|to)\b|\b(?:your|the|this) call\b|over to (?:a|my|our|the)", phrase):
        return {Matter.TRANSFER}
    if clause.lemma == "forward" and re.match(r"(?:you|your call|the call|this call)(?: (?:to|on|over)|$)", phrase):
        return {Matter.TRANSFER}
    if clause.lemma in ("get", "bring", "fetch", "find", "grab", "have") and here & PEOPLE and re.search(r"\bfor you\b|\bto you\b|\bon (?:the|this) (?:line|call|phone)\b|\bto (?:speak|talk|take (?:this|your|over))\b|\bin(?:to)? (?:the|this) call\b|take (?:over|your call|this call)", clause.whole):
        return {Matter.TRANSFER}
    return set()


# Checking

def _checking(clause: Clause) -> set[Matter]:
    around, whole = clause.all, clause.whole
    if clause.lemma in ("have", "take", "do", "run", "go", "get", "give", "open", "bring", "know") and not around & words("look check peek glance search through calendar book"):
        return set()
    if _is_zip(around, whole):
        return {Matter.ZIP}
    if _is_search(clause):
        return {Matter.SEARCH}
    if _is_product(clause):
        return {Matter.PRODUCT}
    return {Matter.AVAILABILITY} if _is_availability(clause) else set()


def _is_zip(around: set[str], whole: str) -> bool:
    if around & words("zip zipcode postcode postal"):
        return True
    reaches = bool(around & ZIP_VERBS | around & words("delivery covered served deliver delivers covers serves within coverage radius reach"))
    place = bool(around & (ZIP - {"code"})) or bool(re.search(r"\b(?:to|in|at) (?:your|that|this|the) (?:area|address|street|city|town|place|neighbou?rhood|home|house)\b|\b\d{5}\b|\bin \w+$|\bto \w+$|\bthere\b", whole))
    return reaches and place and "table" not in around


def _is_search(clause: Clause) -> bool:
    around, whole = clause.all, clause.whole
    if "availability" in around or clause.lemma not in LOOK_UP | {"have", "take", "do", "run"}:
        return False
    if re.search(r"\b(?:your|the|that|his|her|their|this|existing|a|any|under|upcoming) (?:\w+ ){0,2}(?:bookings?|reservations?|appointments?)\b", whole):
        return not re.search(r"\b(?:for a|new|make a|take) (?:booking|reservation)|(?:available|free) (?:for|appointments?|slots?)|(?:available|free|open|possible|earliest|next) appointments?|appointments? (?:available|free|open|times?|slots?)|(?:booking|reservation) (?:calendar|book|system|availability)\b|if (?:we|there)", whole)
    return bool(re.search(r"\b(?:booking|reservation)s? (?:under|for|in|from|on|number|with|details)\b|\b(?:what|when|anything|something) you(?:'ve| have)? (?:booked|reserved)|\byour table\b.*\b(?:under|booked)|\bunder (?:your|the|that) (?:name|number)\b|\byou (?:have|are) (?:booked|down)\b", whole))


def _is_availability(clause: Clause) -> bool:
    around, whole = clause.all, clause.whole
    if around & BACKCHANNEL and not around & words("availability available free table tables slot slots"):
        return False
    if around & words("available availability availabilities") or around & (TABLE - words("date time times")):
        return True
    timed = bool(around & TIME) or bool(re.search(r"\b(?:at|for|around|by) \d|\d ?[ap]\.?m|\d[:.]\d\d|\b\d+(?:st|nd|rd|th)\b", whole))
    return timed or bool(re.search(r"\b(?:date|dates|times?)\b", whole)) or "fit you in" in whole or "squeeze you in" in whole


def _is_product(clause: Clause) -> bool:
    around = clause.all
    strong = around & words("product products service services item items stock inventory treatment treatments voucher vouchers stocked warehouse")
    if strong and (around & HAVING or clause.lemma in CHECK):
        return True
    if not around & HAVING or around & (TABLE - words("availability free room date time times space")):
        return False
    leftovers = _leftovers(clause)
    named = re.search(r"\b(?:whether|if) (?:the|we have|we have got|we still have|there is|there are|we offer|we carry|we sell|we do|we stock|that|our|a|we serve)\b|\bavailability (?:of|for) (?:the|that|our|a)\b", clause.whole)
    return bool(leftovers) and bool(named) and not re.search(r"\b(?:for|at) \d+ (?:people|guests|persons)\b", clause.whole)


def _leftovers(clause: Clause) -> set[str]:
    """The content words which are neither time nor table: "the sea bass"."""
    known = EMPTY | TIME | TABLE | HAVING | CHECK
    return {w for w in clause.after if w.isalpha() and len(w) > 2 and w not in known and not w.endswith("ly")}


# Booking

def _booking(clause: Clause) -> set[Matter]:
    here, phrase = clause.here, clause.phrase
    if clause.lemma in MEET and here & MEETING and "call off" not in phrase and not _calling(clause):
        if not (clause.lemma in ("send", "have", "get", "add", "put", "make") and not here & words("meeting invite invitation calendar consultation demo")):
            return {Matter.MEETING}
    if clause.lemma == "send" or clause.lemma in TEXTING | MAILING:
        return set()
    if clause.lemma in BOOK:
        return set() if here & words("taxi cab hotel flight parking") else {Matter.BOOKING}
    if clause.lemma in ("put", "pencil") and re.search(r"\b(?:you|your name|that|it|everyone) (?:down|in)\b", phrase):
        return {Matter.BOOKING}
    if clause.lemma == "get" and re.search(r"\byou (?:in|a table|booked|seated|that table|the table)\b", phrase):
        return {Matter.BOOKING}
    if clause.lemma in BOOK_WITH_OBJECT and here & BOOKING and not here & words("note notes request question mind calendar link details waiting waitlist confirmation"):
        return {Matter.BOOKING} if _makes_booking(clause) else set()
    if clause.lemma in ("hold", "keep", "save") and re.match(r"(?:it|that|this|one|the \w+) (?:for|under|in) (?:you|your|\w+)", phrase):
        return {Matter.BOOKING} if not here & words("mind touch short brief line") else set()
    if clause.lemma in ("confirm", "finalise", "finalize", "complete") and re.match(r"(?:it|that|this|everything)\b", phrase) and here & (TIME | words("you your")):
        return {Matter.BOOKING}
    return set()


def _makes_booking(clause: Clause) -> bool:
    if clause.lemma in ("take", "have", "give", "get", "process", "set", "add", "enter", "fix", "request"):
        return bool(re.search(r"\b(?:a|the|your|that|this) (?:\w+ ){0,2}(?:booking|reservation|table|spot|slot|appointment|place|seat)", clause.phrase))
    return True
