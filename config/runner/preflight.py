"""Checks of the operator's settings before anything starts. Each error names the setting and its expected value."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

import psycopg

from config.runner.errors import StartError

DATABASE_URLS = {"DATABASE_URL": "mg_app", "MIGRATE_DATABASE_URL": "mg_owner", "OPS_DATABASE_URL": "mg_ops"}
NUMBERS = (
    "MAKEGOOD_LEASE_SECONDS",
    "MAKEGOOD_SWEEP_SECONDS",
    "MAKEGOOD_MAILBOX_CONNECTIONS",
    "MAKEGOOD_REPLICA_LAG_SECONDS",
    "MAKEGOOD_DB_POOL",
    "MAKEGOOD_DB_THREADS",
    "MAKEGOOD_DB_POOL_SECONDS",
    "MAKEGOOD_DB_CONNECT_SECONDS",
    "MAKEGOOD_DB_SILENCE_SECONDS",
    "MAKEGOOD_DB_STATEMENT_SECONDS",
    "MAKEGOOD_REDIS_SILENCE_SECONDS",
)
LIMITS = frozenset({"model_month_cost", "model_month_tokens", "turns", "storage", "open_conversations"})
ADDRESSES = ("OPENAI_BASE_URL", "MAKEGOOD_BASE_URL")
POWERFUL = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


def check_settings(env: Mapping[str, str]) -> None:
    """Check the presence and format of settings, without connecting. Raises StartError for the first invalid one."""
    _check_database_urls(env)
    if env.get("REDIS_URL") and urlsplit(env["REDIS_URL"]).scheme not in {"redis", "rediss", "unix"}:
        raise StartError("Set REDIS_URL to a redis:// or rediss:// URL, redis://:password@host:port/0.")
    if env.get("DATABASE_URL"):
        # Secrets in an external database must outlive this data directory.
        _require(env, "SECRET_KEY", "a long random string, the same at every start")
        _require(env, "MAKEGOOD_ENCRYPTION_KEYS", "one or more Fernet keys, newest first, separated by commas")
    _check_keys(env)
    for name in ADDRESSES:
        parts = urlsplit(env.get(name, ""))
        if env.get(name) and (parts.scheme not in {"http", "https"} or not parts.netloc):
            raise StartError(f"Set {name} to a URL that begins with http:// or https:// and names a host.")
    for name in NUMBERS:
        _check_number(env, name)
    _check_telemetry(env)
    _check_prices(env)
    _check_limits(env)


def check_servers(env: Mapping[str, str]) -> None:
    """Connect to the operator's own servers with each role. Raises StartError for the first failure."""
    if env.get("DATABASE_URL"):
        for name, role in DATABASE_URLS.items():
            _check_database(name, env[name], role=role)
    if env.get("REDIS_URL"):
        _check_redis(env["REDIS_URL"])


def _check_telemetry(env: Mapping[str, str]) -> None:
    if env.get("MAKEGOOD_LOG_FORMAT", "") not in {"", "text", "json"}:
        raise StartError("Set MAKEGOOD_LOG_FORMAT to text or json.")
    if address := env.get("MAKEGOOD_METRICS_ADDRESS"):
        _, _, port = address.rpartition(":")
        if not port.isdecimal() or not 0 < int(port) < 65_536:
            raise StartError("Set MAKEGOOD_METRICS_ADDRESS to an address and a port, like 127.0.0.1:9464.")


def _check_redis(url: str) -> None:
    # Imported late: the client takes twenty megabytes that this process would keep.
    import redis

    try:
        with redis.Redis.from_url(url, socket_connect_timeout=5, socket_timeout=5) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise StartError(
            f"Set REDIS_URL to a Redis or Valkey server that responds; connecting failed: {error}."
        ) from error


def _check_database_urls(env: Mapping[str, str]) -> None:
    given = [name for name in DATABASE_URLS if env.get(name)]
    if given and "DATABASE_URL" not in given:
        raise StartError(f"Set DATABASE_URL as well, or unset {given[0]}.")
    for name, role in DATABASE_URLS.items() if given else ():
        _require(env, name, f"the PostgreSQL URL of the role {role}, postgresql://{role}:password@host:port/database")
        parts = urlsplit(env[name])
        if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
            raise StartError(f"Set {name} to a URL like postgresql://{role}:password@host:port/database.")


def _check_database(name: str, url: str, *, role: str) -> None:
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            powerful = connection.execute(POWERFUL).fetchone()
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise StartError(f"Set {name} to the PostgreSQL URL of the role {role}; connecting failed: {reason}.") from None
    if powerful and powerful[0]:
        raise StartError(
            f"Set {name} to the URL of the plain role {role} (`manage.py roles` prints the SQL): "
            "a superuser or BYPASSRLS role bypasses tenant isolation."
        )


def _check_keys(env: Mapping[str, str]) -> None:
    if env.get("SECRET_KEY") and len(env["SECRET_KEY"]) < 32:
        raise StartError("Set SECRET_KEY to a random string of at least 32 characters.")
    for key in filter(None, env.get("MAKEGOOD_ENCRYPTION_KEYS", "").split(",")):
        try:
            length = len(base64.urlsafe_b64decode(key.strip()))
        except (binascii.Error, ValueError):
            length = 0
        if length != 32:
            raise StartError(
                "Set MAKEGOOD_ENCRYPTION_KEYS to Fernet keys (32 bytes in URL-safe base64), separated by commas."
            )


def _check_number(env: Mapping[str, str], name: str) -> None:
    try:
        is_valid = float(env.get(name) or 1) > 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise StartError(f"Set {name} to a number above 0.")


def _check_prices(env: Mapping[str, str]) -> None:
    try:
        prices = json.loads(env.get("MAKEGOOD_MODEL_PRICES") or "{}")
        is_valid = all(len(price) == 3 for price in prices.values())
    except (ValueError, AttributeError, TypeError):
        is_valid = False
    if not is_valid:
        raise StartError(
            'Set MAKEGOOD_MODEL_PRICES to JSON like {"model": [input, cached, output]}, USD per million tokens.'
        )


def _check_limits(env: Mapping[str, str]) -> None:
    try:
        limits = json.loads(env.get("MAKEGOOD_ORGANIZATION_LIMITS") or "{}")
        is_valid = all(type(most) is int and most >= 0 for most in limits.values()) and limits.keys() <= LIMITS
    except (ValueError, AttributeError):
        is_valid = False
    if not is_valid:
        raise StartError(
            'Set MAKEGOOD_ORGANIZATION_LIMITS to JSON like {"model_month_cost": 50}, whole numbers from 0 by name: '
            f"{', '.join(sorted(LIMITS))}."
        )


def _require(env: Mapping[str, str], name: str, what: str) -> None:
    if not env.get(name, "").strip():
        raise StartError(f"Set {name} to {what}.")
