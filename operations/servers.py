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
from django.utils.translation import gettext, ngettext

from operations.finding import Finding, Section, Table, bad, ok, warn

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
        action = gettext("Start PostgreSQL, and see DATABASE_URL. Makegood connects again by itself.")
        says = gettext("PostgreSQL doesn't answer (%(error)s).") % {"error": type(error).__name__}
        return Section(DATABASE, (bad(says, action),))
    calm = ok(
        gettext("PostgreSQL %(version)s answers. The database has %(size)s.")
        % {"version": version, "size": _size(size)}
    )
    return Section(DATABASE, (calm, *(finding for finding in findings if finding is not None)))


def check_redis() -> Section:
    """Redis or Valkey: its version, and whether it saves its data and keeps it."""
    try:
        info = _ask_redis()
    except (redis.RedisError, OSError) as error:
        says = gettext("Redis doesn't answer (%(error)s). Replies are delayed by seconds, and nothing is lost.")
        finding = bad(says % {"error": type(error).__name__}, gettext("Start it, and see REDIS_URL."))
        return Section("Redis", (finding,))
    version, used = str(info["redis_version"]), int(info["used_memory"])
    findings = [*_old_redis(version), *_unsaved_redis(info), *_small_redis(info, used)]
    calm = gettext("Redis %(version)s answers. It uses %(size)s.") % {"version": version, "size": _size(used)}
    return Section("Redis", (ok(calm), *findings))


def list_versions() -> Section:
    """The versions of what runs in this process."""
    rows = (
        ("Makegood", settings.VERSION),
        ("Python", platform.python_version()),
        ("Django", django.get_version()),
        ("Celery", celery.__version__),
        (gettext("System"), platform.platform(terse=True)),
    )
    table = Table((gettext("Part"), gettext("Version")), rows)
    return Section(gettext("Versions"), (ok(f"Makegood {settings.VERSION}."),), (table,))


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
    says = gettext("The database's clock differs by %(seconds)s s.") % {"seconds": f"{skew:+.0f}"}
    return warn(says, gettext("Let NTP set the clocks of all machines."))


def _migrations() -> list[Finding]:
    executor = MigrationExecutor(connection)
    loader = executor.loader
    missing = len(executor.migration_plan(loader.graph.leaf_nodes()))
    newer = set(loader.applied_migrations) - set(loader.disk_migrations)
    ours = {name for name in newer if name[0] in loader.migrated_apps}
    findings = []
    if missing:
        text = ngettext("The database lacks %(count)s migration.", "The database lacks %(count)s migrations.", missing)
        command = gettext("Run %(command)s.") % {"command": "manage.py migrate"}
        findings.append(bad(text % {"count": missing}, command))
    if ours:
        text = ngettext(
            "The database has %(count)s migration that this version doesn't know.",
            "The database has %(count)s migrations that this version doesn't know.",
            len(ours),
        )
        findings.append(bad(text % {"count": len(ours)}, gettext("Run the version that made them, or a newer one.")))
    return findings


def _ask_redis() -> dict[str, Any]:
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as client:
        return dict(client.info())


def _old_redis(version: str) -> list[Finding]:
    if tuple(int(part) for part in version.split(".")[:2]) >= OLDEST_REDIS:
        return []
    says = gettext("Redis %(version)s is too old.") % {"version": version}
    return [bad(says, gettext("Install Redis 6.2 or newer, or Valkey."))]


def _unsaved_redis(info: dict[str, Any]) -> list[Finding]:
    """A Redis that can't save refuses writes: by default after a snapshot, always for its append-only file."""
    if "err" not in (info.get("rdb_last_bgsave_status"), info.get("aof_last_write_status")):
        return []
    says = gettext("Redis can't save its data, and may refuse writes.")
    return [bad(says, gettext("Its log says why, such as a full disk or a directory that it may not write to."))]


def _small_redis(info: dict[str, Any], used: int) -> list[Finding]:
    limit, policy = int(info.get("maxmemory", 0)), str(info.get("maxmemory_policy", KEEPS_ALL))
    findings = []
    if limit and used / limit > FULL:
        text = gettext("Redis uses %(percent)s %% of its memory.") % {"percent": f"{100 * used / limit:.0f}"}
        findings.append(bad(text, gettext("Raise maxmemory.")))
    if limit and policy != KEEPS_ALL:
        text = gettext("Redis may throw away what waits (maxmemory-policy %(policy)s).") % {"policy": policy}
        findings.append(warn(text, gettext("Set maxmemory-policy %(policy)s.") % {"policy": KEEPS_ALL}))
    return findings
