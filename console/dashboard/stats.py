"""The five headline figures, each compared with the period before."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from console.dashboard.metrics import Figures
from conversations.analytics.definitions import FEWEST
from projects.common.numbers import decimal, dollars, grouped

# Relative changes below this read as "unchanged".
SAME = 0.005


@dataclass(frozen=True)
class Change:
    """The relative change against the period before, in percent. `tone` marks it as good or bad, where that applies."""

    percent: str
    is_more: bool
    is_same: bool
    tone: str = ""


@dataclass(frozen=True)
class Stats:
    """The headline figures, formatted. An empty value means that there is not enough data; a change of None means that the
    period before had too little.
    """

    conversations: str
    messages: str
    conversations_change: Change | None
    first_token: tuple[str, str] | None
    p95: tuple[str, str] | None
    first_token_change: Change | None
    quality: str
    scored: int
    quality_before: str
    kept_rate: str
    kept: int
    broken: int
    not_sent: int
    unowned: int
    kept_before: str
    cost: str
    is_free: bool
    cost_each: str
    cost_change: Change | None
    test_cost: str


def stats_of(figures: Figures) -> Stats:
    """The headline figures of a period."""
    now, before = figures.now, figures.before
    promises, earlier = figures.promises.now, figures.promises.before
    is_timed = now.replies.count >= FEWEST
    return Stats(
        conversations=grouped(now.conversations),
        messages=grouped(now.messages),
        conversations_change=_change(now.conversations, before.conversations, more="ok"),
        first_token=_duration(now.replies.median_ms) if is_timed else None,
        p95=_duration(now.replies.p95_ms) if is_timed else None,
        first_token_change=_speed_change(figures) if is_timed else None,
        quality=_score(now.replies.quality, over=now.replies.scored),
        scored=now.replies.scored,
        quality_before=_score(before.replies.quality, over=before.replies.scored),
        kept_rate=rate_words(promises.kept_rate),
        kept=promises.kept + promises.late,
        broken=promises.broken,
        not_sent=promises.not_sent,
        unowned=promises.unowned,
        kept_before=rate_words(earlier.kept_rate),
        cost="" if now.cost is None else dollars(now.cost),
        is_free=now.cost is not None and not now.cost,
        cost_each=_cents_each(now.cost, over=now.conversations),
        cost_change=_change(float(now.cost or 0), float(before.cost or 0), fewest=0),
        test_cost=dollars(now.test_cost) if now.test_cost else "",
    )


def rate_words(rate: float | None) -> str:
    """A percentage with one decimal; 100 only if there is no exception."""
    if rate is None:
        return ""
    return "100" if rate == 100 else decimal(min(rate, 99.9), 1)


def _change(now: float, before: float, *, more: str = "", fewest: float = FEWEST) -> Change | None:
    """The change against the period before; None if it had fewer than `fewest`."""
    if not before or before < fewest:
        return None
    change = now / before - 1
    is_more = change > 0
    return Change(f"{abs(change) * 100:.0f}", is_more, abs(change) < SAME, tone=more if is_more else "")


def _speed_change(figures: Figures) -> Change | None:
    now, before = figures.now.replies, figures.before.replies
    if now.median_ms is None or before.median_ms is None or before.count < FEWEST:
        return None
    change = _change(now.median_ms, before.median_ms, more="warn", fewest=0)
    return change and Change(change.percent, change.is_more, change.is_same, change.tone or "ok")


def _score(quality: float | None, *, over: int) -> str:
    return decimal(quality, 1) if quality is not None and over >= FEWEST else ""


def _cents_each(cost: Decimal | None, *, over: int) -> str:
    return decimal(100 * float(cost) / over, 1) if cost and over else ""


def _duration(ms: float | None) -> tuple[str, str] | None:
    if ms is None:
        return None
    return (f"{ms:.0f}", "ms") if ms < 1000 else (decimal(ms / 1000, 2), "s")
