"""Business hours: open or closed at a given time, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from projects.models.agent_config import AgentConfig
from tools.services.bookings.opening import Opening


@dataclass(frozen=True)
class WorkingStatus:
    """The business's status at a given time, in its own time zone."""

    is_open: bool
    reason: str
    local: datetime

    @property
    def variant(self) -> str:
        """The matching variant of the intent map."""
        return "working" if self.is_open else "non_working"

    @property
    def line(self) -> str:
        """The status as prompts show it."""
        return f"{'open' if self.is_open else 'closed'}: {self.reason}"

    @property
    def document(self) -> dict[str, str | bool]:
        """The status as stored on a turn."""
        return {"open": self.is_open, "reason": self.reason}

    @property
    def clock(self) -> str:
        """The local time as prompts show it."""
        return self.local.strftime("%A %d %B %Y, %H:%M")


def working_status(config: AgentConfig, *, at: datetime) -> WorkingStatus:
    """The status of the business at an aware datetime. A project without hours is always open, except on its holidays."""
    local = at.astimezone(ZoneInfo(config.timezone))
    is_open, reason = _status_at(config, local)
    return WorkingStatus(is_open=is_open, reason=reason, local=local)


def _status_at(config: AgentConfig, local: datetime) -> tuple[bool, str]:
    day, now = local.date(), local.strftime("%H:%M")
    is_holiday = day in config.holidays
    if not config.hours and not is_holiday:
        return True, "no working hours are set"
    spans = Opening(config).hours_of(day)
    for opens, closes in spans:
        if opens <= now < closes:
            return True, f"open from {opens} to {closes} today"
    if is_holiday:
        return False, f"{day.isoformat()} is a holiday"
    later = [opens for opens, _ in spans if opens > now]
    return False, f"opens at {later[0]} today" if later else "closed for today"
