"""Triggers that count the bytes of a table's rows by project, as migration operations.

The function `add_stored_bytes` is created with the table of the sums (`projects.0010_storage`).
"""

from __future__ import annotations

from django.db.migrations import RunSQL

# Rows of a project that is being deleted aren't counted: it has gone before them. Neither is what is written outside of a
# tenant's transaction.
ADD = """
create function add_stored_bytes(owner uuid, project uuid, what text, difference bigint) returns void
language sql as $$
    insert into projects_storedbytes as known (id, organization_id, project_id, kind, slot, bytes)
    select gen_random_uuid(), owner, p.id, what, pg_backend_pid() % 16, difference
    from projects_project p where p.organization_id = owner and p.id = project and difference <> 0
        and nullif(current_setting('app.organization_id', true), '') is not null
    on conflict (organization_id, project_id, kind, slot) do update set bytes = known.bytes + excluded.bytes
$$
"""
_FUNCTION = """
create or replace function {table}_bytes() returns trigger language plpgsql as $$
begin
    if TG_OP <> 'INSERT' then
        perform add_stored_bytes(old.organization_id, {project_of_old}, '{kind}', -({size_of_old})::bigint);
    end if;
    if TG_OP <> 'DELETE' then
        perform add_stored_bytes(new.organization_id, {project_of_new}, '{kind}', ({size_of_new})::bigint);
    end if;
    return null;
end $$
"""
_WRITTEN = (
    "create trigger {table}_written after insert or delete on {table} for each row execute function {table}_bytes()"
)
_CHANGED = """
create trigger {table}_changed after update on {table} for each row
when (({size_of_old}) <> ({size_of_new})) execute function {table}_bytes()
"""


def count_bytes(table: str, *, kind: str, project: str, size: str) -> RunSQL:
    """Count the rows of a table. `project` and `size` are expressions over a row that is named `row`."""
    words = _words(table, kind=kind, project=project, size=size)
    undo = [f"drop trigger {table}_{name} on {table}" for name in ("written", "changed")]
    return RunSQL(
        [part.format(**words) for part in (_FUNCTION, _WRITTEN, _CHANGED)],
        reverse_sql=[*undo, f"drop function {table}_bytes()"],
    )


def find_project_by(table: str, *, kind: str, project: str, former: str, size: str) -> RunSQL:
    """Let the rows of a counted table find their project by another expression."""
    new, old = (_FUNCTION.format(**_words(table, kind=kind, project=one, size=size)) for one in (project, former))
    return RunSQL([new], reverse_sql=[old])


def _words(table: str, *, kind: str, project: str, size: str) -> dict[str, str]:
    words = {"table": table, "kind": kind}
    for side in ("old", "new"):
        words |= {f"project_of_{side}": project.replace("row.", f"{side}.")}
        words |= {f"size_of_{side}": size.replace("row.", f"{side}.")}
    return words
