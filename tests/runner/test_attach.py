"""bin/manage: management commands on a running copy."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from config.runner.attach import settings_of
from config.runner.embedded import EmbeddedServices
from config.runner.errors import StartError
from config.runner.preparation import DemoFile, DemoLogin
from tests.runner.commands import ROOT

pytestmark = pytest.mark.whole

ADDRESS = "http://127.0.0.1:8123"


@pytest.fixture
def copy(services: EmbeddedServices) -> Iterator[Path]:
    """The data directory of a copy that answers."""
    file = DemoFile(services.data_dir)
    file.write(DemoLogin("key", "demo@makegood.example", "password", "demo"), base_url=ADDRESS, model_url=None)
    yield services.data_dir
    file.remove()


def test_a_command_gets_the_servers_and_keys_of_a_running_copy(copy: Path, services: EmbeddedServices) -> None:
    found = settings_of({"MAKEGOOD_ENCRYPTION_KEYS": ""}, data_dir=copy)
    with psycopg.connect(found["DATABASE_URL"]) as connection:
        assert connection.execute("select current_user").fetchone() == ("mg_app",)
    with redis.Redis.from_url(found["REDIS_URL"]) as client:
        assert client.ping()
    known = {name: services.env[name] for name in ("SECRET_KEY", "MAKEGOOD_ENCRYPTION_KEYS") if name in services.env}
    assert found.items() >= {**known, "MAKEGOOD_BASE_URL": ADDRESS, "MAKEGOOD_OFFLINE": "1"}.items()


def test_the_operators_own_servers_come_first(copy: Path) -> None:
    own = {name: os.environ[name] for name in ("DATABASE_URL", "MIGRATE_DATABASE_URL", "OPS_DATABASE_URL")}
    own |= {name: os.environ[name] for name in ("SECRET_KEY", "MAKEGOOD_ENCRYPTION_KEYS", "REDIS_URL")}
    assert settings_of(own, data_dir=copy) == {**own, "DJANGO_SETTINGS_MODULE": "config.settings"}


def test_a_copy_that_is_stopped_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="No copy runs in"):
        settings_of({}, data_dir=tmp_path)


def test_the_command_runs() -> None:
    run = subprocess.run([ROOT / "bin" / "manage", "doctor"], capture_output=True, text=True, check=False)
    assert "PostgreSQL: PostgreSQL 18" in run.stdout
