"""Indexes of references: deleting a row must not scan the tables that refer to it."""

from __future__ import annotations

import pytest

from tests.bypass_rls import bypass_rls

pytestmark = pytest.mark.usefixtures("_schema")

# References of a tenant's table, each with its column beside the organization, and the leading columns of every index.
REFERENCES = """
select c.conrelid::regclass::text, a.attname::text from pg_constraint c
join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey) and a.attname <> 'organization_id'
where c.contype = 'f' and array_length(c.conkey, 1) = 2 and c.connamespace = 'public'::regnamespace
"""
LEADING = """
select i.indrelid::regclass::text, array(
    select a.attname::text from unnest(i.indkey[0:1]) with ordinality k(n, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.n order by place
), coalesce(pg_get_expr(i.indpred, i.indrelid), '') from pg_index i where i.indrelid in (
    select oid from pg_class where relnamespace = 'public'::regnamespace)
"""
# Tables of settings, which stay small, and references to what is never deleted alone.
SMALL = {
    ("todos_todotype", "project_id"),
    ("projects_project", "agent_version_id"),
    ("jobs_job", "project_id"),
    ("conversations_cannedreply", "project_id"),
    ("todos_approvernotice", "member_id"),
    ("tools_operatornotice", "member_id"),
    ("tools_limitnotice", "member_id"),
}


def is_indexed(table: str, column: str, indexes: list[tuple[str, list[str], str]]) -> bool:
    """True if an index begins with the column, or with the organization and the column.

    A partial index serves if its condition follows from the comparison.
    """
    not_null = ("", f"({column} IS NOT NULL)")
    leading = ([column], ["organization_id", column], [column, "organization_id"])
    return any(
        one == table and (columns[:1] == [column] or columns in leading) and predicate in not_null
        for one, columns, predicate in indexes
    )


def test_every_reference_has_an_index() -> None:
    indexes = bypass_rls(LEADING)
    found = {(table, column) for table, column in bypass_rls(REFERENCES) if not is_indexed(table, column, indexes)}
    assert found - SMALL == set()
