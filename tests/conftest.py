"""Shared fixtures: two organizations, their members and keys, on real PostgreSQL and Redis."""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.db import connections
from django.test import AsyncClient, Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from xdist.scheduler import LoadFileScheduling

from config.memory import settle
from config.runner.programs import offline_providers_env
from projects.agents.services import create_key, create_organization, create_project
from projects.management.commands.demo import OUTSIDE_CONFIG
from projects.models import Member, Role, User
from projects.models.agent_config import AgentConfig
from projects.models.key import Scope
from projects.models.seeds import plant_seeds
from projects.records.attributes import start_attributes
from tenancy.scope import tenant_tx
from tests.api.documented import DocumentedClient
from tests.bypass_rls import bypass_rls
from tests.calls_provider import Provider, offline_calls
from tests.connection_leaks import require_no_leaks, track_connections
from tests.flush import flush_tenants
from tests.leases import end_leases
from tests.processes import ForkServer, ScriptedModel, free_port, offline_model
from tests.services import services
from tests.shared_middleware import share_middleware
from tests.shared_ssl_context import share_authorities
from tests.tenant_factory import NewTenant, TenantFactory
from tests.tiers import mark_whole

# Slow hashing would dominate the tests.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# No deadline: a loaded machine is not a failure. bench/ measures speed.
hypothesis_settings.register_profile("makegood", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("makegood")
share_middleware()
share_authorities()
track_connections()

RESTAURANT = Path(__file__).resolve().parent.parent / "projects" / "demo" / "restaurant.json"
PASSWORD = "correct horse battery"


# Long files start first, so that no process is left alone with one at the end: the browser tests, files with more tests than
# MANY, and those whose tests wait for a lost wire to be noticed.
BROWSER, WIRES = "tests/browser/", "tests/wires/"
MANY = 300


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests' tiers, and order them: browser tests, the largest files, those of lost wires, then the others by name."""
    mark_whole(items)
    tests = Counter(item.path for item in items)
    many = {path: number for path, number in tests.items() if number > MANY}
    items.sort(
        key=lambda item: (
            not item.nodeid.startswith(BROWSER),
            -many.get(item.path, 0),
            not item.nodeid.startswith(WIRES),
        )
    )


class FilesAndBrowser(LoadFileScheduling):
    """Give each file to one process, and all browser tests to one, which share a Chromium and a running product."""

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER if nodeid.startswith(BROWSER) else str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return FilesAndBrowser(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """Freeze what is loaded: collecting it again and again would cost a tenth of the suite's time."""
    settle()
    gc.enable()


@pytest.fixture(scope="session")
def _schema(django_db_blocker: object) -> Iterator[None]:
    """The tables of this run's database, which began as a copy of a migrated one (`tests.migrated`)."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def database(_schema: None) -> Iterator[None]:
    """The database, with real commits. After the test it is emptied, and checked for leaked connections."""
    yield
    empty_database()
    require_no_leaks()


def empty_database() -> None:
    """Return the connections and delete every tenant."""
    for connection in connections.all(initialized_only=True):
        connection.close()
    _forget_broken_connection()
    flush_tenants()


# The process of the PostgreSQL that the thread below is connected to.
_postgres_pids = {0}


def _forget_broken_connection() -> None:
    """After a test that restarted PostgreSQL: close the connection of the thread that runs Django's synchronous code."""
    if services.postgres.pid not in _postgres_pids:
        _postgres_pids.clear()
        _postgres_pids.add(services.postgres.pid)
        SyncToAsync.single_thread_executor.submit(connections.close_all).result()


class Tenant(NewTenant):
    """An organization with one project and a key of every scope."""

    def tx(self):
        return tenant_tx(self.organization.pk)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def make_tenant(name: str) -> Tenant:
    """Create a tenant. The services create the first of each process; the others are copies of it."""
    email = f"owner@{name.lower()}.example"
    if _factories:
        made = _factories[0].make(name, email=email)
    else:
        made = _make(name, email=email)
        _factories.append(TenantFactory(made))
    return Tenant(**vars(made))


_factories: list[TenantFactory] = []


def _make(name: str, *, email: str) -> NewTenant:
    business = json.loads(RESTAURANT.read_text())
    config = {key: value for key, value in business.items() if key not in OUTSIDE_CONFIG}
    owner = User.objects.create_user(email, PASSWORD)
    organization = create_organization(name, owner=owner, developer_tools=True)
    with tenant_tx(organization.pk):
        project = create_project(name, config=AgentConfig.model_validate(config), author=owner)
        start_attributes(project, business["attributes"])
        plant_seeds(project, {name: seed for name, seed in business["seeds"].items() if name != "articles"})
        key = create_key(project, name="test", scopes=list(Scope), throttled=False)
    return NewTenant(organization=organization, project=project, owner=owner, key=key.secret)


@pytest.fixture
def tenant(database: None) -> Tenant:
    return make_tenant("Nello")


@pytest.fixture
def stranger(database: None) -> Tenant:
    """Another organization, whose rows are hidden from `tenant`."""
    return make_tenant("Stranger")


def member_of(tenant: Tenant, role: Role) -> User:
    user = User.objects.create_user(f"{role}@{tenant.organization.pk}.example", PASSWORD)
    with tenant.tx():
        Member.objects.create(user=user, role=role, developer_tools=True)
    return user


@pytest.fixture
def operator(tenant: Tenant) -> User:
    return member_of(tenant, Role.OPERATOR)


@pytest.fixture
def viewer(tenant: Tenant) -> User:
    return member_of(tenant, Role.VIEWER)


@pytest.fixture
def api(tenant: Tenant) -> Client:
    """A client with the tenant's key that checks every response against the OpenAPI document."""
    return DocumentedClient(headers=tenant.headers)


@pytest.fixture
def async_api(tenant: Tenant) -> AsyncClient:
    return AsyncClient(headers=tenant.headers)


@pytest.fixture(scope="session")
def servers():
    """PostgreSQL and Redis of this run, which a test may crash and restart."""
    return services


@pytest.fixture(scope="session")
def _model_process() -> Iterator[ScriptedModel]:
    with offline_model() as model:
        yield model


@pytest.fixture
def model(_model_process: ScriptedModel) -> ScriptedModel:
    """The offline model, with an empty script at the start of each test."""
    _model_process.reset()
    return _model_process


@pytest.fixture(scope="session")
def _calls_port() -> int:
    return free_port()


@pytest.fixture(scope="session")
def calls_provider(_calls_port: int) -> Iterator[Provider]:
    """The offline provider of calls, which the processes of tests know as that of callers who type."""
    with offline_calls(_calls_port) as provider:
        yield provider


@pytest.fixture(scope="session")
def _fork_server(
    _schema: None, _model_process: ScriptedModel, _calls_port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ForkServer]:
    env = {
        "OPENAI_BASE_URL": _model_process.base_url,
        "MAKEGOOD_SWEEP_SECONDS": "0.25",
        "MAKEGOOD_DB_THREADS": "4",
        "MAKEGOOD_OUTBOUND_ALLOW": "127.0.0.1",
        **offline_providers_env(f"http://127.0.0.1:{_calls_port}"),
    }
    server = ForkServer(tmp_path_factory.mktemp("processes"), env=env, end_leases=end_leases)
    yield server
    server.stop()


FOLLOWED_BY = pytest.StashKey[pytest.Item | None]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    item.stash[FOLLOWED_BY] = nextitem


def has_standing_worker(item: pytest.Item | None) -> bool:
    """True if the test may use a worker that has worked for another test."""
    return item is not None and "worker" in item.fixturenames and bool(item.get_closest_marker("standing_worker"))  # type: ignore[attr-defined]


def is_idle() -> bool:
    return bool(bypass_rls("select not exists (select from jobs_job where state in ('queued', 'running'))")[0][0])


@pytest.fixture
def processes(
    request: pytest.FixtureRequest, _fork_server: ForkServer, database: None, model: ScriptedModel
) -> Iterator[ForkServer]:
    """Real workers and web processes, killed after the test.

    Between two consecutive tests marked `standing_worker` the worker survives, unless jobs are left or its model failed,
    which it would remember. Starting a worker costs more than most tests.

    A test marked `short_leases` gets leases of two seconds, since another worker has to take over from a dead one. Others
    keep the real leases, so that a pause of a loaded machine does not count as a death.
    """
    _fork_server.lease_seconds = 2 if request.node.get_closest_marker("short_leases") else None
    yield _fork_server
    both = has_standing_worker(request.node) and has_standing_worker(request.node.stash[FOLLOWED_BY])
    _fork_server.kill_children(leave_standing=both and not model.is_faulty and is_idle())
