"""What a booking's own page says, and how a booking stands on the customer's page, in the languages that the widget knows (N25).

Why a time can't be had is said in English words to the agent; in another language the page says less.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from django.utils.formats import date_format
from django.utils.translation import override

from projects.models import Project, Widget
from tools.engine.hooks import read_contact
from tools.models import Booking, ResourceKind
from tools.services.bookings.date_words import time_words
from tools.services.bookings.formatting import booking_words
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of

WORDS: Mapping[str, Mapping[str, str]] = json.loads(Path(__file__).with_name("translations.json").read_text())
ENGLISH = "en"
RIGHT_TO_LEFT = frozenset({"ar", "he"})


@dataclass(frozen=True)
class OwnWords:
    """The words in one language, with the name of the business in them."""

    language: str = ENGLISH
    business: str = ""
    noun: str = "booking"

    @property
    def direction(self) -> str:
        return "rtl" if self.language in RIGHT_TO_LEFT else "ltr"

    @property
    def words(self) -> Mapping[str, str]:
        # A name may hold braces, and is no template.
        return {
            key: text.replace("{noun}", self.noun).replace("{business}", self.business)
            for key, text in WORDS[self.language].items()
        }

    def filled(self, key: str, **gaps: str) -> str:
        text = self.words[key]
        for name, value in gaps.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def day(self, day: date, *, today: date) -> str:
        """Friday 27 November, Freitag 27. November; with the year when it isn't this one."""
        with override(self.language):
            return f"{date_format(day, 'l')} {self.month_day(day, today=today)}"

    def month_day(self, day: date, *, today: date) -> str:
        """The same without the weekday."""
        is_english, is_this_year = self.language == ENGLISH, day.year == today.year
        # English as the agent says it.
        wanted = ("j F", "j F Y") if is_english else ("MONTH_DAY_FORMAT", "DATE_FORMAT")
        with override(self.language):
            return date_format(day, wanted[0] if is_this_year else wanted[1])

    def moment(self, local: datetime, *, today: date) -> str:
        return self.filled("at", day=self.day(local.date(), today=today), time=time_words(local))

    def people(self, number: int) -> str:
        return self.filled("person") if number == 1 else self.filled("persons", count=str(number))

    def said(self, english: str, key: str) -> str:
        """A sentence that there is in English only, or what stands for it in another language."""
        return english if self.language == ENGLISH else self.words[key]


def language_of(booking: Booking, *, asked: str) -> str:
    """What is known of the customer, else what the business chose for its widget, else what their browser `asked` for, as far as
    there are words for it. Inside the tenant's transaction.
    """
    contact = read_contact(booking.persona_id)
    theme = Widget.objects.filter(project_id=booking.project_id).values_list("theme", flat=True).first() or {}
    return best_of(contact.language if contact else "", str(theme.get("language", "")), asked)


def best_of(*languages: str) -> str:
    """The first of the codes, such as `it-CH`, that there are words for; else English."""
    return next((code for one in languages if (code := one.lower().partition("-")[0]) in WORDS), ENGLISH)


def own_line(booking: Booking, project: Project, *, now: datetime, language: str) -> str:
    """A booking in one line, for whom it is: venerdì 27 novembre alle 19:00, 4 persone, K7M2QX."""
    if language == ENGLISH:
        return booking_words(booking, project, now=now)
    words, opening = OwnWords(language), Opening(config_of(project))
    when = words.moment(opening.local(booking.starts_at), today=opening.local(now).date())
    is_table = booking.resource.kind == ResourceKind.TABLE
    what = words.people(booking.party_size) if is_table else booking.resource.name
    return f"{when}, {what}, {booking.code}"
