"""Loads the product once and forks a process for each request, so that real processes start quickly.

A request is a line of JSON on standard input; the answer is a line with the process id. The kernel reaps the children.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import signal
import sys
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from uuid import UUID

import django

django.setup()

import redis.utils  # noqa: E402
import uvicorn  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import InterfaceError, connections  # noqa: E402

from config.celery import app  # noqa: E402
from config.runner import forkserver  # noqa: E402
from conversations.prompts.observer import Observation  # noqa: E402
from conversations.prompts.thoughts import KeyDirectives  # noqa: E402
from conversations.turns.services import post_message  # noqa: E402
from llm.structured import schema_of  # noqa: E402
from projects.models.agent_config import time_zones  # noqa: E402
from tenancy.prepared_queries import PreparedValues  # noqa: E402
from tenancy.scope import tenant_tx  # noqa: E402
from tests.file_places import use_file_places  # noqa: E402
from tests.shared_ssl_context import share_authorities  # noqa: E402
from tests.storms.planted import plant  # noqa: E402
from tests.tools.bookings.guest import guest  # noqa: E402
from tools.engine.catalogue import code_definition  # noqa: E402
from tools.engine.registry import builtin_tools  # noqa: E402
from tools.engine.skills.detect import Verdicts  # noqa: E402

WORKER = ["worker", "-P", "threads", "-c", "2", "--without-gossip", "--without-mingle", "--without-heartbeat"]

# Modules that a worker or a web process imports late, in addition to those of `config.runner.forkserver`.
LATE = (
    "billiard.pool",
    "celery.events.receiver",
    "celery.worker.consumer.delayed_delivery",
    "celery.worker.strategy",
    "django.contrib.admin.templatetags.admin_list",
    "django.contrib.auth.context_processors",
    "django.contrib.messages.context_processors",
    "django.contrib.messages.storage.fallback",
    "django.core.cache.utils",
    "django.template.context_processors",
    "django.template.loaders.app_directories",
    "todos.tasks",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.wsproto_impl",
)
# The output models that every turn uses, by skill.
OUTPUTS = {"detect": Verdicts, "observer": Observation, "thoughts": KeyDirectives}

# Slow hashing would dominate the tests.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def worker(queues: str, planted: str = "", mail_port: int = 0, address: str = "") -> None:
    """Run a worker. `planted` names a bug that a checker has to find; `mail_port` is the port of the mail server, and
    `address` the product's own address.
    """
    if address:
        settings.BASE_URL = address
    if mail_port:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mail_port
    if planted:
        plant(planted)
    app.worker_main([*WORKER, "-Q", queues, "-n", f"{queues}-{os.getpid()}@test"])


def web(port: int, knows_address: bool = False) -> None:
    if knows_address:
        settings.BASE_URL = f"http://127.0.0.1:{port}"
    uvicorn.run(
        "config.asgi:application",
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=1,
        http="config.http_protocol:TimedProtocol",
        ws="wsproto",
        ws_max_size=65_536,
        proxy_headers=False,
    )


def post(organization: str, conversation: str, contents: list[str]) -> None:
    """Post messages as a web process does, each in its own transaction."""
    for content in contents:
        with tenant_tx(UUID(organization)):
            post_message(UUID(conversation), content)


KINDS = {"worker": worker, "web": web, "post": post, "guest": guest}


def shorten_leases(seconds: float) -> None:
    """Set the lease as MAKEGOOD_LEASE_SECONDS does when a process starts."""
    settings.LEASE_SECONDS = seconds
    for database in connections.databases.values():
        database["SESSION"]["idle_in_transaction_session_timeout"] = int(seconds * 1000)


def be_child(order: dict) -> None:
    os.environ.update(order["env"])
    if order["lease_seconds"]:
        shorten_leases(order["lease_seconds"])
    if os.environ.get("MAKEGOOD_FILES"):
        use_file_places()
    output = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status = 1
    try:
        KINDS[order["kind"]](**order["arguments"])
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def load() -> None:
    """Import what a process needs before its first job. Django's system checks have their own test."""
    forkserver.load()
    for module in LATE:
        import_module(module)
    work_out()
    share_authorities()
    os.environ["CELERY_SKIP_CHECKS"] = "1"
    gc.freeze()


def work_out() -> None:
    """Fill the caches that each process would fill itself, which is most of the cost of its start and first turn."""
    app.finalize()
    app.backend  # noqa: B018 - made by asking for it
    platform.platform()
    redis.utils.get_lib_version = cache(redis.utils.get_lib_version)
    redis.utils.get_lib_version()
    time_zones()
    for skill, output in OUTPUTS.items():
        schema_of(output, name=skill)
    for tool in builtin_tools().values():
        code_definition(tool)
    make_statements()


def make_statements() -> None:
    """Build the SQL of compiled statements without a connection, since none survives a fork."""
    connection = connections["default"]
    connection.connect, connection.get_autocommit = refuse, lambda: False
    # `gc.get_objects` leaves out frozen objects.
    gc.unfreeze()
    for statement in gc.get_objects():
        if isinstance(statement, PreparedValues):
            with suppress(InterfaceError):
                statement.text  # noqa: B018 - made by asking for it
    del connection.connect, connection.get_autocommit


def refuse() -> None:
    raise InterfaceError


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    load()
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            be_child(order)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
