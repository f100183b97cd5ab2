"""Entity extraction: names, phone numbers, e-mail addresses, days, times and party sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from offline_model.wordlist import listed, words

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
PHONE = re.compile(r"(?<![\w.@])(?:\+|00)?\(?\d[\d\s()./-]{5,18}\d(?![\w@])")
DATE_LIKE = re.compile(r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$|^\d{1,2}[.:]\d{2}(?:\s*-\s*\d{1,2}[.:]\d{2})?$")
# A dot after a title or an initial doesn't end the sentence.
CAP = r"(?:(?:Dr|Mrs?|Ms|Prof|St|[A-ZÀ-ÖØ-ÞŁŚŻŹ])\.|[A-ZÀ-ÖØ-ÞŁŚŻŹ](?:[\w'’.-]*[\w'’-])?)"
NAME = rf"{CAP}(?:\s+(?:(?:de|di|da|van|von|der|den|del|della|la|le|el|al|bin|mc)\s+)*{CAP}){{0,3}}"
NAME_ANY = r"[^\W\d_][\w'’-]*(?:\s+[^\W\d_][\w'’-]*){0,2}"
INTRODUCED_BY = (
    r"my(?: full| last| first)? name(?: is|'s|’s)|the name(?: is|'s|’s)|name:|name is|i am called|i'm called|call me",
    r"it's under|under the name(?: of)?|under(?: the)?|in the name of|on the name",
    r"mi chiamo|sono|il mio nome è|a nome(?: di)?",
    r"ich heiße|ich bin|mein name ist|auf den namen",
    r"je m'appelle|je m’appelle|je suis|mon nom est|au nom de",
    r"me llamo|mi nombre es|soy|a nombre de|chamo-me|meu nome é",
    r"mijn naam is|ik ben|ik heet|nazywam się|mam na imię",
)
INTRODUCTION = re.compile(rf"(?i:\b(?:{'|'.join(INTRODUCED_BY)}))\s+({NAME})")
FULL_NAME = re.compile(rf"{CAP}(?:\s+(?:(?:de|di|da|van|von|der|den|del|della|la|le|el|al|bin|mc)\s+)*{CAP}){{1,3}}")
SELF = re.compile(
    rf"(?i:\b(?:i am|i'm|i’m|this is|here is|it is|it's|it’s))\s+({NAME})(?P<speaking>(?i:,? (?:speaking|here|calling)))?"
)
TRAILING = re.compile(rf"^\W*({NAME})(?i:,? (?:here|speaking|calling))\b")
LOWER_INTRODUCTION = re.compile(
    rf"(?i:\bmy name(?: is|'s|’s)|\bmi chiamo|\bich heiße|\bje m'appelle|\bme llamo)\s+({NAME_ANY})"
)
NOT_NAMES = words(
    """
    i a the yes no ok okay sure thanks thank please hello hi hey good fine great perfect not just at from here for
    and but looking calling vegan vegetarian gluten celiac coeliac allergic interested sorry happy glad writing
    trying hungry late running coming going in on an available free ready back back monday tuesday wednesday
    thursday friday saturday sunday today tomorrow tonight january february march april may june july august
    september october november december rome roma italy italian english german french spanish wondering afraid
    pregnant outside inside near actually still already so very really also my our your me you we it that stasera
    domani ciao buongiorno buonasera vegano vegana celiaco celiaca friday's bonjour hallo hola danke merci grazie
    gracias table book maybe nothing wait what when where who how why which correct right bye goodbye cheers nope nein non
    never forget skip stop cancel none tschüss wiedersehen arrivederci revoir adiós adios
    """
)
NAME_QUESTION = re.compile(
    r"\b(?:name|nome|namen|nom|nombre|naam|who am i speaking|who is this|how shall i call|whom)\b", re.IGNORECASE
)

WEEKDAYS = listed("monday tuesday wednesday thursday friday saturday sunday")
DAY_NAMES = {
    **{day: i for i, day in enumerate(WEEKDAYS)},
    **{day[:3]: i for i, day in enumerate(WEEKDAYS)},
    **{day: i for i, day in enumerate(listed("lunedì martedì mercoledì giovedì venerdì sabato domenica"))},
    **{day: i for i, day in enumerate(listed("montag dienstag mittwoch donnerstag freitag samstag sonntag"))},
    **{day: i for i, day in enumerate(listed("lundi mardi mercredi jeudi vendredi samedi dimanche"))},
    **{day: i for i, day in enumerate(listed("lunes martes miércoles jueves viernes sábado domingo"))},
    "tues": 1,
    "thurs": 3,
    "thur": 3,
}
RELATIVE = {
    "today": 0,
    "tonight": 0,
    "this evening": 0,
    "tomorrow": 1,
    "oggi": 0,
    "stasera": 0,
    "domani": 1,
    "heute": 0,
    "heute abend": 0,
    "aujourd'hui": 0,
    "ce soir": 0,
    "demain": 1,
    "hoy": 0,
    "esta noche": 0,
}
MONTHS = listed("january february march april may june july august september october november december")
DAY = re.compile(
    r"\b(?:(?:this|next|on) )?((?:"
    + "|".join(sorted((re.escape(d) for d in DAY_NAMES if len(d) > 3), key=len, reverse=True))
    + r"|mon|tue|wed|thu|fri|sat|sun)s?|"
    + "|".join(sorted(map(re.escape, RELATIVE), key=len, reverse=True))
    + r"|\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:"
    + "|".join(MONTHS)
    + r")|(?:"
    + "|".join(MONTHS)
    + r") \d{1,2}(?:st|nd|rd|th)?|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?(?=\s|$|,))\b",
    re.IGNORECASE,
)
CLOCK = r"\d{1,2}(?:[:.h]\d{2})?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock|uhr|heures?|h)|\d{1,2}[:.]\d{2}|noon|midday"
HOUR_WORD = r"\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half past \w+"
AT = r"at|around|about|by|alle(?: ore)?|um|à|a las|às|gegen"
PERSONS = r"people|guests|persons|of us|euro|€|persone|personen"
TIME = re.compile(
    rf"\b(?:(?:{AT}|for|from)\s+)?({CLOCK})(?!\w)|\b(?:{AT})\s+({HOUR_WORD})\b(?!\s*(?:{PERSONS}))",
    re.IGNORECASE,
)
NUMBERS = {
    word: i for i, word in enumerate(listed("zero one two three four five six seven eight nine ten eleven twelve"))
}
NUMBERS |= {"twenty": 20, "both": 2, "couple": 2, "dozen": 12, "fifteen": 15}
NUMBERS |= {"due": 2, "tre": 3, "quattro": 4, "cinque": 5, "sei": 6, "otto": 8, "dieci": 10}
NUMBERS |= {"zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "acht": 8}
NUMBERS |= {"deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5}
COUNT = r"(\d{1,3}|" + "|".join(sorted(NUMBERS, key=len, reverse=True)) + r")"
FOR_COUNT = (
    r"table for|party of|for|we(?:'re| are| will be|'ll be)|group of|seats? for|per|für|pour|para|in|siamo(?: in)?|"
    r"wir sind|nous sommes|somos"
)
NO_COUNT = (
    r"[:.]\d|am\b|pm\b|a\.m|p\.m|o'clock|uhr|heures?|h\b|st\b|nd\b|th\b|euro|€|minutes?|hours?|days?|nights?|weeks?|"
    + "|".join(MONTHS)
)
COUNTED = r"people|persons?|guests?|adults|of us|pax|diners|persone|personen|leute|personnes|personas|pessoas"
PARTY = re.compile(rf"\b(?:{FOR_COUNT})\s+{COUNT}\b(?!\s*(?:{NO_COUNT}))|\b{COUNT}\s+(?:{COUNTED})\b", re.IGNORECASE)
DIETS = (
    r"vegan|vegetarian|pescatarian|halal|kosher|gluten[- ]free|lactose[- ](?:free|intolerant)|coeliac|celiac|dairy[- ]free",
    r"vegano|vegana|vegetariano|celiaco|vegetarisch|végétarien\w*",
    r"(?:severely |very )?allergic to [\w ]{3,30}?(?=[,.;!?]|$| and\b)|allergy to \w+|intolerant to \w+",
    r"(?:nut|peanut|shellfish|egg|milk|fish|sesame|soy)s? allergy",
)
DIET = re.compile(rf"\b(?:\w+ (?:of us )?(?:is|are|am) )?(?:{'|'.join(DIETS)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Entity:
    """Extracted value with its exact quote."""

    value: str
    quote: str


def find_email(text: str) -> Entity | None:
    match = EMAIL.search(text)
    return Entity(match[0].rstrip("."), match[0].rstrip(".")) if match else None


def find_phone(text: str) -> Entity | None:
    """A phone number as it was written: at least seven digits, no date, no price."""
    for match in PHONE.finditer(EMAIL.sub(lambda m: " " * len(m[0]), text)):
        raw = match[0].strip(" .-/")
        digits = sum(c.isdigit() for c in raw)
        if 7 <= digits <= 15 and not DATE_LIKE.match(raw) and raw.count("(") == raw.count(")"):
            return Entity(raw, raw)
    return None


def find_name(text: str, *, asked: bool) -> Entity | None:
    """Name of the customer; `asked` also accepts a bare name."""
    for pattern in (INTRODUCTION, TRAILING, SELF, LOWER_INTRODUCTION):
        for match in pattern.finditer(text):
            name = _clean(match[1])
            if name:
                return Entity(name, match[0].strip(" ,.") if pattern is not TRAILING else name)
    return _name_beside_contact(text) or (_bare_name(text) if asked else None)


def _name_beside_contact(text: str) -> Entity | None:
    """ "Max Lind, 347 555 0123": a full name beside a number or an address, on its own."""
    rest = EMAIL.sub("\n", text)
    number = find_phone(rest)
    if number is None and rest == text:
        return None
    rest = rest.replace(number.quote, "\n") if number else rest
    parts = (part.strip(" .!;:-") for part in re.split(r"[,;\n]|\band\b", rest))
    found = next((part for part in parts if FULL_NAME.fullmatch(part) and _clean(part) == part), "")
    return Entity(found, found) if found else None


def _clean(raw: str) -> str:
    words: list[str] = []
    for word in raw.strip(" .,'").split():
        if word.lower().strip(".,'") in NOT_NAMES:
            break
        words.append(word.strip(","))
    name = " ".join(words).rstrip(".")
    return name if name and not any(c.isdigit() for c in name) else ""


def _bare_name(text: str) -> Entity | None:
    if text.rstrip().endswith("?"):
        return None
    opening = re.split(r"[.,!?;\n]| and | e | und ", text.strip(), maxsplit=1)[0].strip()
    opening = re.sub(
        r"^(?:it's|it’s|its|yes|sure|ok|okay|under|for|of course|on|per)\s+", "", opening, flags=re.IGNORECASE
    )
    words = opening.split()
    if not 1 <= len(words) <= 4 or any(
        w.lower().strip(".,") in NOT_NAMES or any(c.isdigit() for c in w) or "@" in w for w in words
    ):
        return None
    if not all(re.fullmatch(r"[^\W\d_][\w'’.-]*", w) for w in words) or (len(words) > 2 and not words[0][0].isupper()):
        return None
    return Entity(opening, opening)


def find_day(text: str) -> Entity | None:
    match = DAY.search(text)
    return Entity(re.sub(r"^on ", "", match[0].strip(), flags=re.IGNORECASE), match[0].strip()) if match else None


def find_time(text: str) -> Entity | None:
    for match in TIME.finditer(text):
        value = match[1] or match[2]
        return Entity(value.strip(), match[0].strip())
    return None


def find_party(text: str) -> Entity | None:
    match = PARTY.search(PHONE.sub(lambda m: " " * len(m[0]), text))
    if not match:
        return None
    raw = (match[1] or match[2]).lower()
    return Entity(str(NUMBERS.get(raw, raw)), match[0].strip())


def find_diet(text: str) -> Entity | None:
    match = DIET.search(text)
    return Entity(match[0].strip(), match[0].strip()) if match else None
