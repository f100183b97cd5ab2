"""The picture of the architecture shows the code as it is. `python -m bench.picture` draws it anew."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from bench.imports import imported_by_module, modules, packages
from bench.picture import GUTTER, OUT, WIDTH, arrows, draw, layers
from tests.test_architecture import FLOORS, ROOMS

ROOT = Path(__file__).resolve().parents[2]
FOLDERS_BESIDE = {"bench", "tests"}


def rooms_in(picture: str) -> set[str]:
    return set(re.findall(r'data-room="([^"]+)"', picture))


def rooms_on_disk() -> set[str]:
    folders = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name not in FOLDERS_BESIDE]
    parts = [path.relative_to(ROOT).parent.parts for folder in folders for path in folder.rglob("__init__.py")]
    return {"/".join(one) for one in parts if len(one) <= 2 and one[-1] != "migrations"}


def test_the_stored_picture_has_the_rooms_that_exist() -> None:
    assert rooms_in(OUT.read_text()) == rooms_on_disk()


def test_the_picture_is_well_formed() -> None:
    assert ElementTree.fromstring(draw()).tag.endswith("svg")  # noqa: S314 - our own


def test_layers_stand_in_the_order_of_the_table() -> None:
    ordered = [layer.name for layer in layers() if not layer.is_apart]
    assert ordered == [name for name in reversed(FLOORS) if name in packages()]


def test_boxes_stand_in_the_order_of_the_table() -> None:
    for layer in layers():
        ordered = [name for name in ROOMS.get(layer.name, ()) if name in layer.rooms]
        assert list(layer.rooms)[: len(ordered)] == ordered


def test_a_separate_room_has_no_imports_and_no_importers() -> None:
    apart = {layer.name for layer in layers() if layer.is_apart}
    crossing = [
        f"{importer} imports {target}"
        for importer, targets in imported_by_module().items()
        # It starts them as programs, by their names.
        if importer != "config.runner.programs"
        for target in targets
        if importer.split(".")[0] != target.split(".")[0] and apart & {importer.split(".")[0], target.split(".")[0]}
    ]
    assert crossing == []


def test_arrows_point_down_and_none_follows_from_others() -> None:
    height = {name: at for at, name in enumerate(FLOORS)}
    drawn = arrows()
    assert all(height[upper] > height[lower] for upper, lower in drawn)
    shortcuts = {(first, last) for first, middle in drawn for start, last in drawn if start == middle}
    assert drawn & shortcuts == set()


def test_each_module_is_counted_in_one_layer() -> None:
    assert sum(layer.modules for layer in layers()) == len(modules())


def test_every_box_lies_inside_its_layer() -> None:
    boxes = [(x, x + width) for layer in layers() for line in layer.lines for x, width, _, _ in line]
    assert boxes
    assert all(0 < left < right < WIDTH - GUTTER for left, right in boxes)
