"""Answers to questions about the business, from its own words."""

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
from offline_model.reply_context import Scene

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
WORD_LISTS = {
    "starters": "starter",
    "pasta": "pasta",
    "mains": "main",
    "desserts": "dessert",
    "dolci": "dessert",
    "drinks": "drink",
    "wine": "wine",
}
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


def answer_question(scene: Scene) -> str:
    """The answer to what the customer asks; empty when they ask nothing or the business says nothing of it."""
    text = scene.said
    for answer in (_hours, _diet, _dishes):
        if found := answer(scene, text):
            return found
    if not QUESTION.search(text):
        return ""
    return _menu(scene, text) or _from_context(scene, text)


def is_answered(scene: Scene) -> bool:
    """Whether the business says just what is asked: its hours, a diet, a dish, or a sentence that takes up most of it."""
    text = scene.said
    is_exact = any(answer(scene, text) for answer in (_hours, _diet, _dishes, _menu))
    return is_exact or is_about(_from_context(scene, text), text)


def _hours(scene: Scene, text: str) -> str:
    week = opening_hours(scene.context)
    if not week or not HOURS.search(text) or HOLIDAY.search(text):
        return ""
    day = _day_of(text, scene.clock[0])
    if day is None:
        return phrase("hours_all", scene.language, hours=_week(scene))
    name = day_word(WEEKDAYS[day].title(), scene.language)
    said = week.get(day, "")
    if not said:
        return ""
    if said == "closed":
        return phrase("closed_day", scene.language, day=name)
    return phrase("hours_day", scene.language, day=name, hours=hours_in(said, scene.language))


def _week(scene: Scene) -> str:
    parts = (
        days_in(first, last, scene.language) + " " + hours_in(said, scene.language)
        for first, last, said in week_groups(scene.context)
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


def _diet(scene: Scene, text: str) -> str:
    found = diet_items(scene.context, text)
    if found is None or not (QUESTION.search(text) or HOURS.search(text)):
        return ""
    diet, fit = found
    if not items(scene.context):
        return ""
    if not fit:
        return phrase("diet_none", scene.language, diet=diet)
    answer = phrase("diet", scene.language, diet=diet, items=_listed(fit[:4], scene.language))
    traces = _traces(scene) if diet == "gluten-free" and scene.language == "en" else ""
    return f"{answer} {traces}".strip()


def _traces(scene: Scene) -> str:
    return next((s for s in best_sentences([scene.context], "traces") if "trace" in s), "")


def _dishes(scene: Scene, text: str) -> str:
    if not QUESTION.search(text):
        return ""
    found = asked_items(scene.context, text)[:3]
    if not found:
        return ""
    if scene.language == "en" and re.search(r"\b(?:nuts?|allerg\w+|traces|contain)\b", text, re.IGNORECASE):
        return f"{_dish_line(found[0])} {_traces(scene)}".strip()
    return phrase("items", scene.language, items=_listed(found, scene.language))


def _dish_line(item: Item) -> str:
    notes = item.notes or "nothing about allergens"
    return f"For {item.name.split(',')[0]} the menu says: {notes}."


def _menu(scene: Scene, text: str) -> str:
    offered = items(scene.context)
    if not offered or not MENU.search(text):
        return ""
    chosen = [*offered[:2], *offered[len(offered) // 3 : len(offered) // 3 + 2]]
    more = {"en": " among others", "it": " e altro", "de": " und mehr", "fr": " et plus", "es": " y más"}
    return phrase("items", scene.language, items=_listed(chosen, scene.language) + more.get(scene.language, ""))


def _listed(found: list[Item], language: str) -> str:
    lines = [f"{item.name.split(',')[0]} ({item.price})" for item in found]
    if len(lines) == 1:
        return found[0].line if language == "en" else f"{found[0].name}: {found[0].price}"
    return ", ".join(lines[:-1]) + phrase("and", language) + lines[-1]


def _from_context(scene: Scene, text: str) -> str:
    """The sentences of the business that answer best; said as they stand, in the business's language."""
    words = " ".join(TRANSLATED.get(word.lower(), word) for word in re.findall(r"[\w'’-]+", text))
    found = best_sentences(scene.sources, words)
    return " ".join(sentence if sentence.endswith((".", "!")) else f"{sentence}." for sentence in found)
