"""Writes the software bill of materials of an image, in CycloneDX's form: `sbom.py APP`. Standard library only.

It lists the packages of Debian, those of Python in APP/.venv, and the assets that APP/static/vendor contains.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from urllib.parse import quote

DEBIAN_FORMAT = "${binary:Package}\t${Version}\t${Architecture}\n"

Component = dict[str, Any]


def debian() -> Iterator[Component]:
    """The installed packages of Debian."""
    shown = subprocess.run(["dpkg-query", "-W", "-f", DEBIAN_FORMAT], capture_output=True, text=True, check=True).stdout
    for name, version, architecture in (line.split("\t") for line in shown.splitlines()):
        plain = name.partition(":")[0]
        yield _component(plain, version, f"pkg:deb/debian/{plain}@{quote(version)}?arch={architecture}")


def python(venv: Path) -> Iterator[Component]:
    """The packages in a virtual environment, with their licenses as far as they name one."""
    for one in distributions(path=[str(path) for path in venv.glob("lib/python3*/site-packages")]):
        name = re.sub(r"[-_.]+", "-", one.metadata["Name"]).lower()
        [found, *_] = one.metadata.get_all("License-Expression") or [""]
        licenses = {"licenses": [{"expression": found}]} if found else {}
        yield _component(name, one.version, f"pkg:pypi/{name}@{one.version}") | licenses


def vendored(app: Path) -> Iterator[Component]:
    """The assets that are part of the repository."""
    for one in json.loads((app / "static/vendor/vendor.lock.json").read_text())["packages"]:
        name, _, version = one["npm"].rpartition("@")
        yield _component(name, version, f"pkg:npm/{quote(name)}@{version}")


def bill(app: Path) -> dict[str, Any]:
    """The document."""
    version = tomllib.loads((app / "pyproject.toml").read_text())["project"]["version"]
    product = {"type": "application", "name": "makegood", "version": version, "bom-ref": "makegood"}
    parts = {one["bom-ref"]: one for one in (*debian(), *python(app / ".venv"), *vendored(app))}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {"timestamp": datetime.now(UTC).isoformat(timespec="seconds"), "component": product},
        "components": sorted(parts.values(), key=lambda part: part["bom-ref"]),
    }


def _component(name: str, version: str, purl: str) -> Component:
    return {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}


if __name__ == "__main__":
    json.dump(bill(Path(sys.argv[1])), sys.stdout, indent=1)
