"""bin/trim-tabler keeps what the pages use of Tabler's style sheet."""

from __future__ import annotations

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Names that are Tabler's where our own style sheets don't define them.
FAMILY = re.compile(
    r"(?:btn|form|table|card|alert|badge|modal|dropdown|input|nav|row|col|d|text|bg|visually)-[a-z0-9-]+"
)


@pytest.fixture(scope="module")
def trimmer() -> ModuleType:
    loader = SourceFileLoader("trim_tabler", str(ROOT / "bin" / "trim-tabler"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        ("a{color:red}.btn{top:0}.btn.btn-lg{top:1px}", "a{color:red}.btn{top:0}"),
        (".carousel,.btn:not(.carousel){top:0}", ".btn:not(.carousel){top:0}"),
        ("@media (width>1px){.carousel{top:0}}@media print{.btn{top:0}}", "@media print{.btn{top:0}}"),
        (":root{--a:var(--b);--b:1px;--c:2px}.btn{top:var(--a)}", ":root{--a:var(--b);--b:1px}.btn{top:var(--a)}"),
        (".btn{--a:1px}", ""),
        ('.btn{background:url("data:a;b{c}")}/* } */.btn{top:0}', '.btn{background:url("data:a;b{c}")}.btn{top:0}'),
        (
            "@keyframes a{0%{top:0}}@keyframes b{0%{top:0}}.btn{animation:1s a}",
            "@keyframes a{0%{top:0}}.btn{animation:1s a}",
        ),
    ],
)
def test_unused_rules_are_left_out(css: str, kept: str, trimmer: ModuleType) -> None:
    assert trimmer.trim(css, own="") == kept


def test_a_property_that_only_our_own_files_read_stays(trimmer: ModuleType) -> None:
    assert trimmer.trim(":root{--a:1px}", own=".mg-x{top:var(--a)}") == ":root{--a:1px}"


def test_every_class_of_tabler_in_a_page_has_a_rule() -> None:
    sheets = [*ROOT.glob("static/css/*.css"), *ROOT.glob("static/vendor/*/*.css")]
    defined = {name for sheet in sheets for name in re.findall(r"\.([a-zA-Z][\w-]*)", sheet.read_text())}
    pages = [*ROOT.glob("templates/**/*.html"), *ROOT.glob("static/js/**/*.js")]
    # The pages of the Django admin load its own style sheets.
    pages = [page for page in pages if "admin" not in page.parts]
    used = {name for page in pages for name in _classes(page.read_text())}
    assert len(used) > 10
    assert sorted(used - defined) == []


def _classes(page: str) -> set[str]:
    """The names of Tabler's families in `class="…"` of a template and `class: "…"` of a script."""
    values = re.findall(r'\bclass(?:="|: ")((?:\{[%{].*?[%}]\}|[^"])*)"', page)
    words = [word for value in values for word in re.sub(r"\{[%{].*?[%}]\}", " ", value).split()]
    return {word for word in words if FAMILY.fullmatch(word)}
