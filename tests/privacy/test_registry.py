"""The declarations of personal data, compared with PostgreSQL's catalog."""

from __future__ import annotations

from collections import Counter

import pytest

from privacy.registry import OF_CUSTOMERS, TABLES
from tenancy.personal_data import Fate
from tests.bypass_rls import bypass_rls

pytestmark = pytest.mark.usefixtures("_schema")

# Every column of a tenant's table that can hold a text, a document or a file.
COLUMNS = """
select c.relname::text, a.attname::text from pg_attribute a
join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
join pg_type t on t.oid = a.atttypid
where a.attnum > 0 and not a.attisdropped
  and (t.typname in ('text', 'varchar', 'bpchar', 'name', 'json', 'jsonb', 'bytea', 'xml', 'inet', 'tsvector')
       or t.typcategory = 'A')
"""
TENANT_TABLES = """
select c.relname::text from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
  and (c.relname = 'projects_organization' or exists (
      select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'organization_id'))
"""


def columns() -> set[tuple[str, str]]:
    tables = {name for (name,) in bypass_rls(TENANT_TABLES)}
    return {(table, column) for table, column in bypass_rls(COLUMNS) if table in tables}


def test_every_column_that_may_hold_personal_data_is_declared() -> None:
    """A new column fails here until `personal_data.py` of its app says what it holds. Erasure and export follow it."""
    declared = {(contents.table, column) for contents in TABLES for column in contents.declared}
    assert columns() - declared == set()


def test_every_tenant_table_is_declared() -> None:
    declared = {contents.table for contents in TABLES}
    assert {name for (name,) in bypass_rls(TENANT_TABLES)} == declared


def test_each_declared_column_exists_and_is_declared_once() -> None:
    declared = [(contents.table, column) for contents in TABLES for column in contents.declared]
    assert [one for one, times in Counter(declared).items() if times > 1] == []
    emptied = {(contents.table, column) for contents in TABLES for column in contents.emptied}
    assert {*declared, *emptied} - set(bypass_rls(_NAMES)) == set()


_NAMES = """
select c.relname::text, a.attname::text from pg_attribute a
join pg_class c on c.oid = a.attrelid and c.relnamespace = 'public'::regnamespace where a.attnum > 0
"""


def test_a_table_with_personal_data_of_customers_has_a_fate() -> None:
    """And no other table."""
    of_customers = {contents.table for contents in TABLES if contents.customer or contents.links}
    assert {contents.table for contents in TABLES if contents.fate is not Fate.NONE} == of_customers


def test_an_emptied_table_loses_every_personal_column() -> None:
    emptied = [contents for contents in TABLES if contents.fate is Fate.EMPTIED]
    assert emptied
    kept = {contents.table: set(contents.customer) - contents.emptied.keys() for contents in emptied}
    assert {table: columns for table, columns in kept.items() if columns} == {}


def test_each_table_of_customers_has_a_name_of_its_own_in_an_export() -> None:
    names = [contents.name for contents in OF_CUSTOMERS]
    assert len(set(names)) == len(names)
