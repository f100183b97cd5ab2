"""axe-core in the page: what it finds that keeps people out."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from playwright.sync_api import Page

# Without preload: axe would fetch what a style sheet imports, from where it isn't, and past the page's policy.
RUN = """(kinds) => axe.run(document, {
  preload: false,
  resultTypes: ["violations"],
  runOnly: kinds,
})"""
ALL = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
GRAVE = ("serious", "critical")


@cache
def _axe() -> str:
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text()


def findings(page: Page, *kinds: str) -> list[str]:
    """Every grave finding in a line: the rule, where, and what axe says of it. Of these rules or their tags; else of all."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    found: list[dict[str, Any]] = page.evaluate(RUN, list(kinds or ALL))["violations"]
    return [_line(one, node) for one in found if one["impact"] in GRAVE for node in one["nodes"]]


def _line(one: dict[str, Any], node: dict[str, Any]) -> str:
    summary = " ".join(node["failureSummary"].split())
    return f"{one['id']} ({one['impact']}) at {node['target']}: {node['html'][:160]} {summary[:240]}"
