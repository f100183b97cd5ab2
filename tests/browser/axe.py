"""axe-core in the page: what it finds that keeps people out."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from playwright.sync_api import Page

from tests.browser.conftest import DESK, PHONE

# Without preload: axe would fetch what a style sheet imports, from where it isn't, and past the page's policy.
OPTIONS = 'preload: false, resultTypes: ["violations"], runOnly: kinds'
RUN = f"([kinds, within]) => axe.run(within, {{ {OPTIONS} }})"
# A rule that looks at what is painted takes most of the time: colors differ by scheme, but not by width.
COLORS = ("color-contrast", "link-in-text-block")
REMEMBER = """() => document.querySelectorAll("body *").forEach(
  (part) => part.toggleAttribute("data-axe-seen", part.getClientRects().length > 0))"""
RUN_BUT_COLORS = f"""([kinds, within]) => axe.run(within, {{
  {OPTIONS}, rules: {{ {", ".join(f'"{rule}": {{ enabled: false }}' for rule in COLORS)} }},
}})"""
RUN_UNSEEN = f"""([kinds, within]) => {{
  const unseen = [...document.querySelectorAll(`${{within}} :not([data-axe-seen])`)].filter((part) => part.getClientRects().length);
  return unseen.length ? axe.run({{ include: unseen }}, {{ {OPTIONS} }}) : {{ violations: [] }};
}}"""
ALL = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
GRAVE = ("serious", "critical")


@cache
def _axe() -> str:
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text()


def findings(page: Page, *kinds: str, within: str = "html") -> list[str]:
    """Every grave finding in a line: the rule, where, and what axe says of it. Of these rules or their tags; else of all.

    `within` limits it to a part of the page, whose rest test_axe.py looks at.
    """
    return _run(page, RUN, kinds or ALL, within)


def everywhere(page: Page, within: str = "html") -> list[str]:
    """The grave findings in light, in dark, where only colors differ, and on a phone.

    There, colors are looked at only where the page shows what it didn't at a desk.
    """
    found = [f"light: {line}" for line in findings(page, within=within)]
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"dark: {line}" for line in findings(page, *COLORS, within=within)]
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.evaluate(REMEMBER)
    page.set_viewport_size(PHONE)
    narrow = _run(page, RUN_BUT_COLORS, ALL, within) + _run(page, RUN_UNSEEN, COLORS, within)
    found += [f"phone: {line}" for line in narrow]
    page.set_viewport_size(DESK)
    return found


def _run(page: Page, script: str, kinds: tuple[str, ...], within: str) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    found: list[dict[str, Any]] = page.evaluate(script, [list(kinds), within])["violations"]
    return [_line(one, node) for one in found if one["impact"] in GRAVE for node in one["nodes"]]


def _line(one: dict[str, Any], node: dict[str, Any]) -> str:
    summary = " ".join(node["failureSummary"].split())
    return f"{one['id']} ({one['impact']}) at {node['target']}: {node['html'][:160]} {summary[:240]}"
