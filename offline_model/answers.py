"""Answers to questions about the business, from its own description."""

from __future__ import annotations

import re

from offline_model.agent_notes import is_note
from offline_model.business import (
    Item,
    asked_items,
    best_sentences,
    covers,
    diet_items,
    is_about,
    items,
    opening_hours,
    sentences_of,
    week_groups,
)
from offline_model.entities import DAY_NAMES, MONTHS, WEEKDAYS, find_day
from offline_model.phrases import day_word, days_in, hours_in, phrase
from offline_model.prompt_reader import last_of
from offline_model.reply_context import ReplyContext

HOURS = re.compile(
    r"\b(?:open|opening|hours|close[sd]?|closing|aperti|aperto|orari\w*|chius\w+|geöffnet|öffnungszeiten|"
    r"offen|ouvert\w*|horaires|ferm\w+|abiert\w+|abren|horario\w*|abrís|how late|what time "
    r"do you)\b",
    re.IGNORECASE,
)
HOLIDAY = re.compile(
    r"\b(?:christmas|holidays?|new year\S*|easter|natale|capodanno|weihnachten|silvester|noël|"
    r"navidad)\b",
    re.IGNORECASE,
)
MENU = re.compile(
    r"\b(?:menu|menù|carte|speisekarte|carta|dishes|serve|what (?:can|do) (?:we|i|you) (?:eat|"
    r"have)|prices|price list|services|treatments)\b",
    re.IGNORECASE,
)
OFFER = re.compile(
    r"\bwhat (?:do|can|does) (?:you|your \w+) (?:offer|do|sell|provide)\W*$|\bwas (?:bieten|machen) sie\b|"
    r"\b(?:che )?cosa (?:offrite|fate)\b|\bqué (?:ofrecen|hacen)\b|\bque (?:proposez|faites)-vous\b",
    re.IGNORECASE,
)
# The sentences of the business that say what it offers.
OFFER_SENTENCES = 2
AND_THEN = re.compile(r"^\W*(?:and|what about|how about|und|e|et|y)\b", re.IGNORECASE)
LONGEST_ELLIPSIS = 5
HOLIDAYS = (
    (r"\bchristmas eve\b|\bheiligabend\b|\bvigilia\b|\bnochebuena\b", "24 December"),
    (r"\bchristmas\b|\bnatale\b|\bweihnachten\b|\bnoël\b|\bnavidad\b", "25 December"),
    (r"\bboxing day\b", "26 December"),
    (r"\bnew year\W?s eve\b|\bsilvester\b|\bnochevieja\b", "31 December"),
    (r"\bnew year|\bcapodanno\b|\bneujahr\b|\bnouvel an\b|\baño nuevo\b", "1 January"),
)
DATE = re.compile(
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{'|'.join(MONTHS)})|"
    rf"(?P<month_first>{'|'.join(MONTHS)}) (?P<day_last>\d{{1,2}})",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"\?|^\W*(?:(?:so|and|but|then|ok|okay|well)\W+)*(?:what|when|where|who|how|which|why|is|are|do|does|can|could|have|has|will|would|"
    r"tell me|i(?:'d| would) like to know|any)\b|\b(?:do you|are you|is there|can (?:i|we)|"
    r"what(?:'s| is)|where|how much|quanto|dove|wo|où|dónde|was kostet|combien|cuánto)\b",
    re.IGNORECASE,
)
TRANSLATED = {
    "dove": "address",
    "indirizzo": "address",
    "wo": "address",
    "adresse": "address",
    "où": "address",
    "dónde": "address",
    "dirección": "address",
    "parcheggio": "parking",
    "parken": "parking",
    "parkplatz": "parking",
    "aparcamiento": "parking",
    "cani": "dog",
    "hund": "dog",
    "hunde": "dog",
    "chien": "dog",
    "perro": "dog",
    "perros": "dog",
    "bambini": "children",
    "kinder": "children",
    "enfants": "children",
    "niños": "children",
    "terrazza": "terrace",
    "terrasse": "terrace",
    "terraza": "terrace",
    "carte": "card",
    "karte": "card",
    "tarjeta": "card",
    "telefono": "phone",
    "telefon": "phone",
    "téléphone": "phone",
    "teléfono": "phone",
}


def answer_question(turn: ReplyContext) -> str:
    """Answer to the customer's question, or an empty string."""
    text = turn.said
    for answer in (_hours, _diet, _dishes):
        if found := answer(turn, text):
            return found
    if not QUESTION.search(text):
        return ""
    return _menu(turn, text) or _from_context(turn, text) or _offer(turn, text)


def is_answered(turn: ReplyContext) -> bool:
    """True if the business context answers the question directly."""
    text = turn.said
    is_exact = any(answer(turn, text) for answer in (_hours, _diet, _dishes, _menu, _offer))
    return is_exact or is_about(_from_context(turn, text), text)


def _hours(turn: ReplyContext, text: str) -> str:
    week = opening_hours(turn.context)
    if not week or not (_asks_hours(turn, text) or HOLIDAY.search(text)):
        return ""
    if dated := _dated(turn, text):
        return dated
    if HOLIDAY.search(text):
        return ""
    day = _day_of(text, turn.clock[0])
    if day is None:
        return phrase("hours_all", turn.language, hours=_week(turn))
    name = day_word(WEEKDAYS[day].title(), turn.language)
    said = week.get(day, "")
    if not said:
        return ""
    if said == "closed":
        return phrase("closed_day", turn.language, day=name)
    return phrase("hours_day", turn.language, day=name, hours=hours_in(said, turn.language))


