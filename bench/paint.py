"""Measures the first paint and the layout shift of every page of staff, and the CPU that the server spends on it:
`python -m bench.paint`.

The pages are those that the palette offers to the demo's owner, with one conversation and its customer. A page is
opened several times in a browser of its own window; the first time fills the caches and isn't counted. The first paint of
a page of two words, from the same server, tells what of it is the browser's and the machine's own part.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.__main__ import table
from bench.browser import UNSET, start_browser
from bench.product import Product, running_product

GOAL_PAINT_MS, GOAL_SHIFT = 150.0, 0.05
# Scripts and live parts of a page have this long to move something.
SETTLE_MS = 700
# Requests of a page alone, over which its CPU is averaged.
REQUESTS = 10
EMPTY_PAGE = "/livez"
FOUND = """() => new Promise((tell) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) shift += one.value;
  }).observe({type: "layout-shift", buffered: true});
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  setTimeout(() => tell([paint ? paint.startTime : null, shift]), 50);
})"""


@dataclass(frozen=True)
class Painted:
    """A page: the median of its first contentful paints, its largest layout shift, and the CPU of the web process for one
    request of the page alone.
    """

    path: str
    paint_ms: float
    shift: float
    server_ms: float

    @property
    def is_met(self) -> bool:
        return self.paint_ms <= GOAL_PAINT_MS and self.shift <= GOAL_SHIFT

    def cells(self) -> tuple[str, ...]:
        return (
            self.path,
            f"{self.paint_ms:.0f}",
            f"{self.shift:.3f}",
            f"{self.server_ms:.1f}",
            "met" if self.is_met else "missed",
        )


def measure(product: Product, *, loads: int, width: int) -> tuple[list[Painted], Painted]:
    """Every page, the slowest first; and the page that is empty but for two words."""
    # Imported here, as in bench.widget: only this measurement needs a browser.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = start_browser(started)
        page = browser.new_page(viewport={"width": width, "height": 900}, **UNSET)
        _sign_in(page, product)
        found = [_open(page, product, path, loads=loads) for path in _paths(page, product)]
        empty = _open(page, product, EMPTY_PAGE, loads=loads)
        browser.close()
    return sorted(found, key=lambda one: -one.paint_ms), empty


def _sign_in(page: Any, product: Product) -> None:
    page.goto(f"{product.base_url}/account/login/")
    page.get_by_label("E-mail").fill(product.login["email"])
    page.get_by_label("Password").fill(product.login["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/p/**")


def _paths(page: Any, product: Product) -> Iterator[str]:
    """The pages of the palette, then those of one conversation and one customer."""
    home = f"/p/{product.login['project']}"
    entries = page.request.get(f"{product.base_url}{home}/palette").json()["entries"]
    yield from dict.fromkeys(one["url"].partition("#")[0] for one in entries if one["url"].startswith(home))
    talk = product.call("/conversations", {"channel": "chat", "persona": {"external_id": f"{time.time_ns()}"}})
    product.call(f"/conversations/{talk['id']}/messages?wait=30", {"content": "Could you text me the opening hours?"})
    yield f"{home}/inbox/{talk['id']}"
    yield f"{home}/people/{talk['persona']['id']}"


def _open(page: Any, product: Product, path: str, *, loads: int) -> Painted:
    found = []
    for _ in range(loads + 1):
        page.goto(f"{product.base_url}{path}")
        page.wait_for_timeout(SETTLE_MS)
        found.append(page.evaluate(FOUND))
    paints = [paint for paint, _ in found[1:] if paint is not None]
    if not paints:
        raise RuntimeError(f"{path} painted nothing.")
    shift = max(shift for _, shift in found[1:])
    return Painted(path, statistics.median(paints), shift, _server_ms(page, product, path))


def _server_ms(page: Any, product: Product, path: str) -> float:
    before = product.cpu_s()["web"]
    for _ in range(REQUESTS):
        page.request.get(f"{product.base_url}{path}")
    return (product.cpu_s()["web"] - before) / REQUESTS * 1000


def main() -> None:
    options = _options()
    with running_product(ttft_ms=50) as product:
        found, empty = measure(product, loads=options.loads, width=options.width)
    head = ("page", "first paint, ms", "layout shift", "server CPU, ms", "goals")
    print(f"\n{table(head, (one.cells() for one in (*found, empty)))}\n")
    print(f"goals: {GOAL_PAINT_MS:.0f} ms, median of {options.loads} loads, and {GOAL_SHIFT} of layout shift")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _options() -> argparse.Namespace:
    description, *_ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m bench.paint", description=description)
    parser.add_argument("--loads", type=int, default=5, help="loads of each page that count")
    parser.add_argument("--width", type=int, default=1440, help="width of the window in pixels")
    return parser.parse_args()


if __name__ == "__main__":
    main()
