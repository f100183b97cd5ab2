"""The browser of the measurements: Chromium without a window."""

from __future__ import annotations

import os
import shutil
from typing import Any

FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
# The headless shell first: a whole Chromium draws the tabs and the turning sign of a loading page as well, for which it
# takes a second core where there is no graphics card.
BINARIES = ("chromium-headless-shell", "chromium")
# Playwright sets what a page may ask of the system, unless told not to. Setting it styles and draws the page that is left
# once more, before the next one begins.
UNSET = {"color_scheme": "null", "reduced_motion": "null", "forced_colors": "null", "contrast": "null"}


def start_browser(playwright: Any) -> Any:
    """A browser of this Playwright: that of CHROMIUM, or the first of BINARIES that is on the PATH."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BINARIES)), None)
    return playwright.chromium.launch(executable_path=found, args=list(FLAGS))
