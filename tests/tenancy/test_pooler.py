"""The product behind PgBouncer in transaction mode, where each transaction may meet another connection.

`MAKEGOOD_TEST_POOLER=1 bin/test tests/jobs` runs other tests behind it.
"""

from __future__ import annotations

import http.client
import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config.runner.embedded import EmbeddedServices
from config.runner.programs import CELERY, WORKER
from tenancy.postgresql.pooled import require_role_settings
from tests.conftest import Tenant
from tests.pooler import give_roles_settings, pgbouncer, start_pooler, take_roles_settings
from tests.processes import ScriptedModel, free_port, until
from tests.runner.commands import get, running

pytestmark = [
    pytest.mark.skipif(not pgbouncer(), reason="needs PgBouncer 1.21 or newer"),
    pytest.mark.skipif("MAKEGOOD_TEST_POOLER" in os.environ, reason="every test has a pooler"),
]

# One process instead of `bin/run replies` and `bin/run work`.
WORKER_OF_BOTH_QUEUES = shlex.join([sys.executable, "-m", "celery", *CELERY, *WORKER, "-Q", "replies,work"])


@pytest.fixture
def pooled(servers: EmbeddedServices) -> Iterator[dict[str, str]]:
    """The settings of a process that uses the pooler. The roles have none of theirs yet."""
    port = free_port()
    pooler, env = start_pooler(servers, directory=servers.data_dir / f"pooler-{port}", port=port)
    yield env
    pooler.stop()


@pytest.fixture
def role_settings(servers: EmbeddedServices) -> Iterator[None]:
    give_roles_settings(servers)
    yield
    take_roles_settings(servers)


def call(port: int, method: str, path: str, body: Any = None, **headers: str) -> Any:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        text = None if body is None else json.dumps(body)
        connection.request(method, f"/api/v1{path}", text, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        shown = answer.read().decode()
        assert answer.status < 300, shown
        return json.loads(shown)


def test_a_message_is_answered_and_its_promise_kept(
    tenant: Tenant, model: ScriptedModel, pooled: dict[str, str], role_settings: None, tmp_path: Path
) -> None:
    env = {**pooled, "OPENAI_BASE_URL": model.base_url, "MAKEGOOD_SWEEP_SECONDS": "0.25"}
    port = free_port()
    person = {"external_id": "ada", "phone": "+39 347 555 0142"}
    with ExitStack() as stack:
        for name, command in (("web", f"bin/run web --port {port}"), ("worker", WORKER_OF_BOTH_QUEUES)):
            stack.enter_context(running(command, log=tmp_path / f"{name}.log", **env))
        until(lambda: get(port, "/healthz") == 200, what="the web process")
        talk = call(port, "POST", "/conversations", {"channel": "chat", "persona": person}, **tenant.headers)
        said = {"content": "Could you text me the opening hours?"}
        answered = call(port, "POST", f"/conversations/{talk['id']}/messages?wait=30", said, **tenant.headers)
        assert answered["reply"]["content"]
        effects = f"/effects?conversation={talk['id']}"
        until(
            lambda: [one["state"] for one in call(port, "GET", effects, **tenant.headers)["results"]] == ["done"],
            what="the text",
        )


def test_a_role_without_its_limits_is_refused_in_one_sentence(database: None, pooled: dict[str, str]) -> None:
    wanted = settings.DATABASES["default"]["SESSION"]
    with (
        psycopg.connect(pooled["DATABASE_URL"], autocommit=True) as connection,
        pytest.raises(ImproperlyConfigured, match=r"^The role mg_app has no idle_in_transaction_session_timeout"),
    ):
        require_role_settings(connection, wanted)


def test_a_role_with_its_limits_is_accepted(database: None, pooled: dict[str, str], role_settings: None) -> None:
    with psycopg.connect(pooled["DATABASE_URL"], autocommit=True) as connection:
        require_role_settings(connection, settings.DATABASES["default"]["SESSION"])
        limit = connection.execute("show idle_in_transaction_session_timeout").fetchone()
    assert limit == ("10s",)
