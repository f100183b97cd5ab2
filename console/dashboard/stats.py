"""The five figures at the top of the dashboard, each against the week before."""

from __future__ import annotations

from dataclasses import dataclass

from console.dashboard.metrics import Figures, Week

# Changes smaller than this are no news.
SAME = 0.005


@dataclass(frozen=True)
class Stat:
    """One figure. `tone` and `icon` say whether the line beneath is good or bad news, where that is known."""

    label: str
    value: str
    unit: str = ""
    beneath: str = ""
    tone: str = ""
    icon: str = ""


# Which the fourth is, is known once it is counted.
AWAITED = [Stat(label, "") for label in ("Conversations", "First token, median", "Fresh directives", "", "Model cost")]


def stats_of(figures: Figures | None) -> list[Stat]:
    """Volume, speed, freshness, quality (failed jobs where nothing is scored), cost. Without values while these are being counted."""
    if figures is None:
        return AWAITED
    now, before = figures.now, figures.before
    scored = now.turns.scored or before.turns.scored
    return [
        _volume(now, before),
        _first_token(now),
        _fresh(now, before),
        _quality(now, before) if scored else _failed(now, before),
        _cost(now, before),
    ]


def _volume(now: Week, before: Week) -> Stat:
    beneath = _change(now.messages, before.messages)
    words = f"{now.messages:,} {'message' if now.messages == 1 else 'messages'}"
    return Stat("Conversations", f"{now.conversations:,}", beneath=f"{words}, {beneath}" if beneath else words)


def _first_token(now: Week) -> Stat:
    median_ms, p95_ms = now.turns.median_ms, now.turns.p95_ms
    if median_ms is None or p95_ms is None:
        return Stat("First token, median", "–", beneath="No replies yet")
    value, unit = _duration(median_ms)
    return Stat("First token, median", value, unit, beneath=f"95 of 100 under {' '.join(_duration(p95_ms))}")


def _fresh(now: Week, before: Week) -> Stat:
    share, earlier = now.turns.fresh_share, before.turns.fresh_share
    if share is None:
        return Stat("Fresh directives", "–", beneath="From the second reply on")
    beneath = f"{now.turns.stale:,} stale, {now.turns.waiting:,} waiting"
    if earlier is not None:
        beneath += f"; {earlier:.0%} before".replace("%", " %")
    return Stat("Fresh directives", f"{100 * share:.0f}", "%", beneath=beneath)


def _quality(now: Week, before: Week) -> Stat:
    quality, earlier = now.turns.quality, before.turns.quality
    if quality is None:
        return Stat("Call quality", "–", beneath=f"{earlier:.1f} the week before" if earlier else "")
    turns = f"{now.turns.scored:,} {'turn' if now.turns.scored == 1 else 'turns'} scored"
    return Stat(
        "Call quality", f"{quality:.1f}", "of 10", beneath=f"{turns}; {earlier:.1f} before" if earlier else turns
    )


def _failed(now: Week, before: Week) -> Stat:
    beneath = f"{before.failed_jobs:,} the week before"
    if not now.failed_jobs:
        return Stat("What failed", "0", beneath=beneath)
    return Stat("What failed", f"{now.failed_jobs:,}", beneath=beneath, tone="bad", icon="alert-triangle")


def _cost(now: Week, before: Week) -> Stat:
    if now.cost is None:
        return Stat("Model cost", "–", beneath="The models have no price yet")
    if not now.cost:
        return Stat("Model cost", "$0.00", beneath="No call had a price above zero")
    cents = 100 * float(now.cost) / now.conversations if now.conversations else 0.0
    beneath = f"{cents:.1f} ¢ a conversation"
    if before.cost:
        beneath += f"; ${before.cost:,.2f} before"
    return Stat("Model cost", f"${now.cost:,.2f}", beneath=beneath)


def _change(now: int, before: int) -> str:
    """In words, against the week before; nothing where there was none."""
    if not before:
        return ""
    change = now / before - 1
    if abs(change) < SAME:
        return "as the week before"
    return f"{abs(change):.0%} {'more' if change > 0 else 'fewer'}".replace("%", " %")


def _duration(ms: float) -> tuple[str, str]:
    return (f"{ms:.0f}", "ms") if ms < 1000 else (f"{ms / 1000:.2f}", "s")
