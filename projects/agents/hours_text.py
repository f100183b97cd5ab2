"""Opening hours in words, and texts that contradict them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, get_args

from django.conf import settings
from django.utils.translation import gettext, override, pgettext

from projects.common.differences import DAYS as DAY_TITLES
from projects.models.agent_config import AgentConfig, Day

# Stands in the business context where the prompt lists the opening hours.
HOURS_PLACEHOLDER = "{hours}"
DAYS: tuple[Day, ...] = get_args(Day)
WEEK = tuple(range(7))
Spans = tuple[tuple[str, str], ...]

# Names and abbreviations of each weekday, Monday first.
NAMES = (
    "mondays?|mon|montags?|mo|lunedì|lun|lunes|lundis?",
    "tuesdays?|tues?|dienstags?|di|martedì|mar|martes|mardis?",
    "wednesdays?|wed|mittwochs?|mi|mercoledì|mer|miércoles|mié|mercredis?",
    "thursdays?|thurs?|thu|donnerstags?|do|giovedì|gio|jueves|jue|jeudis?|jeu",
    "fridays?|fri|freitags?|fr|venerdì|ven|viernes|vie|vendredis?",
    "saturdays?|sat|samstags?|sonnabends?|sa|sabato|sab|sábados?|sáb|samedis?|sam",
    "sundays?|sun|sonntags?|so|domenica|dom|domingos?|dimanches?|dim",
)
EVERY_DAY = "daily|every day|täglich|tutti i giorni|ogni giorno|todos los días|tous les jours"
DAY = rf"(?:{'|'.join(NAMES)})"
JOIN = r"(?:to|until|through|bis|al?|au|à|–|-|and|und|e|y|et|&|,)"
DAYS_SAID = rf"(?:(?:{EVERY_DAY})|{DAY}\b\.?(?:\s*{JOIN}\s*(?:on\s+)?{DAY}\b\.?)*)"
CLOSED = "closed|geschlossen|chiuso|chiusi|chiusa|cerrado|cerrada|cerramos|fermé|fermée"
TIME = r"(?:2[0-4]|[01]?\d)(?!\d)(?:[:.h][0-5]\d)?\s*(?:h\b|am\b|pm\b|uhr\b)?"
SPAN = rf"(?:from\s+|von\s+|dalle\s+|de\s+)?{TIME}\s*(?:to|until|bis|alle|a|à|–|-)\s*{TIME}"
SPANS = rf"{SPAN}(?:\s*(?:and|und|e|y|et|,|&)\s*{SPAN})*"
OPEN_DAYS = re.compile(rf"\b(?P<days>{DAYS_SAID})\s*[:,]?\s*(?P<spans>{SPANS})", re.IGNORECASE)
CLOSED_DAYS = re.compile(
    rf"\b(?:(?P<days>{DAYS_SAID})\s*:?\s*(?:{CLOSED})\b|(?:{CLOSED})\s+(?:on\s+|il\s+|los\s+|le\s+)?(?P<after>{DAYS_SAID}))",
    re.IGNORECASE,
)
# A line with one of these words, and the lines below it, speak of the opening hours. Other times are a kitchen's.
ABOUT_HOURS = re.compile(
    r"\b(?:open|opening|hours|öffnungszeiten|geöffnet|orari|orario|aperti|aperto|horarios?|abierto|abrimos|horaires|ouvert)\b",
    re.IGNORECASE,
)
RANGE = re.compile(r"\s*(?:to|until|through|bis|al?|au|à|–|-)\s*", re.IGNORECASE)
CLOCK = re.compile(r"(\d{1,2})(?:[:.h]([0-5]\d))?\s*(am|pm)?", re.IGNORECASE)


@dataclass(frozen=True)
class Contradiction:
    """A line of a text, the days on which it contradicts the opening hours, and what is set for these days, in words."""

    field: str
    quote: str
    days: str
    hours: str


def business_text(config: AgentConfig) -> str:
    """The business context as prompts show it, with the opening hours in the place of their placeholder."""
    return config.business_context.replace(HOURS_PLACEHOLDER, hours_in_words(config.hours))


def hours_in_words(hours: Mapping[Any, Sequence[Any]]) -> str:
    """The week in lines such as `Tuesday to Friday: 12:00 to 14:30 and 18:00 to 22:30`."""
    if not hours:
        return "Always open"
    # Prompts are in English.
    with override(settings.LANGUAGE_CODE):
        return "\n".join(_lines(hours, WEEK))


def find_contradictions(document: Mapping[str, Any]) -> list[Contradiction]:
    """The lines of the settings' texts that name other opening hours than those that are set. None while always open."""
    hours = document.get("hours") or {}
    if not hours:
        return []
    return [found for field, text in _texts(document) for found in _contradictions(field, text, hours)]


