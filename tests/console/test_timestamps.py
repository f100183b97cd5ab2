"""Timestamps as pages show them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils.translation import override

from console.timestamps import format_timestamp, long_day

NOW = datetime(2025, 3, 12, 9, 30, tzinfo=UTC)  # a Wednesday
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("age", "words", "ago"),
    [
        (59 * SECOND, "now", "just now"),
        (MINUTE, "1 min", "1 min ago"),
        (HOUR - SECOND, "59 min", "59 min ago"),
        (DAY - SECOND, "23 h", "23 h ago"),
        (DAY, "Tue", "Tuesday"),
        (7 * DAY - SECOND, "Wed", "Wednesday"),
        (7 * DAY, "5 Mar", "5 Mar 2025"),
        (365 * DAY, "12 Mar 2024", "12 Mar 2024"),
    ],
)
def test_an_age_is_relative_then_a_weekday_then_a_date(age: timedelta, words: str, ago: str) -> None:
    moment = format_timestamp(NOW - age, now=NOW)
    assert (moment.words, moment.ago) == (words, ago)


@pytest.mark.parametrize(
    ("until", "ago"),
    [
        (59 * SECOND, "just now"),
        (5 * MINUTE, "in 5 min"),
        (DAY - SECOND, "in 23 h"),
        (DAY, "in 1 day"),
        (DAY + 2 * HOUR, "in 1 day"),
        (7 * DAY, "in 7 days"),
        (7 * DAY + SECOND, "19 Mar 2025"),
    ],
)
def test_a_future_time_is_relative_for_a_week(until: timedelta, ago: str) -> None:
    assert format_timestamp(NOW + until, now=NOW).ago == ago


def test_times_are_in_the_business_time_zone() -> None:
    at = datetime(2025, 3, 11, 23, 30, 5, tzinfo=UTC)
    moment = format_timestamp(at, zone="Europe/Rome", now=NOW)
    assert (moment.date, moment.exact) == ("12 Mar, 00:30", "Wednesday 12 March 2025, 00:30:05")
    assert moment.iso == "2025-03-11T23:30:05+00:00"


def test_times_without_a_business_are_labeled_utc() -> None:
    assert format_timestamp(NOW, now=NOW).exact == "Wednesday 12 March 2025, 09:30:00 UTC"


@pytest.mark.parametrize(
    ("language", "words"), [("it", "mercoledì 12 marzo"), ("fr", "mercredi 12 mars"), ("de", "Mittwoch, 12. März")]
)
def test_days_are_written_as_the_language_writes_them(language: str, words: str) -> None:
    with override(language):
        assert long_day(NOW) == words
