"""Answers to questions about the business, from its own description."""

from __future__ import annotations

import re

from offline_model.business import (
    Item,
    asked_items,
    best_sentences,
    diet_items,
    is_about,
    items,
    opening_hours,
    week_groups,
)
from offline_model.entities import DAY_NAMES, WEEKDAYS, find_day
from offline_model.phrases import day_word, days_in, hours_in, phrase
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
QUESTION = re.compile(
    r"\?|^\W*(?:what|when|where|who|how|which|why|is|are|do|does|can|could|have|has|will|would|"
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
    return _menu(turn, text) or _from_context(turn, text)


def is_answered(turn: ReplyContext) -> bool:
    """True if the business context answers the question directly."""
    text = turn.said
    is_exact = any(answer(turn, text) for answer in (_hours, _diet, _dishes, _menu))
    return is_exact or is_about(_from_context(turn, text), text)


def _hours(turn: ReplyContext, text: str) -> str:
    week = opening_hours(turn.context)
    if not week or not HOURS.search(text) or HOLIDAY.search(text):
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


def _from_context(turn: ReplyContext, text: str) -> str:
    """Best matching sentences of the business context, verbatim."""
    words = " ".join(TRANSLATED.get(word.lower(), word) for word in re.findall(r"[\w'’-]+", text))
    found = best_sentences(turn.sources, words)
    return " ".join(sentence if sentence.endswith((".", "!")) else f"{sentence}." for sentence in found)
