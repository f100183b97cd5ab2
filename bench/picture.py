"""Draws docs/images/architecture.svg from the imports of the code: `python -m bench.picture`.

A layer is a top-level package; its boxes are its sub-packages, with their numbers of modules. Layers are drawn from the
bottom up and boxes from left to right, in the order enforced by `tests/test_architecture.py`. An arrow says that the
upper layer imports the lower one. Arrows implied by others are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.imports import ROOT, imported_by_module, modules, packages, rooms
from tests.test_architecture import FLOORS, ROOMS

OUT = ROOT / "docs" / "images" / "architecture.svg"
WIDTH, MARGIN, TITLE, GUTTER = 960, 12, 165, 60
BOX, GAP, BETWEEN, PAD = 26, 6, 22, 9
# The width of a character in the monospaced font.
LETTER = 7.23
STYLE = """
  :root { --page: #ffffff; --layer: #f4f2ec; --line: #d8d4c9; --room: #ffffff; --ink: #23211c; --soft: #6b675d; --arrow: #2b4acb; }
  @media (prefers-color-scheme: dark) {
    :root { --page: #0d1117; --layer: #191d24; --line: #343a44; --room: #232831; --ink: #ece9e2; --soft: #a19c91; --arrow: #8ea2ff; }
  }
  svg { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
  .page { fill: var(--page); }
  .layer { fill: var(--layer); stroke: var(--line); }
  .apart { stroke-dasharray: 4 3; }
  .room { fill: var(--room); stroke: var(--line); }
  text { fill: var(--ink); }
  .name { font-weight: 600; font-size: 14px; }
  .number { fill: var(--soft); }
  .arrow { fill: none; stroke: var(--arrow); stroke-width: 1.5; marker-end: url(#head); }
  #head path { fill: var(--arrow); }
"""


@dataclass(frozen=True)
class Layer:
    """A top-level package: its sub-packages with their numbers of modules, and its position."""

    name: str
    modules: int
    rooms: Mapping[str, int]
    top: float
    is_apart: bool

    @property
    def lines(self) -> list[list[tuple[float, float, str, int]]]:
        """The boxes line by line, each with its left edge, width, name and number of modules."""
        lines: list[list[tuple[float, float, str, int]]] = [[]]
        left = end = float(MARGIN + TITLE)
        for name, number in self.rooms.items():
            width = LETTER * len(f"{name} {number}") + 2 * PAD
            if end + width > WIDTH - GUTTER - PAD and lines[-1]:
                lines.append([])
                end = left
            lines[-1].append((end, width, name, number))
            end += width + GAP
        return lines

    @property
    def height(self) -> float:
        return 2 * PAD + len(self.lines) * (BOX + GAP) - GAP

    @property
    def bottom(self) -> float:
        return self.top + self.height


def layers() -> list[Layer]:
    """All layers from the top down. Packages outside the table are drawn apart, below the others."""
    numbers = _module_numbers()
    ordered = [name for name in reversed(FLOORS) if name in packages()]
    apart = [name for name in packages() if name not in FLOORS]
    found: list[Layer] = []
    top = float(MARGIN)
    for name in (*ordered, *apart):
        inside = {room: numbers[f"{name}/{room}"] for room in _rooms_of(name)}
        found.append(Layer(name, numbers[name], inside, top, is_apart=name in apart))
        top = found[-1].bottom + BETWEEN
    return found


def _rooms_of(layer: str) -> list[str]:
    """The package's sub-packages, lowest first; those outside the table come last."""
    order = ROOMS.get(layer, ())
    names = [room.split("/")[1] for room in rooms() if room.startswith(f"{layer}/")]
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def _module_numbers() -> Counter[str]:
    """The number of modules in each room, including nested ones."""
    parts = [path.relative_to(ROOT).parts for path in modules().values()]
    return Counter(room for one in parts for room in {one[0], "/".join(one[:2])})


def arrows() -> set[tuple[str, str]]:
    """The layers that import lower ones, without arrows implied by others."""
    height = {name: at for at, name in enumerate(FLOORS)}
    direct = {
        (importer.split(".")[0], target.split(".")[0])
        for importer, targets in imported_by_module().items()
        for target in targets
    }
    down = {(upper, lower) for upper, lower in direct if height.get(upper, -1) > height.get(lower, len(FLOORS))}
    return {arrow for arrow in down if not _is_implied(arrow, down)}


def _is_implied(arrow: tuple[str, str], arrows: set[tuple[str, str]]) -> bool:
    """True if the lower layer is reached through another one."""
    upper, lower = arrow
    reached = [between for above, between in arrows if above == upper and between != lower]
    for layer in reached:
        reached += [below for above, below in arrows if above == layer and below not in reached]
    return lower in reached


def draw() -> str:
    """Draw the picture as SVG."""
    drawn = layers()
    places = {layer.name: at for at, layer in enumerate(drawn)}
    height = drawn[-1].bottom + MARGIN
    lines = sorted(arrows(), key=lambda arrow: (places[arrow[1]] - places[arrow[0]], arrow))
    far = [arrow for arrow in lines if places[arrow[1]] - places[arrow[0]] > 1]
    parts = [_layer(layer) for layer in drawn]
    for upper, lower in lines:
        lane = far.index((upper, lower)) if (upper, lower) in far else None
        parts.append(_arrow(drawn[places[upper]], drawn[places[lower]], lane=lane))
    head = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="title">',
            '<title id="title">The layers of the code, with their rooms. Each layer imports from those below it.</title>',
            f"<style>{STYLE}</style>",
            f'<defs>{head}<path d="M0 0 L8 4 L0 8 Z"/></marker></defs>',
            f'<rect class="page" width="{WIDTH}" height="{height:.0f}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _layer(layer: Layer) -> str:
    middle = layer.top + PAD + BOX / 2
    width = WIDTH - MARGIN - GUTTER
    kind = "layer apart" if layer.is_apart else "layer"
    return "\n".join(
        [
            f'<g data-room="{layer.name}">',
            f'<rect class="{kind}" x="{MARGIN}" y="{layer.top:.0f}" width="{width}" height="{layer.height:.0f}" rx="8"/>',
            f'<text class="name" x="{MARGIN + PAD}" y="{middle + 5:.0f}">{layer.name}'
            f' <tspan class="number">{layer.modules}</tspan></text>',
            "</g>",
            *_boxes(layer),
        ]
    )


def _boxes(layer: Layer) -> Iterator[str]:
    for number, line in enumerate(layer.lines):
        y = layer.top + PAD + number * (BOX + GAP)
        for x, width, name, many in line:
            yield (
                f'<g data-room="{layer.name}/{name}">'
                f'<rect class="room" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" rx="5"/>'
                f'<text x="{x + PAD:.0f}" y="{y + BOX / 2 + 4:.0f}">{name} <tspan class="number">{many}</tspan></text></g>'
            )


def _arrow(upper: Layer, lower: Layer, *, lane: int | None) -> str:
    """An arrow straight down to the next layer, or past others in a lane of its own."""
    if lane is None:
        x = MARGIN + TITLE / 2
        return f'<path class="arrow" d="M{x:.0f} {upper.bottom:.0f} V{lower.top:.0f}"/>'
    edge, x = WIDTH - GUTTER, WIDTH - GUTTER + 14 + 10 * lane
    start, end = upper.bottom - 8 - 5 * lane, lower.top + 8 + 5 * lane
    return f'<path class="arrow" d="M{edge} {start:.0f} H{x} V{end:.0f} H{edge}"/>'


def main() -> None:
    OUT.write_text(draw())
    print(f"{OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}: {len(rooms())} rooms")


if __name__ == "__main__":
    main()
