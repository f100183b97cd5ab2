"""The figures as a table, as JSON and as a plot."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.levels import Level

HEAD = (
    "conversations",
    "turns/s",
    "first token beyond the model, p50 / p95 ms",
    "reply to last analysis beyond one call, p50 ms",
    "CPU ms per turn (floor)",
    "PostgreSQL / Redis CPU ms",
    "web + workers MB",
    "prompt kB per turn",
)
WIDTH, HEIGHT, EDGE = 640, 240, 44


def table(levels: Sequence[Level]) -> str:
    """A Markdown table, one row per level."""
    rows = [HEAD, tuple("---" for _ in HEAD), *(_row(level) for level in levels)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(level: Level) -> tuple[str, ...]:
    return (
        str(level.conversations),
        f"{level.turns_per_s:.1f}",
        f"{level.first_token_p50_ms:.0f} / {level.first_token_p95_ms:.0f}",
        f"{level.analysed_p50_ms:.0f}",
        f"{level.cpu_ms:.1f} ({level.floor.cpu_ms:.1f})",
        f"{level.postgresql_cpu_ms:.1f} / {level.redis_cpu_ms:.1f}",
        f"{level.memory_mb:.0f}",
        f"{level.prompt_bytes / 1000:.1f}",
    )


def write(folder: Path, *, levels: Sequence[Level], extra: dict[str, Any]) -> None:
    """`figures.json` and `figures.svg` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {**extra, "levels": [level.as_json() for level in levels]}
    (folder / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    (folder / "figures.svg").write_text(_plot(levels))


def _plot(levels: Sequence[Level]) -> str:
    """Turns a second and CPU per turn, by conversations."""
    left = _bars(levels, title="turns a second", value=lambda level: level.turns_per_s, offset=0, colour="#2b4acb")
    right = _bars(
        levels, title="CPU ms per turn", value=lambda level: level.cpu_ms, offset=WIDTH // 2, colour="#57534a"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
    return f'{head}<rect width="100%" height="100%" fill="#fffefc"/>{left}{right}</svg>\n'


def _bars(levels: Sequence[Level], *, title: str, value: Callable[[Level], float], offset: int, colour: str) -> str:
    room, top = HEIGHT - 2 * EDGE, max(value(level) for level in levels)
    step = (WIDTH / 2 - EDGE) / len(levels)
    parts = [f'<text x="{offset + EDGE / 2}" y="24" font-weight="600">{title}</text>']
    for index, level in enumerate(levels):
        x, height = offset + EDGE / 2 + index * step, room * value(level) / top
        y = HEIGHT - EDGE - height
        parts.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{step * 0.6:.0f}" height="{height:.0f}" fill="{colour}"/>')
        parts.append(f'<text x="{x:.0f}" y="{y - 5:.0f}">{value(level):.1f}</text>')
        parts.append(f'<text x="{x:.0f}" y="{HEIGHT - EDGE + 18}">{level.conversations}</text>')
    return "".join(parts)
