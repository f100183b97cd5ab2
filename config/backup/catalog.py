"""PostgreSQL's catalog, as far as a backup reads it: tables, sequences, migrations, and the right to see every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql

from config.backup.errors import BackupError

Connection = psycopg.Connection[tuple[object, ...]]

_OURS = """
c.relnamespace = 'public'::regnamespace and not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
"""
# Partitions are tables of their own here, and what they are partitions of holds no rows.
_TABLES = f"""
select c.relname::text, array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0
    and not a.attisdropped and a.attgenerated = '' order by a.attnum)
from pg_class c where c.relkind = 'r' and {_OURS} order by c.relname
"""  # noqa: S608 - constants
_SEQUENCES = f"select c.relname::text from pg_class c where c.relkind = 'S' and {_OURS} order by c.relname"  # noqa: S608
# A role sees every row if row-level security doesn't apply to it, or if one of its policies is `true` and none restricts.
_HIDDEN = f"""
with own as (select p.*, coalesce(pg_get_expr(p.polqual, p.polrelid), 'true') = 'true' as shows_all from pg_policy p
    where p.polcmd in ('*', 'r')
      and exists (select from unnest(p.polroles) r where r = 0 or pg_has_role(r, 'usage')))
select c.relname::text from pg_class c where c.relkind = 'r' and {_OURS} and (
    not has_table_privilege(c.oid, 'select') or row_security_active(c.oid) and (
        not exists (select from own where polrelid = c.oid and polpermissive and shows_all)
        or exists (select from own where polrelid = c.oid and not polpermissive and not shows_all)))
order by c.relname
"""  # noqa: S608 - constants


@dataclass(frozen=True)
class Table:
    """A table and its columns, without generated ones."""

    name: str
    columns: tuple[str, ...]

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier("public", self.name)

    @property
    def column_list(self) -> sql.Composed:
        return sql.SQL(", ").join(map(sql.Identifier, self.columns))


def read_tables(connection: Connection) -> list[Table]:
    """Every table of the product and of the packages it uses, in the order of their names."""
    return [Table(str(name), tuple(columns)) for name, columns in connection.execute(_TABLES)]  # type: ignore[arg-type]


def read_sequences(connection: Connection) -> dict[str, tuple[int, bool]]:
    """The last value of each sequence, and whether it was used."""
    names = [str(name) for (name,) in connection.execute(_SEQUENCES)]
    found = {name: connection.execute(_last_value(name)).fetchone() for name in names}
    return {name: (int(str(row[0])), bool(row[1])) for name, row in found.items() if row}


def _last_value(sequence: str) -> sql.Composed:
    return sql.SQL("select last_value, is_called from {}").format(sql.Identifier("public", sequence))


def read_migrations(connection: Connection) -> list[tuple[str, str]]:
    """The applied migrations, as app and name, oldest first."""
    rows = connection.execute("select app, name from public.django_migrations order by id")
    return [(str(app), str(name)) for app, name in rows]


def require_full_view(connection: Connection) -> None:
    """Raises BackupError if row-level security would hide rows of a table from this role."""
    hidden = [str(name) for (name,) in connection.execute(_HIDDEN)]
    if hidden:
        raise BackupError(
            f"Row-level security hides rows of {_listed(hidden)} from this role: connect as mg_ops, whose policy shows"
            " every tenant's rows, and run `manage.py migrate` if the table is new."
        )


def lock_tables(connection: Connection, tables: Sequence[Table]) -> None:
    """Keep migrations from changing the tables until the transaction ends. Reads and writes go on."""
    names = sql.SQL(", ").join(table.identifier for table in tables)
    connection.execute(sql.SQL("lock table {} in access share mode").format(names))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more tables" if len(names) > 3 else "")
