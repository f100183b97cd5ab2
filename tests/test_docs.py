"""The documentation matches the repository: links, paths, settings and the version."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
# `folder/file.py` and `folder/` from the root, and `folder.module.name`. Patterns such as `<name>.py` don't match.
ROOMS = sorted(path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("."))
PATH = re.compile(rf"`((?:{'|'.join(ROOMS)})/[\w./-]*)`")
RELIABILITY = ROOT / "docs" / "reliability.md"
GUARANTEE = re.compile(r"^\| [^|]+ \| (`\w+/[^|]*) \|$", re.MULTILINE)
TEST_NAME = re.compile(r"`…?([a-z_]+?)_?…?`")
TEST_PATH = re.compile(r"`([\w/]+\.py)`")
MODULE = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.\w+)+)`")
MANAGE = re.compile(r"(?:manage\.py|bin/manage) (\w+)")
# Modules that read the environment; proxies and the like are read only to be ignored.
SOURCES = (
    *("telemetry", "outbound", "llm", "tenancy", "projects", "jobs", "notices", "tools", "todos", "conversations"),
    *("privacy", "console", "operations", "config"),
)
VARIABLE = re.compile(
    r"\"((?:MAKEGOOD|OPENAI|EMAIL|DEFAULT_FROM|SECRET|DATABASE|OPS_DATABASE|MIGRATE_DATABASE|REPLICA_DATABASE|REDIS)_[A-Z_]+)\""
)
# Variables of libraries, cleared so that they can't redirect requests.
CLEARED = {"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"}
# Read elsewhere: the output of bin/serve, the tests, failpoints.
ELSEWHERE = {"NO_COLOR", "CRASH_AT", "CHROMIUM", "MAKEGOOD_TEST_PROCESSES", "MAKEGOOD_TEST_POOLER"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that GitHub creates for a page's headings."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    for link in ("".join(found) for found in LINK.findall(FENCE.sub("", page.read_text()))):
        if link.startswith(("http:", "https:", "../../")):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def wrong_on_pages(look: Callable[[Path], Iterable[str]]) -> dict[str, list[str]]:
    """The faults that `look` finds, by page."""
    found = {name_of(page): list(look(page)) for page in PAGES}
    return {page: wrong for page, wrong in found.items() if wrong}


def missing_paths(page: Path) -> list[str]:
    bases = (ROOT, ROOT / "tests") if page == RELIABILITY else (ROOT,)
    return [path for path in PATH.findall(page.read_text()) if not any((base / path).exists() for base in bases)]


def test_links_are_valid() -> None:
    assert wrong_on_pages(broken_links) == {}


def test_paths_exist() -> None:
    assert wrong_on_pages(missing_paths) == {}


def test_modules_and_their_names_exist() -> None:
    names = {name for page in PAGES for name in MODULE.findall(page.read_text())}
    undefined = {name for name in names if not is_defined(name)}
    assert wrong_on_pages(lambda page: undefined.intersection(MODULE.findall(page.read_text()))) == {}


def is_defined(name: str) -> bool:
    """True if the module or package in the longest prefix of a dotted name defines the rest."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:end])
        files = [path.with_suffix(".py")] if path.with_suffix(".py").is_file() else [*path.glob("*.py")]
        if files:
            text = "".join(file.read_text() for file in files)
            return all(re.search(rf"\b{part}\b", text) for part in parts[end:])
    return False


def test_the_tests_of_the_guarantees_exist() -> None:
    """Each guarantee lists test files, and part of a test's name if it means one test."""
    rows = GUARANTEE.findall(RELIABILITY.read_text())
    files = {path for row in rows for path in TEST_PATH.findall(row)}
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    names = [name for row in rows for name in TEST_NAME.findall(row)]
    assert files
    assert names
    assert [path for path in files if not (ROOT / "tests" / path).is_file()] == []
    assert [name for name in names if not re.search(rf"def test_\w*{name}", tests)] == []


def test_management_commands_exist() -> None:
    assert wrong_on_pages(lambda page: set(MANAGE.findall(page.read_text())) - set(get_commands())) == {}


def test_every_page_is_linked_from_the_readme() -> None:
    found, queue = set(), [ROOT / "README.md"]
    while queue:
        page = queue.pop()
        if page in found or not page.is_file() or page.suffix != ".md":
            continue
        found.add(page)
        links = ("".join(link).partition("#")[0] for link in LINK.findall(page.read_text()))
        queue += [(page.parent / link).resolve() for link in links if link and not link.startswith("http")]
    decisions = set((ROOT / "docs" / "decisions").glob("*.md"))
    assert set(PAGES) - found - decisions == set()


def test_the_settings_page_lists_exactly_the_variables_read() -> None:
    text = "".join(path.read_text() for room in SOURCES for path in (ROOT / room).rglob("*.py"))
    read = set(VARIABLE.findall(text)) - CLEARED
    rows = [
        line.split("|")[1] for line in (ROOT / "docs/settings.md").read_text().splitlines() if line.startswith("| `")
    ]
    listed = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    assert listed - ELSEWHERE == read - ELSEWHERE


@pytest.mark.parametrize(
    "file", ["requirements.in", "requirements-traces.in", "requirements-s3.in", "requirements-dev.in"]
)
def test_every_direct_dependency_has_a_reason(file: str) -> None:
    names = set(re.findall(r"^[a-z][\w-]*", (ROOT / file).read_text(), re.MULTILINE))
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs/decisions/008-dependencies.md").read_text(), re.MULTILINE)
    assert names - set(re.findall(r"[\w-]+", " ".join(rows))) == set()


def test_the_latest_release_of_the_changelog_is_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    released = re.findall(r"^## \[(\d[\w.]*)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == version
    assert (ROOT / "docs" / "releases" / f"{version}.md").is_file()
