"""Chart geometry; templates draw it as SVG. A unit is about one desktop pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDE, NARROW = 660, 350
LEFT = 34.0
TOP = 10.0
BAR_SHARE = 0.62
GAP = 1.0
STEPS = (1, 2, 2.5, 4, 5, 6, 10)


@dataclass(frozen=True)
class GridLine:
    y: float
    label: str


@dataclass(frozen=True)
class Bar:
    """One segment of a stack. `tone` is a CSS class, `title` the tooltip."""

    x: float
    y: float
    width: float
    height: float
    tone: str
    title: str


@dataclass(frozen=True)
class Label:
    x: float
    text: str


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    title: str


@dataclass(frozen=True)
class Line:
    """One series, interrupted where values are missing; an isolated value is only a dot."""

    path: str
    dots: list[Dot]
    tone: str


@dataclass(frozen=True)
class Chart:
    """A chart ready to draw. `summary` is its text alternative."""

    width: int
    height: float
    base: float
    grid: list[GridLine]
    bars: list[Bar]
    lines: list[Line]
    labels: list[Label]
    summary: str


@dataclass(frozen=True)
class Series:
    """One value per column; None where it is missing."""

    name: str
    tone: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Scale:
    """Maps values to coordinates."""

    top: float
    base: float
    columns: int
    width: int

    @property
    def step(self) -> float:
        return (self.width - LEFT) / self.columns

    def y(self, value: float) -> float:
        return round(self.base - (self.base - TOP) * value / self.top, 1)

    def x(self, column: int) -> float:
        """The center of a column."""
        return round(LEFT + self.step * (column + 0.5), 1)


def stacked(
    series: Sequence[Series],
    *,
    labels: Sequence[str],
    height: float,
    unit: str,
    summary: str,
    width: int = WIDE,
    whole: float = 0,
) -> Chart:
    """A stacked bar chart, one stack per label. The axis reaches at least `whole`."""
    sums = [sum(one.values[column] or 0 for one in series) for column in range(len(labels))]
    scale = Scale(top=nice_top(max([whole, *sums])), base=height - 28, columns=len(labels), width=width)
    bars = [bar for column in range(len(labels)) for bar in _stack(series, column, labels[column], scale, unit)]
    return _chart(scale, height=height, labels=labels, summary=summary, bars=bars, unit=unit)


def lines(series: Sequence[Series], *, labels: Sequence[str], height: float, unit: str, summary: str) -> Chart:
    """A line chart, one line per series."""
    highest = max((value for one in series for value in one.values if value is not None), default=0)
    scale = Scale(top=nice_top(highest), base=height - 28, columns=len(labels), width=WIDE)
    drawn = [_line(one, labels, scale, unit) for one in series]
    return _chart(scale, height=height, labels=labels, summary=summary, lines=drawn, unit=unit)


def nice_top(value: float) -> float:
    """The next round number for the end of an axis; its half is a whole number."""
    # Shares may add up to slightly more than 100 through rounding.
    value = round(value, 6)
    if value <= 2:
        return 2
    power = 10.0 ** math.floor(math.log10(value))
    return next(top for step in STEPS if (top := step * power) >= value and top % 2 == 0)


def _stack(series: Sequence[Series], column: int, label: str, scale: Scale, unit: str) -> list[Bar]:
    bars, below = [], 0.0
    width = scale.step * BAR_SHARE
    for one in series:
        value = one.values[column] or 0
        if not value:
            continue
        bottom, top = scale.y(below), scale.y(below + value)
        title = f"{label}: {_number(value)}{unit} {one.name.lower()}"
        height = max(0.8, round(bottom - top - GAP, 1))
        bars.append(Bar(round(scale.x(column) - width / 2, 1), top, round(width, 1), height, one.tone, title))
        below += value
    return bars


def _line(one: Series, labels: Sequence[str], scale: Scale, unit: str) -> Line:
    path, dots, pen_is_down = [], [], False
    for column, value in enumerate(one.values):
        if value is not None:
            x, y = scale.x(column), scale.y(value)
            path.append(f"{'L' if pen_is_down else 'M'}{x} {y}")
            dots.append(Dot(x, y, f"{labels[column]}: {_number(value)}{unit} {one.name.lower()}"))
        pen_is_down = value is not None
    return Line(" ".join(path), dots, one.tone)


def _chart(
    scale: Scale,
    *,
    height: float,
    labels: Sequence[str],
    summary: str,
    unit: str,
    bars: Sequence[Bar] = (),
    lines: Sequence[Line] = (),
) -> Chart:
    marks = (0, scale.top / 2, scale.top)
    return Chart(
        width=scale.width,
        height=height,
        base=scale.base,
        grid=[GridLine(scale.y(mark), f"{_number(mark)}{unit if unit == '%' else ''}") for mark in marks],
        bars=list(bars),
        lines=list(lines),
        labels=[Label(scale.x(column), text) for column, text in enumerate(labels)],
        summary=summary,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
