"""Loads a backup into the empty tables of the schema it was made with, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from psycopg import sql

from config.backup.catalog import Connection, Table, read_tables
from config.backup.dump import first_line
from config.backup.errors import BackupError
from config.backup.frames import CUT, Frame, Kind
from config.backup.manifest import Manifest
from config.backup.uncertain import mark_uncertain

_FORCED = """
select c.relname::text from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relforcerowsecurity
"""
_FOREIGN_KEYS = """
select c.conrelid::regclass::text, quote_ident(c.conname), pg_get_constraintdef(c.oid) from pg_constraint c
where c.contype = 'f' and c.connamespace = 'public'::regnamespace and c.conparentid = 0 order by c.conname
"""
# Without those of primary keys and unique constraints, which are cheap to fill in the order of the rows.
_INDEXES = """
select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i
join pg_class c on c.oid = i.indexrelid
where c.relnamespace = 'public'::regnamespace and c.relkind = 'i' and not c.relispartition
  and not exists (select from pg_constraint k where k.conindid = i.indexrelid) order by 1
"""


@dataclass(frozen=True)
class Loaded:
    """The number of tables and rows of a backup, and of the effects that were left to staff."""

    tables: int
    rows: int
    uncertain: int = 0


def check(frames: Iterator[Frame]) -> tuple[Manifest, Loaded]:
    """Read a whole backup without keeping it. Raises BackupError if anything is missing."""
    manifest = read_manifest(frames)
    counted = [_check_table(name, frames) for name in _each_table(frames, manifest)]
    return manifest, Loaded(len(counted), sum(counted))


def read_manifest(frames: Iterator[Frame]) -> Manifest:
    """The first frame."""
    return Manifest.from_json(_expect(next(frames, None), Kind.MANIFEST))


def load(connection: Connection, frames: Iterator[Frame], *, resumes: bool) -> Loaded:
    """Load the frames. The caller owns the tables. Raises BackupError, in which case nothing is stored.

    `resumes` is true if nothing ran after the backup was made: planned effects are carried out then, and otherwise left
    to staff.

    Indexes and foreign keys are created after the rows, which takes a fraction of the time and checks all of them.
    """
    manifest = read_manifest(frames)
    try:
        with connection.transaction():
            return _load(connection, manifest, frames, resumes=resumes)
    except psycopg.Error as error:
        raise BackupError(f"PostgreSQL refused the restore: {first_line(error)}.") from error


def _load(connection: Connection, manifest: Manifest, frames: Iterator[Frame], *, resumes: bool) -> Loaded:
    tables = {table.name: table for table in manifest.tables}
    _require_tables(connection, tables)
    forced = [str(name) for (name,) in connection.execute(_FORCED).fetchall()]
    keys = connection.execute(_FOREIGN_KEYS).fetchall()
    indexes = connection.execute(_INDEXES).fetchall()
    # The owner of the tables sees and writes every row, as long as row-level security isn't forced.
    for name in forced:
        _run(connection, "alter table {} no force row level security", sql.Identifier("public", name))
    # Triggers count what is stored, and the counts are in the backup too.
    for table in tables.values():
        _run(connection, "alter table {} disable trigger user", table.identifier)
    for owner, key, _ in keys:
        connection.execute(f"alter table {owner} drop constraint {key}".encode())
    for index, _ in indexes:
        connection.execute(f"drop index {index}".encode())
    # What the migrations wrote is in the backup too.
    _run(connection, "truncate {}", sql.SQL(", ").join(table.identifier for table in tables.values()))
    counted = [_load_table(connection, tables[name], frames) for name in _each_table(frames, manifest)]
    uncertain = 0 if resumes else mark_uncertain(connection)
    for _, definition in indexes:
        connection.execute(str(definition).encode())
    for owner, key, definition in keys:
        connection.execute(f"alter table {owner} add constraint {key} {definition}".encode())
    for table in tables.values():
        _run(connection, "alter table {} enable trigger user", table.identifier)
    for name in forced:
        _run(connection, "alter table {} force row level security", sql.Identifier("public", name))
    for name, (last, is_used) in manifest.sequences.items():
        connection.execute("select setval(format('public.%%I', %s::text)::regclass, %s, %s)", [name, last, is_used])
    return Loaded(len(counted), sum(counted), uncertain)


def _require_tables(connection: Connection, tables: dict[str, Table]) -> None:
    known = {table.name: set(table.columns) for table in read_tables(connection)}
    for name, table in tables.items():
        if missing := [name] if name not in known else sorted(set(table.columns) - known[name]):
            raise BackupError(f"The backup has {name} with {', '.join(missing)}, which this schema lacks.")


def _each_table(frames: Iterator[Frame], manifest: Manifest) -> Iterator[str]:
    """The name of each table, whose frames the caller takes before the next. Checks the order and the end."""
    for table in manifest.tables:
        if json.loads(_expect(next(frames, None), Kind.TABLE)) != table.name:
            raise BackupError(CUT)
        yield table.name
    if json.loads(_expect(next(frames, None), Kind.END)) != len(manifest.tables):
        raise BackupError(CUT)
    # The frames end here; what is encrypted after them is checked as well.
    for _ in frames:
        raise BackupError(CUT)


def _check_table(name: str, frames: Iterator[Frame]) -> int:
    """Count the rows: a line each, since the format escapes line breaks in values."""
    found = 0
    for frame in frames:
        if frame.kind is Kind.ROWS:
            found += frame.payload.count(b"\n")
        else:
            return _require_count(name, frame, found)
    raise BackupError(CUT)


def _load_table(connection: Connection, table: Table, frames: Iterator[Frame]) -> int:
    statement = sql.SQL("copy {} ({}) from stdin").format(table.identifier, table.column_list)
    with connection.cursor() as cursor:
        with cursor.copy(statement) as copy:
            for frame in frames:
                if frame.kind is not Kind.ROWS:
                    break
                copy.write(frame.payload)
            else:
                raise BackupError(CUT)
        return _require_count(table.name, frame, cursor.rowcount)


def _require_count(name: str, frame: Frame, found: int) -> int:
    if json.loads(_expect(frame, Kind.COUNT)) != found:
        raise BackupError(f"The backup's rows of {name} aren't complete: use another copy of the file.")
    return found


def _expect(frame: Frame | None, kind: Kind) -> bytes:
    if frame is None or frame.kind is not kind:
        raise BackupError(CUT)
    return frame.payload


def _run(connection: Connection, statement: str, *parts: sql.Composable) -> None:
    connection.execute(sql.SQL(statement).format(*parts))
