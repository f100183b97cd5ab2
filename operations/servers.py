"""Checks of PostgreSQL, of Redis, and of the versions of everything."""

from __future__ import annotations

import platform
from typing import Any

import celery
import django
import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from operations.finding import Finding, Section, Table, bad, ok, plural, warn

DATABASE = "PostgreSQL"
# The oldest Redis that Celery supports.
OLDEST_REDIS = (6, 2)
MOST_SKEW_SECONDS = 2.0
# Redis stores hints and tokens; what it evicts costs seconds.
KEEPS_ALL = "noeviction"
FULL = 0.9
GIGABYTE = 1_000_000_000
MEGABYTE = 1_000_000


def check_database() -> Section:
    """PostgreSQL: its size, its clock, and the migrations that it lacks."""
    try:
        version, size, seconds = _ask_database()
        findings = [_clock(seconds), *_migrations()]
    except DatabaseError as error:
        action = "Start PostgreSQL, and see DATABASE_URL. Makegood connects again by itself."
        return Section(DATABASE, (bad(f"PostgreSQL doesn't answer ({type(error).__name__}).", action),))
    calm = ok(f"PostgreSQL {version} answers. The database has {_size(size)}.")
    return Section(DATABASE, (calm, *(finding for finding in findings if finding is not None)))


def check_redis() -> Section:
    """Redis or Valkey: its version, and whether it may throw data away."""
    try:
        info = _ask_redis()
    except (redis.RedisError, OSError) as error:
        says = f"Redis doesn't answer ({type(error).__name__}). Replies are delayed by seconds, and nothing is lost."
        return Section("Redis", (bad(says, "Start it, and see REDIS_URL."),))
    version, used = str(info["redis_version"]), int(info["used_memory"])
    findings = [*_old_redis(version), *_small_redis(info, used)]
    return Section("Redis", (ok(f"Redis {version} answers. It uses {used / MEGABYTE:.0f} MB."), *findings))


def list_versions() -> Section:
    """The versions of what runs in this process."""
    rows = (
        ("Makegood", settings.VERSION),
        ("Python", platform.python_version()),
        ("Django", django.get_version()),
        ("Celery", celery.__version__),
        ("System", platform.platform(terse=True)),
    )
    return Section("Versions", (ok(f"Makegood {settings.VERSION}."),), (Table(("Part", "Version"), rows),))


def _size(size: int) -> str:
    return f"{size / GIGABYTE:.1f} GB" if size >= GIGABYTE else f"{size / MEGABYTE:.0f} MB"


def _ask_database() -> tuple[str, int, float]:
    """The version, the size in bytes, and the time there in seconds since 1970."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select current_setting('server_version'), pg_database_size(current_database()),"
            " extract(epoch from clock_timestamp())"
        )
        version, size, seconds = cursor.fetchone()
    return str(version).split()[0], int(size), float(seconds)


def _clock(seconds: float) -> Finding | None:
    skew = seconds - timezone.now().timestamp()
    if abs(skew) <= MOST_SKEW_SECONDS:
        return None
    return warn(f"The database's clock differs by {skew:+.0f} s.", "Let NTP set the clocks of all machines.")


def _migrations() -> list[Finding]:
    executor = MigrationExecutor(connection)
    loader = executor.loader
    missing = len(executor.migration_plan(loader.graph.leaf_nodes()))
    newer = set(loader.applied_migrations) - set(loader.disk_migrations)
    ours = {name for name in newer if name[0] in loader.migrated_apps}
    findings = []
    if missing:
        findings.append(
            bad(f"The database lacks {plural(missing, 'migration', 'migrations')}.", "Run manage.py migrate.")
        )
    if ours:
        text = f"The database has {plural(len(ours), 'migration', 'migrations')} that this version doesn't know."
        findings.append(bad(text, "Run the version that made them, or a newer one."))
    return findings


def _ask_redis() -> dict[str, Any]:
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as client:
        return dict(client.info())


def _old_redis(version: str) -> list[Finding]:
    if tuple(int(part) for part in version.split(".")[:2]) >= OLDEST_REDIS:
        return []
    return [bad(f"Redis {version} is too old.", "Install Redis 6.2 or newer, or Valkey.")]


def _small_redis(info: dict[str, Any], used: int) -> list[Finding]:
    limit, policy = int(info.get("maxmemory", 0)), str(info.get("maxmemory_policy", KEEPS_ALL))
    findings = []
    if limit and used / limit > FULL:
        findings.append(bad(f"Redis uses {100 * used / limit:.0f} % of its memory.", "Raise maxmemory."))
    if limit and policy != KEEPS_ALL:
        text = f"Redis may throw away what waits (maxmemory-policy {policy})."
        findings.append(warn(text, f"Set maxmemory-policy {KEEPS_ALL}."))
    return findings
