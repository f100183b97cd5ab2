"""Grows a database by copies of the conversations that the product wrote in it, made inside the server.

A copy has everything that a turn writes. Its ids lead to each other, and are in the order of time as the product's are.
PostgreSQL logs nothing meanwhile and builds each index at the end. No product may use the database meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg

from config.runner.embedded import EmbeddedServices
from config.runner.postgres import DATABASE, Postgres

Connection = psycopg.Connection[tuple[object, ...]]

# The copies are spread over this time, up to an hour ago.
DAYS = 730
# How long a project keeps them by default (`privacy.retention.policy`).
EVENT_DAYS, PROMPT_DAYS, JOB_DAYS = 365, 30, 14
# Two cores build indexes side by side.
WORKERS = 2


@dataclass(frozen=True)
class Copied:
    """A table that is copied: the columns with other values than a shifted id or time, and the days its rows are kept."""

    changes: Mapping[str, str] = field(default_factory=dict)
    days: int | None = None


PROMPT = f"case when c.age < interval '{PROMPT_DAYS} days' then {{0}} else {{1}} end"
CALL = {"messages": PROMPT.format("s.messages", "'[]'"), "output": PROMPT.format("s.output", "''")}
# The largest first, so that both workers end together.
TABLES = {
    "conversations_event": Copied(days=EVENT_DAYS),
    "jobs_modelcall": Copied(CALL),
    "conversations_message": Copied(),
    "tools_verdict": Copied(),
    "conversations_turn": Copied(),
    # Their content is left out: four kilobytes a turn, which no turn reads again.
    "conversations_analysis": Copied({"steps": "'[]'"}),
    "conversations_directives": Copied(),
    # No reminder is due, and everything was searched for todos.
    "conversations_conversation": Copied({"follow_up_at": "null", "extracted_to": "s.last_message"}),
    "conversations_persona": Copied({"external_id": "s.external_id || ' ' || c.n"}),
    "jobs_job": Copied({"key": "s.key || ' ' || c.n"}, days=JOB_DAYS),
}
# The same for all copies.
SHARED = ("organization_id", "project_id")

# What follows the time in an id is the copy's number, and the end of the copied id.
_COPIES = """
create table bench.copies as
select n, age, left(lpad(to_hex(ms), 12, '0'), 8) || '-' || right(lpad(to_hex(ms), 12, '0'), 4)
       || '-7' || lpad(to_hex(n & 4095), 3, '0') || '-8' || lpad(to_hex(n >> 12), 3, '0') || '-' as prefix
from (select n, age, (extract(epoch from now() - age) * 1000)::bigint ms from (
    select n, make_interval(secs => 3600 + {seconds} * (1 - n::float8 / {copies})) age
    from generate_series(1, {copies}) n) aged) timed order by n
"""
_COLUMNS = """
select attname::text, format_type(atttypid, null) from pg_attribute
where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
"""
_INSERT = """
insert into {table} ({names}) select {values}
from (select * from bench.copies where age < {most} order by n) c cross join lateral (select * from bench.{table} offset 0) s
"""
_OFF = "update pg_index set indisready = false, indisvalid = false where indrelid = %s::regclass"
# Checkpoints and the log would take most of the time.
_SETTINGS = {"wal_level": "minimal", "max_wal_senders": "0", "autovacuum": "off", "max_wal_size": "8GB"}
_SESSION = "set session_replication_role = replica; set maintenance_work_mem = '1GB'; set synchronous_commit = off"


def plant(services: EmbeddedServices, *, messages: int, keeps_all: bool) -> int:
    """Fill the tables of a turn. Returns the size of the database in bytes.

    With `keeps_all`, nothing was deleted for its age.
    """
    with _unlogged(services) as url, _connect(url) as connection:
        connection.execute("create schema bench")
        for table in TABLES:
            connection.execute(f"create table bench.{table} as select * from {table}".encode())  # noqa: S608 - tables of our own
        [sample] = connection.execute("select count(*) from conversations_message").fetchone() or (0,)
        copies = messages // int(str(sample))
        connection.execute(_COPIES.format(copies=copies, seconds=DAYS * 86_400).encode())
        connection.execute("analyze bench.copies")
        with ThreadPoolExecutor(WORKERS) as threads:
            for _ in threads.map(lambda table: _copy(url, table, keeps_all=keeps_all), TABLES):
                """Raise what a thread raised."""
        connection.execute("drop schema bench cascade")
        connection.execute("analyze")
        # The first vacuum reads the whole table. The other tables reach their limits in no measurement.
        connection.execute("vacuum jobs_job")
        [size] = connection.execute("select pg_database_size(current_database())").fetchone() or (0,)
    return int(str(size))


def _copy(url: str, table: str, *, keeps_all: bool) -> None:
    """Copy the sample. A table that is rewritten in the transaction isn't logged."""
    copied = TABLES[table]
    most = f"interval '{DAYS * 2 if keeps_all or copied.days is None else copied.days} days'"
    with _connect(url) as connection, connection.transaction():
        values = {
            str(name): copied.changes.get(str(name)) or _value(str(name), str(kind))
            for name, kind in connection.execute(_COLUMNS, [table])
        }
        names = ", ".join(f'"{name}"' for name in values)
        insert = _INSERT.format(table=table, names=names, values=", ".join(values.values()), most=most)
        connection.execute(f"cluster {table} using {table}_pkey".encode())
        connection.execute(_OFF, [table])
        connection.execute(insert.encode())
        connection.execute(f"reindex table {table}".encode())


def _value(name: str, kind: str) -> str:
    if kind == "uuid" and name not in SHARED:
        return f'(c.prefix || right(s."{name}"::text, 12))::uuid'
    return f's."{name}" - c.age' if kind == "timestamp with time zone" else f's."{name}"'


@contextmanager
def _unlogged(services: EmbeddedServices) -> Iterator[str]:
    """The administrator's address of a server that logs as little as it can."""
    postgres = services.postgres.service
    assert isinstance(postgres, Postgres)
    _restart(services, [f"alter system set {name} = '{value}'" for name, value in _SETTINGS.items()])
    try:
        yield postgres.admin_url(database=DATABASE)
    finally:
        _restart(services, [f"alter system reset {name}" for name in _SETTINGS])


def _restart(services: EmbeddedServices, settings: list[str]) -> None:
    postgres = services.postgres.service
    assert isinstance(postgres, Postgres)
    with _connect(postgres.admin_url(database=DATABASE)) as connection:
        for setting in settings:
            connection.execute(setting.encode())
        connection.execute("checkpoint")
    services.postgres.stop()
    services.postgres.start()


def _connect(url: str) -> Connection:
    connection = psycopg.connect(url, autocommit=True)
    connection.execute(_SESSION)
    return connection
