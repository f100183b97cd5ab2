"""THIRD_PARTY.md lists what is vendored and installed, with the licenses that the packages state."""

from __future__ import annotations

from tests.third_party import Part, development, listed, run_time, vendored

ADVICE = "run .venv/bin/python -m tests.third_party"


def parts() -> list[Part]:
    return [*vendored(), *run_time(), *development()]


def test_the_page_lists_exactly_what_is_pinned_and_vendored() -> None:
    pinned = {part.name: part.version for part in parts()}
    assert {part.name: part.version for part in listed().values()} == pinned, ADVICE


def test_the_page_gives_the_license_that_an_installed_package_states() -> None:
    """A package that this Python doesn't need isn't installed, and keeps the license on the page."""
    page = listed()
    wrong = [part for part in parts() if part.license and page.get(part.name, part).license != part.license]
    assert not wrong, ADVICE


def test_every_part_has_a_license() -> None:
    assert [name for name, part in listed().items() if part.license in {"", "unknown"}] == []