def _texts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "business", str(document.get("business_context", ""))
    for one in document.get("procedures") or ():
        yield "procedures", one["text"]
    for one in document.get("intents") or ():
        yield from (("intents", one[name]) for name in ("working_hours", "non_working_hours"))


def _contradictions(field: str, text: str, hours: Mapping[str, Any]) -> Iterator[Contradiction]:
    is_about_hours = False
    for line in text.splitlines():
        is_about_hours = bool(line.strip()) and (is_about_hours or ABOUT_HOURS.search(line) is not None)
        for days, spans in _said(line, is_about_hours=is_about_hours):
            if wrong := [day for day in days if _spans_of(hours, day) != spans]:
                yield Contradiction(field, line.strip(), _days_in_words(wrong), "; ".join(_lines(hours, wrong)))


def _said(line: str, *, is_about_hours: bool) -> Iterator[tuple[list[int], Spans]]:
    """The days and times of a line."""
    for found in CLOSED_DAYS.finditer(line):
        yield _days_of(found["days"] or found["after"]), ()
    for found in OPEN_DAYS.finditer(line) if is_about_hours else ():
        times = [_time_of(clock) for clock in CLOCK.finditer(found["spans"])]
        yield _days_of(found["days"]), tuple(zip(times[::2], times[1::2], strict=True))


def _days_of(text: str) -> list[int]:
    if re.fullmatch(EVERY_DAY, text, re.IGNORECASE):
        return list(WEEK)
    found = [(_index_of(one[0]), one.start(), one.end()) for one in re.finditer(rf"\b{DAY}\b", text, re.IGNORECASE)]
    days = [found[0][0]]
    for (first, _, end), (last, start, _) in pairwise(found):
        is_range = RANGE.fullmatch(text[end:start].strip(".") or " ") is not None
        days += [(first + step) % 7 for step in range(1, (last - first) % 7 + 1)] if is_range else [last]
    return days


def _index_of(name: str) -> int:
    return next(index for index, names in enumerate(NAMES) if re.fullmatch(names, name, re.IGNORECASE))


def _time_of(clock: re.Match[str]) -> str:
    hour = int(clock[1])
    if clock[3]:
        hour = hour % 12 + (12 if clock[3].lower() == "pm" else 0)
    return f"{hour:02}:{clock[2] or '00'}"


def _spans_of(hours: Mapping[str, Any], day: int) -> Spans:
    return tuple((opens, closes) for opens, closes in hours.get(DAYS[day]) or ())


def _lines(hours: Mapping[str, Any], days: Iterable[int]) -> Iterator[str]:
    """The hours of some days, in the reader's language. Neighbors with the same hours share a line."""
    for spans, same in groupby(days, key=lambda day: _spans_of(hours, day)):
        yield f"{_days_in_words(list(same))}: {_spans_in_words(spans)}"


def _spans_in_words(spans: Spans) -> str:
    words = pgettext("hours", "%(opens)s to %(closes)s")
    return _joined([words % {"opens": opens, "closes": closes} for opens, closes in spans]) or gettext("closed")


def _days_in_words(days: Sequence[int]) -> str:
    titles = [str(DAY_TITLES[DAYS[day]]) for day in days]
    if len(days) > 2 and list(days) == list(range(days[0], days[0] + len(days))):
        return pgettext("days", "%(first)s to %(last)s") % {"first": titles[0], "last": titles[-1]}
    return _joined(titles)


def _joined(parts: Sequence[str]) -> str:
    """Parts as `one, two and three`."""
    if len(parts) < 2:
        return "".join(parts)
    return pgettext("list", "%(parts)s and %(last)s") % {"parts": ", ".join(parts[:-1]), "last": parts[-1]}
