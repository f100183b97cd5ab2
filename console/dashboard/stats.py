"""The six headline metrics, each compared with the week before where that applies."""

from __future__ import annotations

from dataclasses import dataclass

from console.dashboard.metrics import Figures, Week
from console.promises.metrics import PromiseCounts

# Relative changes below this read as "unchanged".
SAME = 0.005


@dataclass(frozen=True)
class Stat:
    """One metric. `tone` and `icon` mark the comparison as good or bad, where that applies."""

    label: str
    value: str
    unit: str = ""
    beneath: str = ""
    tone: str = ""
    icon: str = ""


# The fifth metric depends on the counts.
LABELS = ("Conversations", "Promises kept", "First token, median", "Fresh directives", "", "Model cost")
AWAITED = [Stat(label, "") for label in LABELS]


def stats_of(figures: Figures | None) -> list[Stat]:
    """Volume, kept promises, speed, freshness, quality (failed jobs where nothing is scored), cost. Placeholders while counting."""
    if figures is None:
        return AWAITED
    now, before = figures.now, figures.before
    scored = now.turns.scored or before.turns.scored
    return [
        _volume(now, before),
        _kept(figures.promises),
        _first_token(now),
        _fresh(now, before),
        _quality(now, before) if scored else _failed(now, before),
        _cost(now, before),
    ]


def _volume(now: Week, before: Week) -> Stat:
    beneath = _change(now.messages, before.messages)
    words = f"{now.messages:,} {'message' if now.messages == 1 else 'messages'}"
    return Stat("Conversations", f"{now.conversations:,}", beneath=f"{words}, {beneath}" if beneath else words)


def _kept(promises: PromiseCounts) -> Stat:
    """The share of kept among kept and broken promises. Those not sent are in neither."""
    parts = [f"{promises.not_sent:,} not sent"] if promises.not_sent else []
    if promises.unowned:
        parts.append(f"{promises.unowned:,} {'needs' if promises.unowned == 1 else 'need'} an owner")
    rate = promises.kept_rate
    if rate is None:
        return Stat("Promises kept", "–", beneath=", ".join(parts) or "None kept or broken yet")
    beneath = ", ".join(parts) or f"{promises.kept + promises.late:,} kept, {promises.broken:,} broken"
    return Stat("Promises kept", "100" if rate == 100 else f"{min(rate, 99.9):.1f}", "%", beneath=beneath)


def _first_token(now: Week) -> Stat:
    median_ms, p95_ms = now.turns.median_ms, now.turns.p95_ms
    if median_ms is None or p95_ms is None:
        return Stat("First token, median", "–", beneath="No replies yet")
    value, unit = _duration(median_ms)
    return Stat("First token, median", value, unit, beneath=f"p95 {' '.join(_duration(p95_ms))}")


def _fresh(now: Week, before: Week) -> Stat:
    share, earlier = now.turns.fresh_share, before.turns.fresh_share
    if share is None:
        return Stat("Fresh directives", "–", beneath="Starts with the second reply")
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
        return Stat("Failures", "0", beneath=beneath)
    return Stat("Failures", f"{now.failed_jobs:,}", beneath=beneath, tone="bad", icon="alert-triangle")


def _cost(now: Week, before: Week) -> Stat:
    if now.cost is None:
        return Stat("Model cost", "–", beneath="No model prices set")
    if not now.cost:
        return Stat("Model cost", "$0.00", beneath="All calls were free")
    cents = 100 * float(now.cost) / now.conversations if now.conversations else 0.0
    beneath = f"{cents:.1f} ¢ per conversation"
    if before.cost:
        beneath += f"; ${before.cost:,.2f} before"
    if now.test_cost:
        beneath += f"; ${now.test_cost:,.2f} in tests"
    return Stat("Model cost", f"${now.cost:,.2f}", beneath=beneath)


def _change(now: int, before: int) -> str:
    """The change against the week before; empty if that week had none."""
    if not before:
        return ""
    change = now / before - 1
    if abs(change) < SAME:
        return "unchanged"
    return f"{abs(change):.0%} {'more' if change > 0 else 'fewer'}".replace("%", " %")


def _duration(ms: float) -> tuple[str, str]:
    return (f"{ms:.0f}", "ms") if ms < 1000 else (f"{ms / 1000:.2f}", "s")
