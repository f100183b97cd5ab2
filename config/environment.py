"""Environment variables. An invalid value raises ImproperlyConfigured, with a message that says what to set."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import tomllib
from decimal import Decimal, InvalidOperation
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()

# The limits that an organization can have. The same names are in tools.models.limit, which no setting can import.
ORGANIZATION_LIMITS = frozenset({"model_month_cost", "model_month_tokens", "turns", "storage", "open_conversations"})

BASE_DIR = Path(__file__).resolve().parent.parent
LOG_FORMATS = ("text", "json")


def text(name: str, *, why: str) -> str:
    """A required setting. `why` completes the message "Set NAME: …"."""
    value = os.environ.get(name, "").strip()
    if not value:
        raise ImproperlyConfigured(f"Set {name}: {why}")
    return value


def database(name: str, *, role: str, pool: int) -> dict[str, Any]:
    """Django's settings for one PostgreSQL role, from a URL, with up to `pool` connections per process."""
    url = text(name, why=f"the PostgreSQL URL of the role {role}, postgresql://{role}:password@host:port/database.")
    if urlsplit(url).scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"Set {name} to a postgresql:// URL; Makegood runs on PostgreSQL only.")
    config = env.db_url_config(url)
    return {
        **config,
        "ENGINE": "tenancy.postgresql",
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            **_connection_limits(),
            # Parameters of the URL, such as sslmode or the directory of a socket.
            **config.get("OPTIONS", {}),
            # Retry soon after an outage. By default the delay grows with the length of the outage.
            "pool": {
                "min_size": 0,
                "max_size": pool,
                "timeout": env.float("MAKEGOOD_DB_POOL_SECONDS", default=3.0),
                "reconnect_timeout": 2,
            },
            "application_name": f"makegood {role}",
            # Planning each time, with row-level security and partial indexes, cost PostgreSQL more than running the
            # statements.
            "server_side_binding": True,
            "prepare_threshold": 3,
        },
        "SESSION": session_settings(role),
        "IS_POOLED": pools_transactions(),
    }


def replica() -> dict[str, Any]:
    """Django's settings for a replica that reports may read from, by alias. Empty without one."""
    if not os.environ.get("REPLICA_DATABASE_URL", "").strip():
        return {}
    config = database("REPLICA_DATABASE_URL", role="mg_app", pool=4)
    # A URL with several hosts may name the primary as well.
    config["OPTIONS"] |= {"target_session_attrs": "prefer-standby", "application_name": "makegood mg_app reports"}
    return {"replica": config}


def _connection_limits() -> dict[str, Any]:
    """How long this side waits for a server that may be gone, in libpq's parameters."""
    silence = db_silence_seconds()
    return {
        # The primary among several hosts, or among the addresses of a name
        "target_session_attrs": "read-write",
        "connect_timeout": env.int("MAKEGOOD_DB_CONNECT_SECONDS", default=2),
        # Sent and never acknowledged
        "tcp_user_timeout": silence * 1000,
        # Acknowledged and never answered
        "keepalives_idle": 1,
        "keepalives_interval": 1,
        "keepalives_count": silence - 1,
    }


def pools_transactions() -> bool:
    """True if a pooler gives each transaction another connection to PostgreSQL, as PgBouncer's transaction mode does."""
    mode = env.str("MAKEGOOD_DB_POOLER", default="")
    if mode not in {"", "session", "transaction"}:
        raise ImproperlyConfigured("Set MAKEGOOD_DB_POOLER to transaction or session, the mode of your pooler.")
    return bool(mode == "transaction")


def session_settings(role: str) -> dict[str, str | int | float]:
    """PostgreSQL's settings for each connection of a role.

    They are set after connecting, since poolers refuse them before. A pooler of transactions would give them to somebody
    else's transactions, so there the role has them (`manage.py roles`).
    """
    silence = db_silence_seconds()
    statement = 0 if role == "mg_owner" else env.float("MAKEGOOD_DB_STATEMENT_SECONDS", default=30.0)
    return {
        # The usual value for SSDs. With PostgreSQL's default of 4, a small table is scanned instead of searched by its
        # key, and a connection keeps that plan while the table grows, until the next `analyze`.
        "random_page_cost": 1.1,
        # A process that freezes during a transaction would hold its locks forever.
        "idle_in_transaction_session_timeout": int(lease_seconds() * 1000),
        "statement_timeout": int(statement * 1000),
        # The server's side of a silent wire: locks of a process that is gone
        "tcp_user_timeout": silence * 1000,
        "tcp_keepalives_idle": 1,
        "tcp_keepalives_interval": 1,
        "tcp_keepalives_count": silence - 1,
        "client_connection_check_interval": silence * 1000,
    }


def db_silence_seconds() -> int:
    """How long a connection to PostgreSQL may be silent, in both directions, before it counts as lost."""
    return _silence_seconds("MAKEGOOD_DB_SILENCE_SECONDS", default=3)


def _silence_seconds(name: str, *, default: int) -> int:
    seconds = int(env.int(name, default=default))
    if seconds < 2:
        raise ImproperlyConfigured(f"Set {name} to at least 2 seconds: probes are sent once a second.")
    return seconds


