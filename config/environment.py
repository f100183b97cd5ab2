"""Environment variables. An invalid value raises ImproperlyConfigured, with a message that says what to set."""

from __future__ import annotations

import json
import os
from decimal import Decimal, InvalidOperation
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent


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
            # Parameters of the URL, such as sslmode or the directory of a socket.
            **config.get("OPTIONS", {}),
            # Retry soon after an outage. By default the delay grows with the length of the outage.
            "pool": {"min_size": 0, "max_size": pool, "timeout": 3, "reconnect_timeout": 2},
            "application_name": f"makegood {role}",
            # A process that freezes during a transaction would hold its locks forever.
            "options": f"-c idle_in_transaction_session_timeout={int(lease_seconds() * 1000)}",
            # Planning each time, with row-level security and partial indexes, cost PostgreSQL more than running the
            # statements.
            "server_side_binding": True,
            "prepare_threshold": 3,
        },
    }


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


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Addresses and CIDR ranges, separated by commas."""
    try:
        return [ip_network(one.strip()) for one in env.list(name, default=[]) if one.strip()]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"Set {name} to addresses or CIDR ranges, separated by commas, like 10.0.0.0/8: {error}."
        ) from error


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


def _three(prices: list[float]) -> tuple[Decimal, Decimal, Decimal]:
    fresh, cached, output = (Decimal(str(price)) for price in prices)
    return fresh, cached, output
