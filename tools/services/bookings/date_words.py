"""Dates and times in English, as the agent reads them, in the business's local time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime


def day_words(day: date, *, today: date) -> str:
    """Friday 27 November; with the year if it is not the current one."""
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day:%A} {day.day} {day:%B}{year}"


def time_words(local: datetime) -> str:
    """19:00"""
    return f"{local:%H:%M}"


def moment_words(local: datetime, *, today: date) -> str:
    """Friday 27 November at 19:00"""
    return f"{day_words(local.date(), today=today)} at {time_words(local)}"


def span_words(spans: Iterable[tuple[str, str]]) -> str:
    """from 12:00 to 15:00 and from 18:30 to 23:00"""
    return join_words([f"from {opens} to {closes}" for opens, closes in spans])


def join_words(words: Sequence[str]) -> str:
    """one, two and three"""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def with_article(words: str) -> str:
    """a table, an appointment"""
    return f"{'an' if words[:1] in 'aeiou' else 'a'} {words}"


def people(number: int) -> str:
    return "1 person" if number == 1 else f"{number} people"
