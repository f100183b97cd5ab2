"""Row-level security and composite foreign keys, as migration operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.migrations import RunSQL

TENANT = "nullif(current_setting('app.organization_id', true), '')::uuid"
# The subselect hides the value from the planner. With the bare setting, PostgreSQL would plan a cached statement for
# the first tenant that runs it. If that tenant has few rows, a full scan looks as cheap as an index lookup, and the
# next tenant may have a million rows.
CURRENT_TENANT = f"(select {TENANT})"


def tenant_table(
    table: str, *, parents: Mapping[str, str] | None = None, append_only: bool = False, referenced: bool = True
) -> RunSQL:
    """Forced row-level security and composite foreign keys for a tenant's table.

    `parents` maps a column to the table that it references. mg_app can't update, delete or truncate an `append_only`
    table. With `referenced=False`, the table has no unique key for the foreign keys of other tables.
    """
    lines: list[Any] = _policies(table, owner_column="organization_id")
    constraints = [_constraint(table, column, parent) for column, parent in (parents or {}).items()]
    if referenced:
        constraints.insert(0, f"add constraint {table}_tenant unique (organization_id, id)")
    if constraints:
        lines.append(f"alter table {table} {', '.join(constraints)}")
    if append_only:
        lines.append(f"revoke update, delete, truncate on {table} from mg_app")
    return RunSQL(lines, reverse_sql=RunSQL.noop)


def combine(*parts: RunSQL | str) -> RunSQL:
    """Combine operations and statements into one script, which takes one round trip to the database."""
    lines: list[Any] = [line for part in parts for line in ([part] if isinstance(part, str) else part.sql)]
    return RunSQL(";\n".join(lines), reverse_sql=RunSQL.noop)


def organization_table(table: str) -> RunSQL:
    """Row-level security for the table of organizations."""
    lines: list[Any] = _policies(table, owner_column="id")
    return RunSQL(lines, reverse_sql=RunSQL.noop)


def third_party_table(table: str) -> RunSQL:
    """Row-level security for another package's table, whose model has no organization.

    The database fills in the column.

    A row written outside a tenant's transaction, by a superuser, belongs to no organization. Only mg_ops can see it.
    """
    column = f"organization_id uuid default {TENANT} references projects_organization (id) on delete cascade"
    lines: list[Any] = [f"alter table {table} add column {column}", *_policies(table, owner_column="organization_id")]
    undo = ["drop policy tenant on {0}", "drop policy ops on {0}", "alter table {0} drop column organization_id"]
    calm = ["alter table {0} no force row level security", "alter table {0} disable row level security"]
    return RunSQL(lines, reverse_sql=[line.format(table) for line in (*undo, *calm)])


def foreign_key(table: str, column: str, parent: str, *, cascade: bool = False, validate: bool = True) -> RunSQL:
    """A composite foreign key to a table that is created later or belongs to a higher room.

    With `cascade`, deleting the parent deletes the row. Otherwise the parent can only be deleted together with the
    row. Without `validate`, the rows that exist are checked later, by `validate_key`: it reads a large table without
    holding up writes.
    """
    on_delete = "cascade" if cascade else "no action"
    constraint = _constraint(table, column, parent, on_delete=on_delete)
    return RunSQL([f"alter table {table} {constraint}{'' if validate else ' not valid'}"], reverse_sql=RunSQL.noop)


def validate_key(table: str, constraint: str) -> RunSQL:
    """Check the rows that were there before a foreign key, in a migration after the one that added it."""
    return RunSQL([f"alter table {table} validate constraint {constraint}"], reverse_sql=RunSQL.noop)


def _policies(table: str, *, owner_column: str) -> list[str]:
    check, using = f"{owner_column} = {TENANT}", f"{owner_column} = {CURRENT_TENANT}"
    return [
        f"alter table {table} enable row level security, force row level security",
        f"create policy tenant on {table} to mg_app, mg_owner using ({using}) with check ({check})",
        f"create policy ops on {table} to mg_ops using (true) with check (true)",
    ]


def _constraint(table: str, column: str, parent: str, *, on_delete: str = "cascade") -> str:
    return (
        f"add constraint {table}_{column}_tenant foreign key (organization_id, {column}) "
        f"references {parent} (organization_id, id) on delete {on_delete} deferrable initially deferred"
    )
