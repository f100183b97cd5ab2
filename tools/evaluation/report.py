"""The score as tables, JSON and a plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from tools.evaluation.cases import Part
from tools.evaluation.score import CaseReading, Tally, tally, tally_by, tally_by_rule, tally_by_tool

WIDTH, ROW, LABELS, HEAD = 640, 22, 270, 34
PRECISION, RECALL = "#2b4acb", "#b5731b"
Sections = Mapping[str, Mapping[str, Tally]]


def sections(reads: Sequence[CaseReading]) -> Sections:
    """All breakdowns of the score: total, by language, part, tool and rule."""
    english = [read for read in reads if read.case.language == "en"]
    return {
        "all": {"fired": tally(reads)},
        "language": tally_by(reads, lambda case: case.language),
        "part of English": tally_by(english, lambda case: case.part),
        "tool": tally_by_tool(reads),
        "rule": tally_by_rule(reads),
    }


def table(reads: Sequence[CaseReading]) -> str:
    """Markdown tables, one per breakdown."""
    return "\n\n".join(_table(name, tallies) for name, tallies in sections(reads).items() if tallies)


def misses(reads: Sequence[CaseReading]) -> list[str]:
    """The misread cases, one line each. Held-out cases are only counted."""
    wrong = [read for read in reads if not read.is_right]
    told = [_miss(read) for read in wrong if read.case.part is not Part.HELD_OUT]
    return [*told, f"and {len(wrong) - len(told)} of the held-out part"]


def write(folder: Path, *, reads: Sequence[CaseReading], facts: Mapping[str, Any]) -> None:
    """Write `evaluation.json` and `evaluation.svg` to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cuts = sections(reads)
    figures = {name: {row: _figures(one) for row, one in tallies.items()} for name, tallies in cuts.items()}
    (folder / "evaluation.json").write_text(json.dumps({**facts, **figures}, indent=1, ensure_ascii=False) + "\n")
    (folder / "evaluation.svg").write_text(_plot(cuts))


def _miss(read: CaseReading) -> str:
    expected, found = sorted(read.case.expects_to_fire), sorted(read.fired)
    return f"{read.case.id}: {read.case.answer!r} fires {expected}, read as {read.error or found}"


def _table(name: str, tallies: Mapping[str, Tally]) -> str:
    head = [name, "right", "wrong", "missed", "precision", "recall"]
    rows = [
        [row, str(one.right), str(one.wrong), str(one.missed), _figure(one.precision), _figure(one.recall)]
        for row, one in tallies.items()
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---", *["---:"] * 5], *rows))


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _figures(one: Tally) -> dict[str, Any]:
    return {
        "right": one.right,
        "wrong": one.wrong,
        "missed": one.missed,
        "precision": one.precision,
        "recall": one.recall,
    }


def _plot(cuts: Sections) -> str:
    """Two bars per row, from 0 to 1: precision above recall."""
    parts, y = [_legend()], HEAD + ROW
    for name, tallies in cuts.items():
        parts.append(f'<text x="12" y="{y}" font-weight="600">{escape(name)}</text>')
        for row, one in tallies.items():
            y += ROW
            parts.append(_bars(row, one, y=y))
        y += ROW + ROW // 2
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" font-size="12">'
    return f'{head}<rect width="100%" height="100%" fill="#fffefc"/>{"".join(parts)}</svg>\n'


def _legend() -> str:
    marks = ((LABELS, PRECISION, "precision"), (LABELS + 100, RECALL, "recall"))
    return "".join(
        f'<rect x="{x}" y="14" width="10" height="10" fill="{colour}"/><text x="{x + 16}" y="23">{word}</text>'
        for x, colour, word in marks
    )


def _bars(row: str, one: Tally, *, y: int) -> str:
    room = WIDTH - LABELS - 60
    parts = [f'<text x="24" y="{y}">{escape(row)}</text>']
    for figure, colour, top in ((one.precision, PRECISION, y - 11), (one.recall, RECALL, y - 3)):
        width = room * (figure or 0)
        parts.append(f'<rect x="{LABELS}" y="{top}" width="{width:.1f}" height="7" fill="{colour}"/>')
    parts.append(
        f'<text x="{LABELS + room + 8}" y="{y}" font-size="9">{_figure(one.precision)}/{_figure(one.recall)}</text>'
    )
    return "".join(parts)
