"""Parser for business descriptions: opening hours, items, prices and matching sentences."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from offline_model.entities import DAY_NAMES
from offline_model.wordlist import words

DAY_PATTERN = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
DAY_SPAN = re.compile(rf"\b({DAY_PATTERN})(?:\s*(to|through|until|[-–—])\s*({DAY_PATTERN}))?\b", re.IGNORECASE)
HOUR_RANGE = re.compile(
    r"\b(\d{1,2}(?:[:.]\d{2})?\s*(?:am|pm)?)\s*(?:to|until|[-–—])\s*(\d{1,2}(?:[:.]\d{2})?\s*(?:am|"
    r"pm)?|midnight)",
    re.IGNORECASE,
)
EVERY_DAY = re.compile(r"\b(?:daily|every day|seven days|7 days)\b", re.IGNORECASE)
PRICE = r"(?:[€$£]\s?\d+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?\s?(?:€|EUR|euros?|dollars?|USD|CHF))"
ITEM = re.compile(
    rf"(?:^|(?<=[.;]\s))\s*[-*•]?\s*(?P<name>[^:.;\n€$£]{{3,90}}?)\s*(?::|–|—|\.\.+|-)\s*(?P<price>{PRICE})\s*(?:\((?P<notes>[^)]*)\))?",
    re.MULTILINE,
)
# A dot in a number, an address or a title doesn't end the sentence.
SENTENCE = re.compile(r"(?=[^.!?\n])(?:\b(?:Dr|Mrs?|Ms|Prof|St)\.|\.(?=\w)|[^.!?\n])+[.!?]?")
STOP = words(
    """
    the a an is are was do does did you your i my me we our it its this that there have has had can could would
    will may of to in on at for from with and or but what when where who how which why please tell know like want
    need get any some much many about hi hello hey good evening morning afternoon thanks thank just also if be so
    not no yes ok okay them they he she one by as up out let us am i'm i'd it's what's where's there's today
    tonight tomorrow guys place restaurant
    """
)
TOPICS: tuple[frozenset[str], ...] = (
    words(
        """
    address located location where find directions street via metro station get reach map
    """
    ),
    words("park parking garage car"),
    words("phone call telephone number"),
    words("email mail e-mail write"),
    words("price cost costs charge fee pay much expensive €"),
    words("card cards cash cheque visa mastercard payment pay bancomat amex contactless"),
    words("dog dogs pet pets animal cat"),
    words("child children kid kids baby babies high chair stroller"),
    words("wheelchair accessible accessibility step ramp disabled stairs"),
    words("deliver delivery takeaway take away takeout"),
    words("voucher vouchers"),
    words("deposit group groups large party"),
    words("cancel cancellation change late free"),
    words("terrace outside outdoor outdoors garden"),
    words("holiday holidays christmas closed new year december"),
    words("seat seats capacity many big size"),
    words("insurance insurances covered"),
    words("appointment appointments visit"),
    words("return returns refund exchange"),
    words("shipping ship delivery days"),
    words("wifi internet wi-fi"),
    words("split bill"),
    words("wine wines drink drinks bottle beer"),
    words("allergy allergies allergic allergen allergens traces nuts nut"),
)
# Not a card to pay with.
GIFT_CARD = re.compile(r"\bgift[ -]?(?:card|voucher|certificate)")
DIETS = {
    "vegan": ("vegan",),
    "vegano": ("vegan",),
    "vegana": ("vegan",),
    "vegani": ("vegan",),
    "végan": ("vegan",),
    "vegetarian": ("vegetarian", "vegan"),
    "vegetariano": ("vegetarian", "vegan"),
    "vegetarisch": ("vegetarian", "vegan"),
    "végétarien": ("vegetarian", "vegan"),
    "gluten": ("gluten",),
    "glutenfrei": ("gluten",),
    "glutine": ("gluten",),
    "celiac": ("gluten",),
    "coeliac": ("gluten",),
    "celiaco": ("gluten",),
    "lactose": ("lactose",),
    "halal": ("halal",),
}


@dataclass(frozen=True)
class Item:
    """Something with a price: a dish, a treatment, a product."""

    name: str
    price: str
    notes: str

    @property
    def line(self) -> str:
        return f"{self.name} at {self.price}" + (f" ({self.notes})" if self.notes else "")


@lru_cache(maxsize=64)
def items(context: str) -> tuple[Item, ...]:
    found = ITEM.finditer(context)
    return tuple(Item(m["name"].strip(" -*•"), m["price"].strip(), (m["notes"] or "").strip()) for m in found)


@lru_cache(maxsize=64)
def opening_hours(context: str) -> dict[int, str]:
    """Opening hours by weekday (0 is Monday), verbatim, or "closed"."""
    hours: dict[int, str] = {}
    for line in re.split(r"[\n;]|(?<=[a-z\d])\.(?=\s)", context):
        spans = list(DAY_SPAN.finditer(line))
        every = EVERY_DAY.search(line)
        if not (spans or every) or not (HOUR_RANGE.search(line) or re.search(r"\bclosed\b", line, re.IGNORECASE)):
            continue
        for days, said in _parts(line, spans, bool(every)):
            hours.update({day: hours.get(day, said) for day in days})
    return hours


def _parts(line: str, spans: list[re.Match[str]], every: bool) -> list[tuple[list[int], str]]:
    """Days and hours of a line, split at its day names."""
    if not spans:
        said = _hours_in(line)
        return [(list(range(7)), said)] if every and said else []
    found: list[tuple[list[int], str]] = []
    waiting: list[int] = []
    for at, span in enumerate(spans):
        end = spans[at + 1].start() if at + 1 < len(spans) else len(line)
        waiting += _days(span)
        said = _hours_in(line[span.end() : end])
        if said:
            found.append((waiting, said))
            waiting = []
    if waiting and (before := _hours_in(line[: spans[0].start()])):
        found.append((waiting, before))
    return found


def _days(span: re.Match[str]) -> list[int]:
    first = DAY_NAMES[span[1].lower()[:3]]
    if not span[3]:
        return [first]
    last = DAY_NAMES[span[3].lower()[:3]]
    return [(first + i) % 7 for i in range((last - first) % 7 + 1)]


def _hours_in(text: str) -> str:
    ranges = [f"{m[1].strip()} to {m[2].strip()}" for m in HOUR_RANGE.finditer(text)]
    if ranges:
        return " and ".join(ranges)
    return "closed" if re.search(r"\bclosed\b", text, re.IGNORECASE) else ""


def week_groups(context: str) -> list[tuple[int, int, str]]:
    """The week as (first day, last day, hours), days with the same hours together."""
    hours = opening_hours(context)
    groups: list[tuple[int, int, str]] = []
    for day in sorted(hours):
        if groups and groups[-1][2] == hours[day] and groups[-1][1] == day - 1:
            groups[-1] = (groups[-1][0], day, hours[day])
        else:
            groups.append((day, day, hours[day]))
    return groups


def content_words(text: str) -> set[str]:
    return {_singular(w) for w in plain_words(text) if w not in STOP and len(w) > 1}


def is_about(answer: str, question: str) -> bool:
    """True if an answer covers at least half of the question's content words, compared by prefix."""
    asked, said = ({word[:4] for word in content_words(text)} for text in (question, answer))
    return bool(answer) and 2 * len(asked & said) >= len(asked)


