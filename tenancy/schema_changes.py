"""Changes of a migration that would stop a running installation, read from PostgreSQL's catalog.

Snapshots before and after a migration are compared, so it doesn't matter how the migration was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Tables that a turn or an effect writes, which grow with the traffic. A lock on one of them that lasts as long as a scan
# stops every conversation.
LARGE = frozenset(
    {
        *("jobs_job", "jobs_modelcall", "projects_auditentry", "projects_idempotentrequest"),
        *("conversations_conversation", "conversations_message", "conversations_turn", "conversations_event"),
        *("conversations_persona", "conversations_personafield", "conversations_directives", "conversations_summary"),
        *(
            "conversations_analysis",
            "conversations_followup",
            "conversations_wait",
            "conversations_turnstep",
            "conversations_turncall",
        ),
        *("tools_verdict", "tools_promise", "tools_effect", "todos_todo", "todos_todoevent"),
    }
)

_COLUMNS = """
select c.relname::text, a.attnum, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       a.atthasdef or a.attidentity <> '' or a.attgenerated <> ''
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
"""
_TABLES = """
select relname::text, oid::bigint, relfilenode::bigint from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
"""
# A unique index whose columns include those of the primary key refuses nothing more than that does.
_INDEXES = """
select i.indexrelid::regclass::text, c.relname::text, i.indisunique and not exists (
    select 1 from pg_index p where p.indrelid = i.indrelid and p.indisprimary and p.indexrelid <> i.indexrelid
    and (i.indkey::int2[])[0:i.indnkeyatts - 1] @> p.indkey::int2[]
)
from pg_index i join pg_class c on c.oid = i.indrelid where c.relnamespace = 'public'::regnamespace
"""
# Without NOT NULL, which is a property of the column here.
_CONSTRAINTS = """
select k.conname::text, c.relname::text, k.contype::text, k.convalidated, k.conkey::int[] from pg_constraint k
join pg_class c on c.oid = k.conrelid where k.connamespace = 'public'::regnamespace and k.contype in ('c', 'f')
"""


@dataclass(frozen=True)
class Column:
    """A column's name, type and rules."""

    name: str
    type: str
    is_required: bool
    has_default: bool


@dataclass(frozen=True)
class Constraint:
    """A check (`c`) or a foreign key (`f`), and the numbers of its columns."""

    kind: str
    is_valid: bool
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Schema:
    """A snapshot: columns by table and number, tables by name, indexes and constraints by name and table."""

    columns: dict[tuple[int, int], Column]
    tables: dict[int, tuple[str, int]]
    indexes: dict[tuple[str, str], bool]
    constraints: dict[tuple[str, str], Constraint]


@dataclass(frozen=True)
class Problem:
    """A change that stops a running installation. `removes` is true if a later release may make it."""

    sentence: str
    removes: bool = False


def read_schema(cursor: Any) -> Schema:
    """The schema as the current transaction sees it."""
    tables = {oid: (name, file) for name, oid, file in _rows(cursor, _TABLES)}
    oid_of = {name: oid for oid, (name, _) in tables.items()}
    return Schema(
        columns={
            (oid_of[table], number): Column(name, kind, is_required, has_default)
            for table, number, name, kind, is_required, has_default in _rows(cursor, _COLUMNS)
        },
        tables=tables,
        indexes={(name, table): is_unique for name, table, is_unique in _rows(cursor, _INDEXES)},
        constraints={
            (name, table): Constraint(kind, is_valid, tuple(columns))
            for name, table, kind, is_valid, columns in _rows(cursor, _CONSTRAINTS)
        },
    )


def problems(before: Schema, after: Schema, *, is_atomic: bool) -> Iterator[Problem]:
    """The changes that a migration may not make while the version before it runs. New tables may have anything."""
    yield from _table_problems(before, after)
    yield from _column_problems(before, after)
    yield from _index_problems(before, after, is_atomic=is_atomic)
    yield from _constraint_problems(before, after)


def _table_problems(before: Schema, after: Schema) -> Iterator[Problem]:
    for oid, (name, file) in before.tables.items():
        if oid not in after.tables:
            yield Problem(f"removes the table {name}, which the running version uses", removes=True)
            continue
        new_name, new_file = after.tables[oid]
        if new_name != name:
            yield Problem(f"renames the table {name}, which the running version uses")
        if new_file != file and name in LARGE:
            yield Problem(f"rewrites the table {name} under a lock: add a nullable column, and fill it in batches")


def _column_problems(before: Schema, after: Schema) -> Iterator[Problem]:
    for place, old in before.columns.items():
        table = before.tables[place[0]][0]
        if place[0] not in after.tables:
            continue
        if place not in after.columns:
            yield Problem(f"removes {table}.{old.name}, which the running version uses", removes=True)
            continue
        new = after.columns[place]
        if new.name != old.name:
            yield Problem(f"renames {table}.{old.name}, which the running version uses: add a column instead")
        if new.type != old.type and not _is_wider(old.type, new.type):
            yield Problem(f"changes {table}.{old.name} from {old.type} to {new.type}: add a column instead")
        if new.is_required and not old.is_required:
            yield Problem(f"makes {table}.{old.name} NOT NULL, which the running version may leave out")
    for place, new in after.columns.items():
        if place[0] in before.tables and place not in before.columns and new.is_required and not new.has_default:
            table = before.tables[place[0]][0]
            yield Problem(
                f"adds {table}.{new.name} without a default: the running version doesn't write it (db_default)"
            )


def _is_wider(old: str, new: str) -> bool:
    """True for a longer varchar or text, which takes no rewrite and holds all values of the running version."""
    if not old.startswith("character varying"):
        return False
    return new == "text" or (new.startswith("character varying") and _length(new) >= _length(old))


def _length(kind: str) -> int:
    return int(kind.partition("(")[2].rstrip(")") or 1 << 30)


def _index_problems(before: Schema, after: Schema, *, is_atomic: bool) -> Iterator[Problem]:
    known = {name for name, _ in before.tables.values()}
    for (index, table), is_unique in after.indexes.items():
        if (index, table) in before.indexes or table not in known:
            continue
        if table in LARGE and is_atomic:
            yield Problem(f"builds the index {index} while nobody can write {table}: use AddIndexOnline")
        if is_unique:
            yield Problem(f"adds the unique index {index}: the running version may write what it refuses")


def _constraint_problems(before: Schema, after: Schema) -> Iterator[Problem]:
    known = {name: oid for oid, (name, _) in before.tables.items()}
    for (name, table), new in after.constraints.items():
        # One that is validated now takes a lock beside which reads and writes go on.
        if table not in known or (name, table) in before.constraints:
            continue
        if new.is_valid and table in LARGE:
            yield Problem(
                f"checks all rows of {table} for {name} under a lock: add it NOT VALID, and validate it later"
            )
        if new.kind == "c" and any((known[table], number) in before.columns for number in new.columns):
            yield Problem(f"adds the check {name}: the running version may write what it refuses", removes=True)


def _rows(cursor: Any, query: str) -> list[Any]:
    cursor.execute(query)
    return list(cursor.fetchall())
