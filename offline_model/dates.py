"""Conversion of spoken days to calendar dates."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from offline_model.entities import DAY_NAMES, MONTHS, RELATIVE, find_day, find_time

NOW_FORMAT = "%A %d %B %Y, %H:%M"
TOMORROW = frozenset({"tomorrow", "domani", "morgen", "demain", "mañana"})
LEAD = re.compile(r"^(?:this|next|on|den|am|le|el|il)\s+", re.IGNORECASE)
DAY_MONTH = re.compile(r"^(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)$")
MONTH_DAY = re.compile(r"^([a-z]+) (\d{1,2})(?:st|nd|rd|th)?$")
HOUR = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|a\.m\.|p\.m\.|uhr|h|heures?|o'clock)?", re.IGNORECASE)
# Nobody calls at two in the morning.
FIRST_OF_MORNING = 8
NUMERIC = re.compile(r"^(\d{1,2})[./](\d{1,2})(?:[./](\d{2,4}))?$")


def read_now(text: str) -> datetime | None:
    """Timestamp of a prompt: "Friday 20 November 2026, 21:00"."""
    found = re.search(r"[A-Z][a-z]+ \d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d", text)
    try:
        return datetime.strptime(found[0], NOW_FORMAT) if found else None  # noqa: DTZ007 - local to the business
    except ValueError:
        return None


def date_of(words: str, *, now: datetime | None) -> str:
    """A day such as "Friday", "tomorrow" or "3 March" as YYYY-MM-DD, the next one from `now` on; as it is if it can't be read."""
    if now is None or re.fullmatch(r"\d{4}-\d\d-\d\d", words):
        return words
    low = LEAD.sub("", words.strip().lower())
    today = now.date()
    if low in TOMORROW or low in RELATIVE:
        return (today + timedelta(days=1 if low in TOMORROW else RELATIVE[low])).isoformat()
    name = low if low in DAY_NAMES else low.removesuffix("s")
    if name in DAY_NAMES:
        return (today + timedelta(days=(DAY_NAMES[name] - today.weekday()) % 7)).isoformat()
    found = _of_calendar(low, today)
    return found.isoformat() if found else words


def promised_time(words: str, *, now: datetime | None) -> str | None:
    """The day that a promise names, with its time if it names one: "tomorrow at 10" is 2026-11-28T10:00. None without a day."""
    day = find_day(words)
    on = date_of(day.value, now=now) if day and now else ""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", on):
        return None
    time = find_time(words)
    clock = _business_time(time.value) if time else None
    return f"{on}T{clock}" if clock else on


def _business_time(words: str) -> str | None:
    """A time of day as HH:MM; without am or pm, one from eight in the morning on. None if it can't be read."""
    if words.lower() in ("noon", "midday"):
        return "12:00"
    found = HOUR.fullmatch(words.strip())
    if not found:
        return None
    hour, half = int(found[1]), (found[3] or "").replace(".", "").lower()
    if half in ("am", "pm"):
        hour = hour % 12 + (12 if half == "pm" else 0)
    elif not half and not found[2] and hour < FIRST_OF_MORNING:
        hour += 12
    return f"{hour:02d}:{found[2] or '00'}" if hour < 24 else None


def _of_calendar(low: str, today: date) -> date | None:
    if (match := DAY_MONTH.match(low)) and match[2] in MONTHS:
        return _next(today, month=MONTHS.index(match[2]) + 1, day=int(match[1]))
    if (match := MONTH_DAY.match(low)) and match[1] in MONTHS:
        return _next(today, month=MONTHS.index(match[1]) + 1, day=int(match[2]))
    if match := NUMERIC.match(low):
        return _next(today, month=int(match[2]), day=int(match[1]))
    return None


def _next(today: date, *, month: int, day: int) -> date | None:
    for year in (today.year, today.year + 1):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found >= today:
            return found
    return None
