"""Times that the agent names for what it promises, as the detection reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta

from tools.engine.skills.detect import Unserved

_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d)?")
FURTHEST = timedelta(days=366)


def promised_times(unserved: Iterable[Unserved], *, said_at: datetime) -> dict[str, datetime]:
    """The times of those commitments that have a clear one, by quote. `said_at` is the answer's, in the business's zone."""
    times = {one.quote: read_promised_time(one.at or "", said_at=said_at) for one in unserved}
    return {quote: at for quote, at in times.items() if at is not None}


def read_promised_time(text: str, *, said_at: datetime) -> datetime | None:
    """Read 2026-11-27T10:00, or 2026-11-27 as the end of that day, in the zone of `said_at`.

    None for another form, and for a time that isn't within a year after `said_at`.
    """
    if not (found := _TIME.fullmatch(text.strip())):
        return None
    try:
        named = datetime.fromisoformat(found[0])
    except ValueError:
        return None
    local = named if found[1] else datetime.combine(named, time(23, 59))
    # With one zone on both sides, Python compares the clocks' hands.
    at = local.replace(tzinfo=said_at.tzinfo).astimezone(UTC)
    return at if said_at < at <= said_at + FURTHEST else None
