"""Quiet hours, across midnight and the change of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from notices.models import NoticeKind, Way
from notices.preferences import Preferences

NIGHT = {"quiet_from": time(22), "quiet_to": time(7), "timezone": "Europe/Rome"}


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-24T20:59", None),
        ("2026-11-24T21:00", "2026-11-25T06:00"),
        ("2026-11-25T05:59", "2026-11-25T06:00"),
        ("2026-11-25T06:00", None),
        # The clocks go forward at two: seven o'clock comes an hour earlier.
        ("2026-03-28T23:00", "2026-03-29T05:00"),
    ],
)
def test_quiet_hours_may_pass_midnight(now: str, until: str | None) -> None:
    found = Preferences(**NIGHT).quiet_until(datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert (found.astimezone(UTC).strftime("%Y-%m-%dT%H:%M") if found else None) == until


def test_quiet_hours_may_lie_within_a_day() -> None:
    lunch = Preferences(quiet_from=time(12), quiet_to=time(14))
    quiet = [lunch.quiet_until(datetime(2026, 11, 24, hour, tzinfo=UTC)) is not None for hour in (11, 12, 13, 14)]
    assert quiet == [False, True, True, False]


def test_slack_is_used_only_with_an_address() -> None:
    ways = {NoticeKind.LIMIT.value: (Way.BELL.value, Way.SLACK.value)}
    assert Preferences(ways).ways_for(NoticeKind.LIMIT) == {Way.BELL}
    assert Preferences(ways, slack_url="x").ways_for(NoticeKind.LIMIT) == {Way.BELL, Way.SLACK}
