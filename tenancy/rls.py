"""The database's own walls between tenants, as migration operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.migrations import RunSQL

TENANT = "nullif(current_setting('app.organization_id', true), '')::uuid"
# What a policy compares with: a value that only the running statement knows. The bare setting would be looked up while PostgreSQL
# plans, and a plan that a connection keeps for all tenants would be made for the first: where that one has few rows, reading all
# of a tenant's rows looks as cheap as finding one by its key, and the next tenant may have a million.
CURRENT_TENANT = f"(select {TENANT})"


def tenant_table(
    table: str, *, parents: Mapping[str, str] | None = None, append_only: bool = False, referenced: bool = True
) -> RunSQL:
    """Row-level security, forced, and composite foreign keys for one tenant's table.

    `parents` maps a column to the table it refers to. An `append_only` table can't be changed or emptied by mg_app. One that
    isn't `referenced` by others does without the unique key that their foreign keys need.
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


def walls(*parts: RunSQL | str) -> RunSQL:
    """All walls of an app as one script, which takes one round trip to the database."""
    lines: list[Any] = [line for part in parts for line in ([part] if isinstance(part, str) else part.sql)]
    return RunSQL(";\n".join(lines), reverse_sql=RunSQL.noop)


def organization_table(table: str) -> RunSQL:
    """Row-level security for the table of organizations itself."""
    lines: list[Any] = _policies(table, owner_column="id")
    return RunSQL(lines, reverse_sql=RunSQL.noop)


def borrowed_table(table: str) -> RunSQL:
    """Row-level security for another package's table, whose model knows no tenant: the database says whose a row is.

    A row that is written outside a tenant's transaction, by the platform's people, is nobody's and seen by mg_ops only.
    """
    column = f"organization_id uuid default {TENANT} references projects_organization (id) on delete cascade"
    lines: list[Any] = [f"alter table {table} add column {column}", *_policies(table, owner_column="organization_id")]
    undo = ["drop policy tenant on {0}", "drop policy ops on {0}", "alter table {0} drop column organization_id"]
    calm = ["alter table {0} no force row level security", "alter table {0} disable row level security"]
    return RunSQL(lines, reverse_sql=[line.format(table) for line in (*undo, *calm)])


def foreign_key(table: str, column: str, parent: str, *, goes_with_it: bool = False) -> RunSQL:
    """One composite key, for a reference that points to a table made later or by a higher floor.

    A row that `goes_with_it` is deleted with what it refers to. Any other keeps that from being deleted alone: only a
    deletion of both, from above, passes.
    """
    on_delete = "cascade" if goes_with_it else "no action"
    constraint = _constraint(table, column, parent, on_delete=on_delete)
    return RunSQL([f"alter table {table} {constraint}"], reverse_sql=RunSQL.noop)


def _policies(table: str, *, owner_column: str) -> list[str]:
    mine, shown = f"{owner_column} = {TENANT}", f"{owner_column} = {CURRENT_TENANT}"
    return [
        f"alter table {table} enable row level security, force row level security",
        f"create policy tenant on {table} to mg_app, mg_owner using ({shown}) with check ({mine})",
        f"create policy ops on {table} to mg_ops using (true) with check (true)",
    ]


def _constraint(table: str, column: str, parent: str, *, on_delete: str = "cascade") -> str:
    return (
        f"add constraint {table}_{column}_tenant foreign key (organization_id, {column}) "
        f"references {parent} (organization_id, id) on delete {on_delete} deferrable initially deferred"
    )
