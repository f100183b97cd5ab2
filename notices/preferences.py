"""How each member wants to be notified: the ways by kind, the frequency, and quiet hours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from notices.models import Frequency, NoticeKind, NoticeSettings, Way

K = NoticeKind
EMAILED = (K.WAITS, K.ASSIGNED, K.MENTIONED, K.TO_REVIEW, K.LIMIT, K.RECONNECT)
DEFAULT: Mapping[str, frozenset[str]] = {
    kind.value: frozenset({Way.BELL, *([Way.EMAIL] if kind in EMAILED else [])}) for kind in NoticeKind
}
PAUSES: Mapping[str, timedelta] = {
    Frequency.AT_ONCE: timedelta(minutes=15),
    Frequency.HOURLY: timedelta(hours=1),
    Frequency.DAILY: timedelta(days=1),
}


@dataclass(frozen=True)
class Preferences:
    """One member's preferences. Without settings they are the defaults: the bell for everything, e-mail for some."""

    ways: Mapping[str, Sequence[str]] = field(default_factory=dict)
    frequency: str = Frequency.AT_ONCE
    quiet_from: time | None = None
    quiet_to: time | None = None
    timezone: str = "UTC"
    slack_url: str = ""

    def ways_for(self, kind: str) -> frozenset[str]:
        """The member's ways for this kind. Slack is one only with an address."""
        chosen = frozenset(self.ways.get(kind, DEFAULT[kind]))
        return chosen if self.slack_url else chosen - {Way.SLACK}

    @property
    def pause(self) -> timedelta:
        """The shortest time between two e-mails."""
        return PAUSES[self.frequency]

    @property
    def message_pause(self) -> timedelta:
        """The shortest time between two Slack messages, or between two push messages that can wait."""
        return timedelta(0) if self.frequency == Frequency.AT_ONCE else self.pause

    def quiet_until(self, now: datetime) -> datetime | None:
        """The end of the quiet hours that `now` is in; None outside of them."""
        if self.quiet_from is None or self.quiet_to is None or self.quiet_from == self.quiet_to:
            return None
        here = now.astimezone(ZoneInfo(self.timezone))
        is_late, is_early = here.time() >= self.quiet_from, here.time() < self.quiet_to
        passes_midnight = self.quiet_from > self.quiet_to
        if not (is_late or is_early if passes_midnight else is_late and is_early):
            return None
        day = here.date() + timedelta(days=1) if passes_midnight and is_late else here.date()
        return datetime.combine(day, self.quiet_to, tzinfo=here.tzinfo)


STANDARD = Preferences()


def preferences_of(members: Iterable[UUID]) -> Mapping[UUID, Preferences]:
    """The preferences of each member, in one query. Call it inside the tenant's transaction."""
    wanted = list(members)
    known = {row.member_id: _of(row) for row in NoticeSettings.objects.filter(member_id__in=wanted)}
    return {member: known.get(member, STANDARD) for member in wanted}


def _of(row: NoticeSettings) -> Preferences:
    return Preferences(row.ways, row.frequency, row.quiet_from, row.quiet_to, row.timezone, row.slack_url)
