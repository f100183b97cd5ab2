"""THIRD_PARTY.md lists vendored files and installed packages with their licenses."""

from __future__ import annotations

from tests.third_party import Part, development, listed, run_time, vendored

ADVICE = "run .venv/bin/python -m tests.third_party"


def parts() -> list[Part]:
    return [*vendored(), *run_time(), *development()]


def test_the_page_lists_exactly_the_pinned_and_vendored_parts() -> None:
    pinned = {part.name: part.version for part in parts()}
    assert {part.name: part.version for part in listed().values()} == pinned, ADVICE


def test_licenses_match_the_installed_packages() -> None:
    """A package that this Python version doesn't need keeps the license on the page."""
    page = listed()
    wrong = [part for part in parts() if part.license and page.get(part.name, part).license != part.license]
    assert not wrong, ADVICE


def test_every_part_has_a_license() -> None:
    assert [name for name, part in listed().items() if part.license in {"", "unknown"}] == []
