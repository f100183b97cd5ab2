"""Chart geometry; templates draw it as SVG without scaling.

Horizontal positions are percentages of the plot, vertical ones pixels, so a chart fills its width while its text keeps its
size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from projects.common.numbers import decimal, grouped

TOP = 10.0
FOOT = 28.0
BAR_SHARE = 0.62
GAP = 1.0
STEPS = (1, 2, 2.5, 4, 5, 6, 10)
# Marks of an axis from 10,000 on are shortened: the plot's margin holds five characters.
SHORTENED_FROM = 10_000
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
# Labels that fit below the plot; half of them do on a phone.
MOST_LABELS = 8


@dataclass(frozen=True)
class GridLine:
    y: float
    label: str


@dataclass(frozen=True)
class Segment:
    """One segment of a stack. `tone` is a CSS class."""

    y: float
    height: float
    tone: str


@dataclass(frozen=True)
class Value:
    """One value of a column, as its tooltip shows it."""

    name: str
    text: str
    tone: str


@dataclass(frozen=True)
class Column:
    """One column: its position, what is drawn in it, its values, and the page that lists what it counts, if any."""

    x: float
    width: float
    bar_x: float
    bar_width: float
    center: float
    name: str
    values: list[Value]
    segments: list[Segment]
    url: str


@dataclass(frozen=True)
class Label:
    """A label below the plot; `is_now` marks the current hour or day, and `is_spare` what narrow charts leave out."""

    x: float
    text: str
    is_now: bool
    is_spare: bool


@dataclass(frozen=True)
class Dot:
    x: float
    y: float


@dataclass(frozen=True)
class Line:
    """One series, interrupted where values are missing; an isolated value is only a dot."""

    path: str
    dots: list[Dot]
    tone: str


@dataclass(frozen=True)
class Chart:
    """A chart ready to draw. `summary` is its text alternative."""

    height: float
    base: float
    grid: list[GridLine]
    columns: list[Column]
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
class Axis:
    """The columns: their names, the labels below the plot, the pages they lead to, and the current one."""

    names: Sequence[str]
    labels: Sequence[str]
    urls: Sequence[str] = ()
    now: int | None = None


@dataclass(frozen=True)
class Scale:
    """Maps values to coordinates."""

    top: float
    base: float
    columns: int

    @property
    def step(self) -> float:
        return 100 / self.columns

    def y(self, value: float) -> float:
        return round(self.base - (self.base - TOP) * value / self.top, 1)

    def x(self, column: int) -> float:
        """The center of a column."""
        return round(self.step * (column + 0.5), 3)


def stacked(series: Sequence[Series], axis: Axis, *, height: float, unit: str, summary: str) -> Chart:
    """A stacked bar chart, one stack per column."""
    sums = [sum(one.values[column] or 0 for one in series) for column in range(len(axis.names))]
    scale = Scale(top=nice_top(max(sums)), base=height - FOOT, columns=len(axis.names))
    stacks = [_stack(series, column, scale) for column in range(len(axis.names))]
    return _chart(scale, axis, series, unit=unit, height=height, summary=summary, stacks=stacks)


def lines(series: Sequence[Series], axis: Axis, *, height: float, unit: str, summary: str) -> Chart:
    """A line chart, one line per series."""
    highest = max((value for one in series for value in one.values if value is not None), default=0)
    scale = Scale(top=nice_top(highest), base=height - FOOT, columns=len(axis.names))
    drawn = [_line(one, scale) for one in series]
    return _chart(scale, axis, series, unit=unit, height=height, summary=summary, lines=drawn)


def nice_top(value: float) -> float:
    """The next round number for the end of an axis; its half is a whole number."""
    # Shares may add up to slightly more than 100 through rounding.
    value = round(value, 6)
    if value <= 2:
        return 2
    power = 10.0 ** math.floor(math.log10(value))
    return next(top for step in STEPS if (top := step * power) >= value and top % 2 == 0)


def _stack(series: Sequence[Series], column: int, scale: Scale) -> list[Segment]:
    segments, below = [], 0.0
    for one in series:
        value = one.values[column] or 0
        if not value:
            continue
        bottom, top = scale.y(below), scale.y(below + value)
        segments.append(Segment(top, max(0.8, round(bottom - top - GAP, 1)), one.tone))
        below += value
    return segments


def _line(one: Series, scale: Scale) -> Line:
    path, dots, pen_is_down = [], [], False
    for column, value in enumerate(one.values):
        if value is not None:
            x, y = scale.x(column), scale.y(value)
            path.append(f"{'L' if pen_is_down else 'M'}{x} {y}")
            dots.append(Dot(x, y))
        pen_is_down = value is not None
    return Line(" ".join(path), dots, one.tone)


def _chart(
    scale: Scale,
    axis: Axis,
    series: Sequence[Series],
    *,
    unit: str,
    height: float,
    summary: str,
    stacks: Sequence[list[Segment]] = (),
    lines: Sequence[Line] = (),
) -> Chart:
    marks = (0, scale.top / 2, scale.top)
    return Chart(
        height=height,
        base=scale.base,
        grid=[GridLine(scale.y(mark), _mark(mark)) for mark in marks],
        columns=[
            _column(scale, axis, series, at, unit=unit, segments=stacks[at] if stacks else [])
            for at in range(scale.columns)
        ],
        lines=list(lines),
        labels=_labels(scale, axis),
        summary=summary,
    )


def _column(
    scale: Scale, axis: Axis, series: Sequence[Series], at: int, *, unit: str, segments: list[Segment]
) -> Column:
    width = scale.step * BAR_SHARE
    found = [(one, value) for one in series if (value := one.values[at]) is not None]
    return Column(
        x=round(scale.step * at, 3),
        width=round(scale.step, 3),
        bar_x=round(scale.x(at) - width / 2, 3),
        bar_width=round(width, 3),
        center=scale.x(at),
        name=axis.names[at],
        values=[Value(one.name, f"{number(value)}{unit}", one.tone) for one, value in found],
        segments=segments,
        url=axis.urls[at] if axis.urls and any(value for _, value in found) else "",
    )


def _labels(scale: Scale, axis: Axis) -> list[Label]:
    """Evenly spaced labels, the current column's among them."""
    step = -(-scale.columns // MOST_LABELS)
    first = axis.now % step if axis.now is not None else 0
    shown = range(first, scale.columns, step)
    # Every second one, so that the last one stays.
    spare = set(shown[-2::-2])
    return [Label(scale.x(at), axis.labels[at], at == axis.now, at in spare) for at in shown]


def _mark(value: float) -> str:
    if value < SHORTENED_FROM:
        return number(value)
    size, prefix = next(one for one in PREFIXES if value >= one[0])
    return f"{number(value / size)}\N{NO-BREAK SPACE}{prefix}"


def number(value: float) -> str:
    return grouped(value) if value >= 10 or value == int(value) else decimal(value, 1)
