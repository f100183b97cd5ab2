"""A missing or invalid setting stops the start with a message that says what to set."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.runner.embedded import EmbeddedServices
from config.runner.errors import StartError
from config.runner.postgres import Postgres
from config.runner.preflight import check_servers, check_settings

EXTERNAL = {
    "DATABASE_URL": "postgresql://mg_app:a@db/makegood",
    "MIGRATE_DATABASE_URL": "postgresql://mg_owner:b@db/makegood",
    "OPS_DATABASE_URL": "postgresql://mg_ops:c@db/makegood",
    "REDIS_URL": "redis://:d@redis:6379/0",
    "SECRET_KEY": "s" * 50,
    "MAKEGOOD_ENCRYPTION_KEYS": "A" * 43 + "=",
}


def test_no_setting_is_required() -> None:
    check_settings({})


def test_external_servers_are_accepted_with_all_their_settings() -> None:
    check_settings(EXTERNAL)


@pytest.mark.parametrize("name", ["MIGRATE_DATABASE_URL", "OPS_DATABASE_URL", "SECRET_KEY", "MAKEGOOD_ENCRYPTION_KEYS"])
def test_a_setting_missing_with_database_url_is_named(name: str) -> None:
    with pytest.raises(StartError, match=f"^Set {name} to "):
        check_settings({**EXTERNAL, name: ""})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://mg_app@db/makegood"),
        ("OPS_DATABASE_URL", "postgresql://mg_ops@db"),
        ("REDIS_URL", "localhost:6379"),
        ("SECRET_KEY", "short"),
        ("MAKEGOOD_ENCRYPTION_KEYS", "not a key"),
        ("OPENAI_BASE_URL", "localhost:11434/v1"),
        ("MAKEGOOD_BASE_URL", "makegood.example"),
        ("MAKEGOOD_LEASE_SECONDS", "soon"),
        ("MAKEGOOD_MODEL_PRICES", '{"model": [1, 2]}'),
        ("MAKEGOOD_ORGANIZATION_LIMITS", '{"model_month_cost": -1}'),
        ("MAKEGOOD_ORGANIZATION_LIMITS", '{"money": 5}'),
        ("MAKEGOOD_ORGANIZATION_LIMITS", "50"),
        ("MAKEGOOD_LOG_FORMAT", "xml"),
        ("MAKEGOOD_METRICS_ADDRESS", "127.0.0.1"),
        ("MAKEGOOD_METRICS_ADDRESS", "127.0.0.1:70000"),
    ],
)
def test_an_invalid_value_is_named(name: str, value: str) -> None:
    with pytest.raises(StartError, match=f"^Set {name} to ") as raised:
        check_settings({**EXTERNAL, name: value})
    assert str(raised.value).count("\n") == 0


def test_a_lone_migrate_database_url_asks_for_database_url() -> None:
    with pytest.raises(StartError, match="Set DATABASE_URL as well"):
        check_settings({"MIGRATE_DATABASE_URL": EXTERNAL["MIGRATE_DATABASE_URL"]})


def test_servers_that_respond_are_accepted(services: EmbeddedServices) -> None:
    check_servers(services.env)


@pytest.mark.parametrize("name", ["DATABASE_URL", "OPS_DATABASE_URL", "REDIS_URL"])
def test_a_server_that_does_not_respond_is_named_without_its_password(services: EmbeddedServices, name: str) -> None:
    url = services.env[name].rsplit(":", 1)[0] + ":1/makegood"
    with pytest.raises(StartError, match=f"^Set {name} to ") as raised:
        check_servers({**services.env, name: url})
    assert url.split(":")[2].split("@")[0] not in str(raised.value)


def test_a_superuser_is_rejected(services: EmbeddedServices) -> None:
    server = services.postgres.service
    assert isinstance(server, Postgres)
    with pytest.raises(StartError, match="Set DATABASE_URL to the URL of the plain role mg_app"):
        check_servers({**services.env, "DATABASE_URL": server.admin_url(database="makegood")})


@pytest.mark.parametrize(("pool", "threads"), [("8", "8"), ("1", "1"), ("4", "0")])
def test_threads_that_would_use_every_connection_are_rejected(
    monkeypatch: pytest.MonkeyPatch, pool: str, threads: str
) -> None:
    monkeypatch.setenv("MAKEGOOD_DB_POOL", pool)
    monkeypatch.setenv("MAKEGOOD_DB_THREADS", threads)
    with pytest.raises(ImproperlyConfigured, match="Set MAKEGOOD_DB_POOL to more than MAKEGOOD_DB_THREADS"):
        environment.connections()


def test_a_small_pool_has_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_DB_POOL", "4")
    assert environment.connections() == (4, 2)


@pytest.mark.parametrize("name", ["MAKEGOOD_DB_SILENCE_SECONDS", "MAKEGOOD_REDIS_SILENCE_SECONDS"])
def test_a_silence_shorter_than_two_probes_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    read = {"MAKEGOOD_DB_SILENCE_SECONDS": environment.db_silence_seconds}
    with pytest.raises(ImproperlyConfigured, match=f"Set {name}"):
        read.get(name, environment.redis_silence_seconds)()


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)),
        (":9464", ("0.0.0.0", 9464)),
        ("[::1]:9464", ("::1", 9464)),
        ("metrics.local:9464", ("metrics.local", 9464)),
        ("", None),
    ],
)
def test_an_address_to_listen_on_is_read(monkeypatch: pytest.MonkeyPatch, value: str, address: object) -> None:
    monkeypatch.setenv("MAKEGOOD_METRICS_ADDRESS", value)
    assert environment.address("MAKEGOOD_METRICS_ADDRESS") == address


@pytest.mark.parametrize("value", ["9464:", "::1:9464", "localhost", "localhost:0", "localhost:port"])
def test_an_address_without_a_port_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MAKEGOOD_METRICS_ADDRESS", value)
    with pytest.raises(ImproperlyConfigured, match=r"^Set MAKEGOOD_METRICS_ADDRESS to an address and a port"):
        environment.address("MAKEGOOD_METRICS_ADDRESS")


def test_an_unknown_form_of_log_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_LOG_FORMAT", "xml")
    with pytest.raises(ImproperlyConfigured, match=r"^Set MAKEGOOD_LOG_FORMAT to text or json"):
        environment.log_format()