def covers(answer: str, question: str) -> bool:
    """True if an answer covers half of the question's content words, a word of the same topic included."""
    asked, said = content_words(question), content_words(answer)
    related = {_singular(w) for topic in TOPICS if said & {_singular(w) for w in topic} for w in topic}
    starts = {word[:4] for word in said}
    covered = {word for word in asked if word[:4] in starts or word in related}
    return bool(answer) and 2 * len(covered) >= len(asked)


def plain_words(text: str) -> set[str]:
    """The words in lower case, without accents."""
    folded = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    folded = GIFT_CARD.sub("voucher", folded)
    return {w.strip("'’-") for w in re.findall(r"[^\W\d_][\w'’-]*", folded)}


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def asked_items(context: str, question: str) -> list[Item]:
    """The items that the question names, the best match first."""
    asked = content_words(question)
    scored = []
    for item in items(context):
        named = content_words(item.name.split(",")[0])
        overlap = named & asked
        if overlap and (len(overlap) / len(named) >= 0.5 or len(overlap) >= 2):
            scored.append((len(overlap) / len(named), item))
    best = max((score for score, _ in scored), default=0.0)
    return [item for score, item in sorted(scored, key=lambda pair: -pair[0]) if score >= best * 0.9]


def diet_items(context: str, question: str) -> tuple[str, list[Item]] | None:
    """The items that the context marks as fit for the diet the question names."""
    words = re.findall(r"[^\W\d_]+", question.lower())
    key = next((word for word in words if word in DIETS), "")
    if not key:
        return None
    fit = [item for item in items(context) if any(mark in item.notes.lower() for mark in DIETS[key])]
    return ("gluten-free" if DIETS[key] == ("gluten",) else DIETS[key][0]), fit


def best_sentences(texts: list[str], question: str) -> list[str]:
    """The two sentences at most that answer the question best; empty if none matches."""
    asked = content_words(question)
    topics = [topic for topic in TOPICS if plain_words(question) & topic or asked & {_singular(w) for w in topic}]
    scored = []
    for at, sentence in enumerate(sentences_of(texts)):
        said = content_words(sentence)
        direct = len(asked & said)
        related = sum(bool({_singular(w) for w in topic} & said) for topic in topics)
        score = 2.0 * direct + 1.5 * related
        if score:
            scored.append((-(score - len(said) * 0.02), at, sentence))
    scored.sort()
    if not scored or -scored[0][0] < 1.2:
        return []
    best = -scored[0][0]
    return [sentence for negative, _, sentence in scored[:2] if -negative >= best * 0.85]


def sentences_of(texts: list[str]) -> list[str]:
    """The sentences of the texts, verbatim."""
    found = []
    for text in texts:
        for line in text.splitlines():
            found += [m[0].strip(" -*•") for m in SENTENCE.finditer(line) if len(m[0].strip()) > 8]
    return [s for s in found if not s.endswith(":")]
