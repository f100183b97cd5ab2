"""The plans of a turn's statements while PostgreSQL believes that one tenant has fifty million rows in each table."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from config.runner.postgres import DATABASE
from tenancy.schema_changes import LARGE
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.processes import ForkServer, until
from tests.services import services
from tests.tenancy.statements.test_plans import nodes

ROWS = 50_000_000
# More rows than a turn ever reads of one table.
TOO_MANY = 20_000
EXPLAIN = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_format": "json",
}
# The sweep's look for what is due, and the use of models in a day: their rows don't grow with the table.
OF_A_TIME = (
    *("follow_up_at <=", "snoozed_until <=", "receipt_due_at <="),
    *("p.state = 'broken'", "started_at > statement_timestamp()"),
)
COLUMNS = """
select c.relname::text, a.attname::text, a.atttypid = 'uuid'::regtype from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relname = any(%s) and c.relnamespace = 'public'::regnamespace
"""
RELATION = """
select pg_restore_relation_stats('schemaname', 'public', 'relname', %s::text, 'relpages',
    greatest(1, (pg_relation_size(%s::text::regclass) / 8192)::int), 'reltuples', %s::real)
"""
ATTRIBUTE = """
select pg_restore_attribute_stats('schemaname', 'public', 'relname', %s::text, 'attname', %s::text, 'inherited', false,
    'null_frac', 0::real, 'avg_width', 16, 'n_distinct', %s::real)
"""
# Nearly every job is done.
STATES = """
select pg_restore_attribute_stats('schemaname', 'public', 'relname', 'jobs_job', 'attname', 'state', 'inherited', false,
    'null_frac', 0::real, 'avg_width', 5, 'n_distinct', 6::real, 'most_common_vals', '{done,failed,queued,running}',
    'most_common_freqs', '{0.99997,0.00001,0.00001,0.00001}'::real[])
"""


@pytest.fixture
def explained() -> Iterator[None]:
    """New connections log the plan of each statement."""
    for name, value in EXPLAIN.items():
        bypass_rls(f"alter database {DATABASE} set {name} = {value}")
    yield
    for name in EXPLAIN:
        bypass_rls(f"alter database {DATABASE} reset {name}")


@pytest.fixture
def planted(tenant: Tenant) -> Iterator[None]:
    """Afterwards, the statistics are of the rows that are there."""
    yield
    for table in LARGE:
        bypass_rls(f"alter table {table} reset (autovacuum_enabled)")
        bypass_rls(f"analyze {table}")


def plant() -> None:
    """Statistics of a single tenant with so many rows in each table, whose ids differ."""
    for table in LARGE:
        bypass_rls(f"alter table {table} set (autovacuum_enabled = false)")
        bypass_rls(RELATION, table, table, ROWS)
    for table, column, is_id in bypass_rls(COLUMNS, list(LARGE)):
        bypass_rls(ATTRIBUTE, table, column, distinct(column, is_id=is_id))
    bypass_rls(STATES)


def distinct(column: str, *, is_id: bool) -> float:
    """Distinct values: a count, or, below zero, a share of the rows."""
    if column in {"organization_id", "project_id"}:
        return 1
    if is_id:
        return -1 if column == "id" else -0.05
    return 40


def plans(text: str) -> Iterator[dict[str, Any]]:
    """The plans in PostgreSQL's log."""
    for found in re.finditer(r"^LOG:  duration: .* plan:\n((?:\t.*\n)+)", text, re.MULTILINE):
        yield json.loads(found[1])


def take_turn(tenant: Tenant, processes: ForkServer) -> None:
    """A turn through a web process and a worker of their own, up to its last job."""
    web, url = processes.web()
    worker = processes.worker()
    talk(tenant, url)
    until(lambda: bypass_rls("select not exists (select from jobs_job where state in ('queued', 'running'))")[0][0])
    web.kill()
    worker.kill()


def talk(tenant: Tenant, url: str) -> None:
    conversation = call(tenant, f"{url}/api/v1/conversations", {"channel": "chat", "persona": {"external_id": "guest"}})
    messages = f"{url}/api/v1/conversations/{conversation['id']}/messages?wait=50"
    for content in ("A table for two, please.", "At eight."):
        assert call(tenant, messages, {"content": content})["reply"]


def call(tenant: Tenant, url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers=tenant.headers)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_a_turn_reads_as_few_rows_of_fifty_million_as_of_fifty(
    planted: None, tenant: Tenant, processes: ForkServer, explained: None
) -> None:
    take_turn(tenant, processes)
    plant()
    # An empty table is read as a whole, whatever its statistics say.
    filled = {table for table in LARGE if bypass_rls(f"select exists (select from {table})")[0][0]}
    log = services.data_dir / "postgres.log"
    start = log.stat().st_size
    take_turn(tenant, processes)
    found = list(plans(log.read_bytes()[start:].decode(errors="replace")))
    seen = {node.get("Relation Name") for plan in found for node in nodes(plan["Plan"])}
    assert seen >= {"conversations_event", "conversations_message", "conversations_turn", "jobs_job"}
    wrong = {
        f"{node['Node Type']} of {node['Relation Name']}, {node['Plan Rows']} rows: {plan['Query Text']}"
        for plan in found
        if not any(part in plan["Query Text"] for part in OF_A_TIME)
        for node in nodes(plan["Plan"])
        if node.get("Relation Name") in filled and (node["Node Type"] == "Seq Scan" or node["Plan Rows"] > TOO_MANY)
    }
    assert not wrong
