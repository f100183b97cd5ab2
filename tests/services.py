"""Starts PostgreSQL and Redis for the test run, before Django reads its settings (pytest's `-p tests.services`)."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from config.runner.embedded import EmbeddedServices
from config.runner.ports import free_port
from tests.migrated import copy_migrated

SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "OPENAI_API_KEY": "test",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "MAKEGOOD_OFFLINE": "1",
    "MAKEGOOD_METRICS_TOKEN": "scrape",
}
# For the xdist controller, which reads the settings but runs no test.
NOWHERE = {
    "DATABASE_URL": "postgresql://mg_app:none@127.0.0.1:9/makegood",
    "MIGRATE_DATABASE_URL": "postgresql://mg_owner:none@127.0.0.1:9/makegood",
    "OPS_DATABASE_URL": "postgresql://mg_ops:none@127.0.0.1:9/makegood",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "SECRET_KEY": "none",
    "MAKEGOOD_ENCRYPTION_KEYS": "WmZyV2p0SkNQZ0p2N0tQYk1sYnVXc0RpT3pNeFdZc2M=",
}


def shares_tests_out(arguments: Sequence[str]) -> bool:
    """True if pytest's `-n` has child processes run the tests. `-n 0` has none."""
    return re.search(r"(?<!\S)(-n|--numprocesses)[ =]?+(?!0(?!\S))", " ".join(arguments)) is not None


def _runs_tests() -> bool:
    """False in the xdist controller, whose child processes run the tests."""
    return "PYTEST_XDIST_WORKER" in os.environ or not shares_tests_out(sys.argv[1:])


data_dir = Path(tempfile.mkdtemp(prefix="makegood-"))
data_dir.chmod(0o711)
atexit.register(shutil.rmtree, data_dir, ignore_errors=True)
services = EmbeddedServices(data_dir, durable=False)
os.environ.update(SETTINGS, MAKEGOOD_METRICS_DIR=str(data_dir / "metrics"))
if _runs_tests():
    # Off until everything is imported (tests.conftest): importing creates no garbage worth collecting.
    gc.disable()
    copy_migrated(data_dir)
    services.start()
    atexit.register(services.stop)
    os.environ.update(services.env)
    if os.environ.get("MAKEGOOD_TEST_POOLER"):
        from tests.pooler import give_roles_settings, start_pooler

        give_roles_settings(services)
        pooler, env = start_pooler(services, directory=data_dir / "pooler", port=free_port())
        atexit.register(pooler.stop)
        os.environ.update(env)
else:
    os.environ.update(NOWHERE)
