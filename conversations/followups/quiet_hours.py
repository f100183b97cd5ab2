"""Quiet hours: when the agent doesn't write by itself on a text channel."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from conversations.common.channels import traits_of
from projects.models.agent_config import AgentConfig


def after_quiet_hours(config: AgentConfig, channel: str, *, at: datetime) -> datetime:
    """The first moment from `at` on that is not in the project's quiet hours, in its own time zone, also when clocks change.

    On a voice channel the customer is on the line: there are none.
    """
    if config.quiet_hours is None or traits_of(channel).is_voice:
        return at
    begins, ends = (time.fromisoformat(text) for text in config.quiet_hours)
    zone = ZoneInfo(config.timezone)
    local = at.astimezone(zone)
    if not _is_between(local.time(), begins, ends):
        return at
    day = local.date() + timedelta(days=local.time() >= ends)
    # A time of day that comes twice, or not at all, ends the quiet at its later reading.
    readings = (datetime.combine(day, ends, tzinfo=zone).replace(fold=fold) for fold in (0, 1))
    return max(reading.astimezone(at.tzinfo) for reading in readings)


def _is_between(now: time, begins: time, ends: time) -> bool:
    """Whether a time of day lies in a span that may go over midnight. One that ends as it begins holds nothing."""
    return begins <= now < ends if begins <= ends else now >= begins or now < ends