def _asks_hours(turn: ReplyContext, text: str) -> bool:
    """True for a question about hours, and for "and on Tuesday?" right after one."""
    goes_on = AND_THEN.match(text) and len(text.split()) <= LONGEST_ELLIPSIS and find_day(text)
    return bool(HOURS.search(text) or (goes_on and HOURS.search(last_of(turn.before, "customer"))))


def _dated(turn: ReplyContext, text: str) -> str:
    """The sentence of the business about a date, such as 25 December; empty if it names none."""
    found = find_day(text)
    holiday = next((day for pattern, day in HOLIDAYS if re.search(pattern, text, re.IGNORECASE)), "")
    named = DATE.search(found.value if found else "") or DATE.search(holiday)
    if named is None:
        return ""
    month, day = (named["month"] or named["month_first"]).lower(), named["day"] or named["day_last"]
    is_named = re.compile(rf"\b{int(day)}\b[^.]*\b{month}\b|\b{month} {int(day)}\b", re.IGNORECASE)
    return next((one for one in sentences_of([turn.context]) if is_named.search(one)), "")


def _week(turn: ReplyContext) -> str:
    parts = (
        days_in(first, last, turn.language) + " " + hours_in(said, turn.language)
        for first, last, said in week_groups(turn.context)
    )
    return ", ".join(parts)


def _day_of(text: str, today: str) -> int | None:
    found = find_day(text)
    if found is None:
        if re.search(r"\b(?:now|today|right now|tonight)\b", text, re.IGNORECASE) and today:
            return WEEKDAYS.index(today.lower())
        return None
    key = re.sub(r"^(?:this|next|on)\s+", "", found.value.lower())
    if key in ("tomorrow", "domani", "morgen", "demain", "mañana") and today:
        return (WEEKDAYS.index(today.lower()) + 1) % 7
    if key in ("today", "tonight", "oggi", "stasera", "heute", "hoy", "aujourd'hui", "ce soir") and today:
        return WEEKDAYS.index(today.lower())
    singular = key if key in DAY_NAMES else key.removesuffix("s")
    return DAY_NAMES.get(singular)


def _diet(turn: ReplyContext, text: str) -> str:
    found = diet_items(turn.context, text)
    if found is None or not (QUESTION.search(text) or HOURS.search(text)):
        return ""
    diet, fit = found
    if not items(turn.context):
        return ""
    if not fit:
        return phrase("diet_none", turn.language, diet=diet)
    answer = phrase("diet", turn.language, diet=diet, items=_listed(fit[:4], turn.language))
    traces = _traces(turn) if diet == "gluten-free" and turn.language == "en" else ""
    return f"{answer} {traces}".strip()


def _traces(turn: ReplyContext) -> str:
    return next((s for s in best_sentences([turn.context], "traces") if "trace" in s), "")


def _dishes(turn: ReplyContext, text: str) -> str:
    if not QUESTION.search(text):
        return ""
    found = asked_items(turn.context, text)[:3]
    if not found:
        return ""
    if turn.language == "en" and re.search(r"\b(?:nuts?|allerg\w+|traces|contain)\b", text, re.IGNORECASE):
        return f"{_dish_line(found[0])} {_traces(turn)}".strip()
    return phrase("items", turn.language, items=_listed(found, turn.language))


def _dish_line(item: Item) -> str:
    notes = item.notes or "nothing about allergens"
    return f"For {item.name.split(',')[0]} the menu says: {notes}."


def _menu(turn: ReplyContext, text: str) -> str:
    offered = items(turn.context)
    if not offered or not MENU.search(text):
        return ""
    chosen = [*offered[:2], *offered[len(offered) // 3 : len(offered) // 3 + 2]]
    more = {"en": " among others", "it": " e altro", "de": " und mehr", "fr": " et plus", "es": " y más"}
    return phrase("items", turn.language, items=_listed(chosen, turn.language) + more.get(turn.language, ""))


def _listed(found: list[Item], language: str) -> str:
    lines = [f"{item.name.split(',')[0]} ({item.price})" for item in found]
    if len(lines) == 1:
        return found[0].line if language == "en" else f"{found[0].name}: {found[0].price}"
    return ", ".join(lines[:-1]) + phrase("and", language) + lines[-1]


def _offer(turn: ReplyContext, text: str) -> str:
    """How the business describes itself, to someone who asks what it does."""
    if not OFFER.search(text):
        return ""
    found = [one for one in sentences_of([turn.context]) if not is_note(one)]
    return " ".join(
        sentence if sentence.endswith((".", "!")) else f"{sentence}." for sentence in found[:OFFER_SENTENCES]
    )


def _from_context(turn: ReplyContext, text: str) -> str:
    """Best matching sentences of the business context, verbatim, if they cover the question."""
    words = " ".join(TRANSLATED.get(word.lower(), word) for word in re.findall(r"[\w'’-]+", text))
    found = [one for one in best_sentences(turn.sources, words) if not is_note(one)]
    if not covers(" ".join(found), words):
        return ""
    return " ".join(sentence if sentence.endswith((".", "!")) else f"{sentence}." for sentence in found)
