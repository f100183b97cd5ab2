"""Installations of earlier releases: restored into this version, and running beside it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config.backup import archive
from config.backup.frames import Kind
from config.backup.keys import read_identity
from config.backup.manifest import Manifest
from config.backup.restore import check_file
from tenancy.releases import RELEASES
from tests.backup.conftest import ROOT, Place, contents, empty_place, run
from tests.processes import ScriptedModel, free_port, until

pytestmark = pytest.mark.whole

FOLDER = Path(__file__).resolve().parent / "releases"
KEY = FOLDER / "opening.key"
# Tables that every version fills by itself.
MADE_ANEW = {"django_migrations", "django_content_type", "auth_permission"}


@dataclass(frozen=True)
class Installation:
    """A release's installation in the present schema."""

    file: Path
    place: Place
    manifest: Manifest
    api_key: str
    commit: str

    def env(self, model: ScriptedModel) -> dict[str, str]:
        """The settings of its processes."""
        assert self.manifest.secrets
        settings = {**os.environ, **self.place.env, **self.manifest.secrets.env()}
        settings.pop("PYTHONPATH", None)
        return settings | {"OPENAI_BASE_URL": model.base_url, "MAKEGOOD_SWEEP_SECONDS": "0.25"}


@pytest.fixture(scope="module", params=RELEASES)
def installation(request: pytest.FixtureRequest, _schema: None) -> Iterator[Installation]:
    file, known = FOLDER / f"{request.param}.backup", json.loads((FOLDER / f"{request.param}.json").read_text())
    manifest, _ = check_file(file, identity=read_identity(KEY))
    assert manifest.secrets
    with empty_place("earlier") as place:
        done = run("restore", str(file), "--key-file", str(KEY), **place.env, **manifest.secrets.env())
        assert done.returncode == 0, done.stderr
        yield Installation(file, place, manifest, **known)


def query(place: Place, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(place.admin_url) as connection:
        return connection.execute(statement.encode(), values).fetchall()


def test_the_backup_is_of_the_release(installation: Installation) -> None:
    last = {
        app: name for app, name in installation.manifest.migrations if app in RELEASES[installation.manifest.version]
    }
    assert last == RELEASES[installation.manifest.version]


def test_no_row_is_lost(installation: Installation) -> None:
    """Each table holds as many rows as the backup says."""
    with archive.reading(installation.file, identity=read_identity(KEY)) as frames:
        counted = [json.loads(frame.payload) for frame in frames if frame.kind is Kind.COUNT]
    after = contents(installation.place.admin_url)
    names = [table.name for table in installation.manifest.tables]
    lost = {name: rows for name, rows in zip(names, counted, strict=True) if (after[name] or [0])[0] != rows}
    assert lost.keys() <= MADE_ANEW
    assert counted[names.index("conversations_message")] >= 12


def test_the_api_key_is_kept(installation: Installation) -> None:
    digest = hashlib.sha256(installation.api_key.encode()).hexdigest()
    assert query(installation.place, "select count(*) from projects_apikey where digest = %s", digest) == [(1,)]


# Beside this version


@contextmanager
def running(folder: Path, *command: str, env: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, env=env, start_new_session=True)
    try:
        yield
    finally:
        process.kill()
        process.wait(10)


def web(port: int) -> tuple[str, ...]:
    return ("uvicorn", "config.asgi:application", "--port", str(port), "--ws", "none", "--no-access-log")


def worker(name: str) -> tuple[str, ...]:
    options = ("-P", "threads", "-c", "1", "--without-gossip", "--without-mingle", "--without-heartbeat")
    return (
        "celery",
        "-q",
        "--skip-checks",
        "-A",
        "config",
        "worker",
        *options,
        "-Q",
        "replies,work",
        "-n",
        f"{name}@%h",
    )


@pytest.fixture
def old_code(installation: Installation, tmp_path: Path) -> Path:
    """The code of the release, from the history of this repository."""
    archived = subprocess.run(["git", "archive", installation.commit], cwd=ROOT, capture_output=True, check=False)
    if archived.returncode:
        pytest.skip(f"the commit of {installation.manifest.version} isn't in this clone")
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as files:
        files.extractall(tmp_path / "old", filter="data")
    return tmp_path / "old"


def call(port: int, path: str, *, key: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1{path}", data=json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def is_up(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_the_release_goes_on_working_on_the_migrated_schema(
    installation: Installation, old_code: Path, model: ScriptedModel
) -> None:
    """Its web process and worker run alone, then this version's web process beside its worker, then both workers."""
    old, new = free_port(), free_port()
    env, key = installation.env(model), installation.api_key
    with ExitStack() as processes:
        processes.enter_context(running(old_code, *web(old), env=env))
        processes.enter_context(running(old_code, *worker("old"), env=env))
        until(lambda: is_up(old), seconds=120)
        body = {"channel": "chat", "persona": {"external_id": "during the upgrade", "phone": "+393471112233"}}
        talk = f"/conversations/{call(old, '/conversations', key=key, body=body)['id']}/messages?wait=50"
        assert call(old, talk, key=key, body={"content": "A table for two, please."})["reply"]["content"]
        processes.enter_context(running(ROOT, *web(new), env=env))
        until(lambda: is_up(new), seconds=120)
        assert call(new, talk, key=key, body={"content": "At eight, please text me the details."})["reply"]["content"]
        processes.enter_context(running(ROOT, *worker("new"), env=env))
        for port in (old, new, old):
            assert call(port, talk, key=key, body={"content": "Is anything vegan?"})["reply"]["content"]
        unfinished = (
            "select lane, state, error from jobs_job where state in ('queued', 'running') and run_after <= now()"
        )
        until(lambda: not query(installation.place, unfinished), seconds=60)
    assert query(installation.place, "select lane, error from jobs_job where state = 'failed'") == []
    shutil.rmtree(old_code)
