"""The fixed cast: two organizations, their people and keys, on real PostgreSQL and Redis."""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.test import AsyncClient, Client
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from xdist.scheduler import LoadFileScheduling

from config.memory import settle
from projects.agents.services import create_key, create_organization, create_project
from projects.management.commands.demo import OUTSIDE_CONFIG
from projects.models import Member, Role, User
from projects.models.agent_config import AgentConfig
from projects.models.key import Scope
from projects.models.seeds import plant_seeds
from projects.records.attributes import start_attributes
from tenancy.scope import tenant_tx
from tests.api.documented import DocumentedClient
from tests.authorities import share_authorities
from tests.borrowed import demand_none_lost, watch_pools
from tests.copies import Made, Mold
from tests.emptying import empty_tenants
from tests.handlers import share_middleware
from tests.leases import end_leases
from tests.past_walls import past_walls
from tests.processes import ScriptedModel, Zygote, offline_model
from tests.services import services

# Hashing that is meant to be slow would be most of what the tests do.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# A loaded machine is no finding: speed is measured in bench/.
hypothesis_settings.register_profile("makegood", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("makegood")
share_middleware()
share_authorities()
watch_pools()

RESTAURANT = Path(__file__).resolve().parent.parent / "projects" / "demo" / "restaurant.json"
PASSWORD = "correct horse battery"


# What takes long begins first, so that none of it is what the other processes wait for in the end: the browser tests, and files
# of more tests than this.
BROWSER = "tests/browser/"
MANY = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser tests and the largest files first, and the rest in the order of their names."""
    tests = Counter(item.path for item in items)
    many = {path: number for path, number in tests.items() if number > MANY}
    items.sort(key=lambda item: (not item.nodeid.startswith(BROWSER), -many.get(item.path, 0)))


class FilesAndBrowser(LoadFileScheduling):
    """A file is one process's, and the browser tests are all of one: they share a Chromium and the product that it looks at."""

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER if nodeid.startswith(BROWSER) else str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return FilesAndBrowser(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """Everything is loaded: a collector that looks through it again and again costs a tenth of the suite."""
    settle()
    gc.enable()


@pytest.fixture(scope="session")
def _schema(django_db_blocker: object) -> Iterator[None]:
    """The tables, made once by mg_owner in this run's own database."""
    with django_db_blocker.unblock():
        call_command("migrate", verbosity=0)
        yield


@pytest.fixture
def database(_schema: None) -> Iterator[None]:
    """The database with real commits; emptied after the test, which has lost none of its connections."""
    yield
    empty_database()
    demand_none_lost()


def empty_database() -> None:
    """Give the connections back, and forget everything."""
    for connection in connections.all(initialized_only=True):
        connection.close()
    empty_tenants()


class Tenant(Made):
    """An organization with one project and a key of every scope."""

    def tx(self):
        return tenant_tx(self.organization.pk)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def make_tenant(name: str) -> Tenant:
    """A new tenant: this process's first is made by the services, the others are copies of it."""
    email = f"owner@{name.lower()}.example"
    if _molds:
        made = _molds[0].cast(name, email=email)
    else:
        made = _make(name, email=email)
        _molds.append(Mold(made))
    return Tenant(**vars(made))


_molds: list[Mold] = []


def _make(name: str, *, email: str) -> Made:
    business = json.loads(RESTAURANT.read_text())
    config = {key: value for key, value in business.items() if key not in OUTSIDE_CONFIG}
    owner = User.objects.create_user(email, PASSWORD)
    organization = create_organization(name, owner=owner)
    with tenant_tx(organization.pk):
        project = create_project(name, config=AgentConfig.model_validate(config), author=owner)
        start_attributes(project, business["attributes"])
        plant_seeds(project, {name: seed for name, seed in business["seeds"].items() if name != "articles"})
        key = create_key(project, name="test", scopes=list(Scope), throttled=False)
    return Made(organization=organization, project=project, owner=owner, key=key.secret)


@pytest.fixture
def tenant(database: None) -> Tenant:
    return make_tenant("Nello")


@pytest.fixture
def stranger(database: None) -> Tenant:
    """Another organization, whose rows nobody of `tenant` may see."""
    return make_tenant("Stranger")


def member_of(tenant: Tenant, role: Role) -> User:
    user = User.objects.create_user(f"{role}@{tenant.organization.pk}.example", PASSWORD)
    with tenant.tx():
        Member.objects.create(user=user, role=role)
    return user


@pytest.fixture
def operator(tenant: Tenant) -> User:
    return member_of(tenant, Role.OPERATOR)


@pytest.fixture
def viewer(tenant: Tenant) -> User:
    return member_of(tenant, Role.VIEWER)


@pytest.fixture
def api(tenant: Tenant) -> Client:
    """A client that calls with the tenant's key, and holds every answer against the OpenAPI document."""
    return DocumentedClient(headers=tenant.headers)


@pytest.fixture
def async_api(tenant: Tenant) -> AsyncClient:
    return AsyncClient(headers=tenant.headers)


@pytest.fixture(scope="session")
def servers():
    """This run's PostgreSQL and Redis, to crash and restart."""
    return services


@pytest.fixture(scope="session")
def _model_process() -> Iterator[ScriptedModel]:
    with offline_model() as model:
        yield model


@pytest.fixture
def model(_model_process: ScriptedModel) -> ScriptedModel:
    """The offline model, unscripted at the start of each test."""
    _model_process.reset()
    return _model_process


@pytest.fixture(scope="session")
def _zygote(_schema: None, _model_process: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    env = {
        "OPENAI_BASE_URL": _model_process.base_url,
        "MAKEGOOD_SWEEP_SECONDS": "0.25",
        "MAKEGOOD_DB_THREADS": "4",
        "MAKEGOOD_OUTBOUND_ALLOW": "127.0.0.1",
    }
    zygote = Zygote(tmp_path_factory.mktemp("processes"), env=env, end_leases=end_leases)
    yield zygote
    zygote.stop()


FOLLOWED_BY = pytest.StashKey[pytest.Item | None]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    item.stash[FOLLOWED_BY] = nextitem


def has_standing_worker(item: pytest.Item | None) -> bool:
    """Whether the test is content with a worker that has worked for another one."""
    return item is not None and "worker" in item.fixturenames and bool(item.get_closest_marker("standing_worker"))  # type: ignore[attr-defined]


def is_idle() -> bool:
    return bool(past_walls("select not exists (select from jobs_job where state in ('queued', 'running'))")[0][0])


@pytest.fixture
def processes(
    request: pytest.FixtureRequest, _zygote: Zygote, database: None, model: ScriptedModel
) -> Iterator[Zygote]:
    """Real workers and web processes. All are gone after the test.

    But where two tests marked `standing_worker` follow each other the worker goes on, unless it has something left to do or
    its model failed it, of which it keeps a memory: starting one and its first turn cost more than the turns of most tests.

    A test marked `short_leases` has work taken over from dead workers, so it gets leases of two seconds; any other keeps the
    real ones, in which a loaded machine's pauses are no deaths.
    """
    _zygote.lease_seconds = 2 if request.node.get_closest_marker("short_leases") else None
    yield _zygote
    both = has_standing_worker(request.node) and has_standing_worker(request.node.stash[FOLLOWED_BY])
    _zygote.kill_children(leave_standing=both and not model.is_faulty and is_idle())
