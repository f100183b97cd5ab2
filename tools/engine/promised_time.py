"""Times that the agent names for what it promises, as the detection reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from tools.engine.skills.detect import Unserved
from tools.engine.words import normalize_words

_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?")
FURTHEST = timedelta(days=366)


@dataclass(frozen=True)
class TimedQuote:
    """A promise in the agent's words, and the time that it is for; None if they name no clear one."""

    quote: str
    at: datetime | None = None


def timed_quotes(unserved: Iterable[Unserved], *, said_at: datetime) -> list[TimedQuote]:
    """The commitments, each with its time. `said_at` is the answer's time, in the business's zone.

    The same words for two times are two commitments, and those without a time repeat the others.
    """
    read = [TimedQuote(one.quote, read_promised_time(one.at or "", said_at=said_at)) for one in unserved]
    timed = {normalize_words(one.quote) for one in read if one.at is not None}
    kept = [one for one in read if one.at is not None or normalize_words(one.quote) not in timed]
    return list({(normalize_words(one.quote), one.at): one for one in kept}.values())


def read_promised_time(text: str, *, said_at: datetime) -> datetime | None:
    """Read 2026-11-27T10:00, also with seconds, or 2026-11-27 as the end of that day, in the zone of `said_at`.

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