def connections() -> tuple[int, int]:
    """The size of a process's connection pool, and the number of database threads of its event loop.

    Each thread keeps one connection of the pool.
    """
    pool = env.int("MAKEGOOD_DB_POOL", default=16)
    threads = env.int("MAKEGOOD_DB_THREADS", default=max(1, min(8, pool // 2)))
    if not 0 < threads < pool:
        raise ImproperlyConfigured(
            f"Set MAKEGOOD_DB_POOL to more than MAKEGOOD_DB_THREADS, which is at least 1: {threads} threads keep a connection"
            f" each, and of {pool} none would be left for pages."
        )
    return pool, threads


def lease_seconds() -> float:
    """The time a worker may be silent before another takes over: the operator's for all lanes, or that of replies."""
    return float(env.float("MAKEGOOD_LEASE_SECONDS", default=10.0))


def redis_url() -> str:
    """The Redis or Valkey server's URL."""
    url = text("REDIS_URL", why="the Redis or Valkey URL, redis://:password@host:port/0.")
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured("Set REDIS_URL to a redis:// or rediss:// URL.")
    return url


def redis_silence_seconds() -> int:
    """How long a connection to Redis may be silent before it counts as lost."""
    return _silence_seconds("MAKEGOOD_REDIS_SILENCE_SECONDS", default=5)


def redis_socket() -> dict[str, Any]:
    """Arguments of Redis connections that make the system notice a silent wire. A Unix socket needs none."""
    if urlsplit(redis_url()).scheme == "unix":
        return {}
    silence = redis_silence_seconds()
    limits = {
        "TCP_KEEPIDLE": 1,
        "TCP_KEEPINTVL": 1,
        "TCP_KEEPCNT": silence - 1,
        "TCP_USER_TIMEOUT": silence * 1000,
    }
    # Linux has all of them, other systems some.
    known = {getattr(socket, name): value for name, value in limits.items() if hasattr(socket, name)}
    return {"socket_keepalive": True, "socket_keepalive_options": known}


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Addresses and CIDR ranges, separated by commas."""
    try:
        return [ip_network(one.strip()) for one in env.list(name, default=[]) if one.strip()]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"Set {name} to addresses or CIDR ranges, separated by commas, like 10.0.0.0/8: {error}."
        ) from error


def address(name: str) -> tuple[str, int] | None:
    """A host and a port to listen on, or None if the setting is empty. Without a host, every address of the machine."""
    value = os.environ.get(name, "").strip()
    if not value:
        return None
    host, _, port = value.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65_536 or (":" in host and not host.startswith("[")):
        raise ImproperlyConfigured(f"Set {name} to an address and a port, like 127.0.0.1:9464 or [::1]:9464.")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - the operator leaves the host out


def metrics_directory(data_dir: os.PathLike[str]) -> Path:
    """The directory that the processes of this machine share their metrics in, in memory where the system has such.

    A mapped file on a disk would make a process wait for the disk now and then.
    """
    if given := os.environ.get("MAKEGOOD_METRICS_DIR", "").strip():
        return Path(given)
    if not os.access("/dev/shm", os.W_OK | os.X_OK):  # noqa: S108 - a directory of our own, for this user only
        return Path(data_dir) / "metrics"
    installation = hashlib.sha256(str(Path(data_dir).resolve()).encode()).hexdigest()[:12]
    return Path(f"/dev/shm/makegood-{os.getuid()}-{installation}")  # noqa: S108


def log_format() -> str:
    """The form of log lines."""
    value = os.environ.get("MAKEGOOD_LOG_FORMAT", "").strip() or "text"
    if value not in LOG_FORMATS:
        raise ImproperlyConfigured(f"Set MAKEGOOD_LOG_FORMAT to {' or '.join(LOG_FORMATS)}.")
    return value


def log_line() -> str:
    """The text of a log line. `bin/serve` adds the time of all programs' lines itself."""
    is_timed = not env.bool("MAKEGOOD_LOG_UNTIMED", default=False)
    return f"{'%(asctime)s ' if is_timed else ''}%(levelname)s %(name)s %(message)s"


def version() -> str:
    """The version of this release."""
    return str(tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"])


def verified_email(mail_host: str) -> bool:
    """True if new accounts must confirm their e-mail address, which requires a mail server."""
    asked = env.bool("MAKEGOOD_VERIFY_EMAIL", default=False)
    if asked and not mail_host:
        raise ImproperlyConfigured(
            "Set EMAIL_HOST: with MAKEGOOD_VERIFY_EMAIL each new address gets a link to confirm it."
        )
    return bool(asked)


def model_prices() -> dict[str, tuple[Decimal, Decimal, Decimal]]:
    """USD per million tokens (input, cached input, output) by model name."""
    raw = os.environ.get("MAKEGOOD_MODEL_PRICES", "").strip() or "{}"
    try:
        return {model: _three(prices) for model, prices in json.loads(raw).items()}
    except (ValueError, AttributeError, TypeError, InvalidOperation) as error:
        raise ImproperlyConfigured(
            'Set MAKEGOOD_MODEL_PRICES to JSON like {"model": [input, cached, output]}, USD per million tokens.'
        ) from error


def organization_limits() -> dict[str, int]:
    """Limits of every organization for which the operator sets no others, by name."""
    raw = os.environ.get("MAKEGOOD_ORGANIZATION_LIMITS", "").strip() or "{}"
    try:
        limits = dict(json.loads(raw))
    except (ValueError, TypeError):
        limits = {"": 0}
    is_valid = all(type(most) is int and most >= 0 for most in limits.values())
    if not limits.keys() <= ORGANIZATION_LIMITS or not is_valid:
        raise ImproperlyConfigured(
            f'Set MAKEGOOD_ORGANIZATION_LIMITS to JSON like {{"model_month_cost": 50}}, whole numbers from 0 by name:'
            f" {', '.join(sorted(ORGANIZATION_LIMITS))}."
        )
    return limits


def _three(prices: list[float]) -> tuple[Decimal, Decimal, Decimal]:
    fresh, cached, output = (Decimal(str(price)) for price in prices)
    return fresh, cached, output
