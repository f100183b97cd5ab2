"""Query plans that a connection caches for all tenants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.db.models import Q

from conversations.analytics.outcomes import handed_over, unanswered
from conversations.context import turn_context
from conversations.models import Conversation, Message, Turn
from conversations.turns.services import start_conversation
from jobs import claims, fence
from tenancy.ids import uuid7
from tenancy.postgresql import prepared
from tenancy.postgresql.planning import planned_for_values
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import tenant_tx
from tenancy.write_batch import insert_rows
from tests.conftest import Tenant

# Enough rows that a full scan costs far more than an index, whatever earlier tests left in the table.
PER_TENANT, AT_ONCE = 2_000, 500
# A few pages of the table.
SMALL = 150
# Indexes of all running or queued jobs. Statements about one job, or a lane's next jobs, must not use them.
OF_ALL = {"one_running_per_subject", "job_lease", "job_claim", "job_fairness"}
STATEMENTS = {
    "hold": (fence._HOLD, OF_ALL),
    "finish": (fence._FINISH, OF_ALL),
    "claim": (claims._claim_statement((("reply", 10.0),), 32, holds_back=False), OF_ALL - {"job_claim"}),
}


def test_a_row_of_a_small_table_is_found_by_its_key(tenant: Tenant) -> None:
    """The plan is cached while the table grows. A scan is cheap only while the table is small."""
    conversation = fill(tenant, messages=SMALL)
    take_stock()
    with tenant_tx(tenant.organization.pk, plans_once=True), connection.cursor() as cursor:
        sql, values = Message.objects.filter(conversation=conversation, seq=7).values("id").query.sql_with_params()
        cursor.execute(f"explain (format json) {sql}", values)
        plan = plan_of(cursor)
    assert not [node for node in nodes(plan) if node["Node Type"] == "Seq Scan"]


def test_a_plan_made_for_an_empty_tenant_uses_keys_for_a_large_one(tenant: Tenant, stranger: Tenant) -> None:
    """The plan must not depend on the tenant that first runs the statement."""
    conversation = fill(tenant)
    take_stock()
    with tenant_tx(stranger.organization.pk, plans_once=True), connection.cursor() as cursor:
        cursor.execute(f"prepare found_by_keys as {numbered(turn_context.TURN.text.sql)}")
        execute(cursor, tenant, conversation)
    with tenant_tx(tenant.organization.pk, plans_once=True), connection.cursor() as cursor:
        plan = execute(cursor, tenant, conversation)
        cursor.execute("deallocate found_by_keys")
    assert max(rows_read(node) for node in nodes(plan)) < PER_TENANT / 20


def test_a_narrowed_list_is_planned_for_its_values(tenant: Tenant) -> None:
    """A plan for all values can't use an index of only the rows that a filter finds. Other statements keep theirs."""
    text = "prepare flagged (text) as select id from conversations_conversation where flag <> $1"
    with tenant_tx(tenant.organization.pk), connection.cursor() as cursor:
        cursor.execute("set local plan_cache_mode = force_generic_plan")
        cursor.execute(text)
        cursor.execute("explain (format json) execute flagged ('')")
        assert "$1" in json.dumps(plan_of(cursor))
        with planned_for_values():
            cursor.execute("explain (format json) execute flagged ('')")
            assert "$1" not in json.dumps(plan_of(cursor))
        cursor.execute("show plan_cache_mode")
        assert cursor.fetchone() == ("auto",)
        cursor.execute("deallocate flagged")


@pytest.mark.parametrize("outcome", [handed_over, unanswered])
def test_few_conversations_of_an_outcome_are_found_by_their_keys(outcome: Callable[[], Q], tenant: Tenant) -> None:
    """A condition of each conversation ("SubPlan") would read all conversations of a period for the few that match."""
    with tenant.tx(), connection.cursor() as cursor:
        sql, values = Conversation.objects.filter(outcome()).values("id").query.sql_with_params()
        cursor.execute(f"explain (format json) {sql}", values)
        plan = plan_of(cursor)
    assert not [node for node in nodes(plan) if node.get("Subplan Name", "").startswith("SubPlan")]


def test_a_plan_made_for_a_small_table_is_renewed_while_the_table_grows(database: None) -> None:
    """For a few rows, reading all rows of a tenant costs less than finding one by its key."""
    statement = Prepared("select id from growing where tenant = %s and id = %s")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("create temporary table growing (tenant int, id int) on commit drop")
        cursor.execute("create index on growing (tenant)")
        cursor.execute("create unique index on growing (id)")
        cursor.execute("set local plan_cache_mode = force_generic_plan")
        cursor.execute("insert into growing values (1, 0)")
        cursor.execute("analyze growing")
        assert statement(1, 7) == []
        cursor.execute(f"insert into growing select 1, generate_series(1, {PER_TENANT})")
        for _ in range(2 * prepared._session_of(connection.connection).runs + prepared.FIRST_RENEWAL):
            statement(1, 7)
        cursor.execute(f"explain (analyze, format json) execute {statement._name.decode()} (1, 7)")
        plan = plan_of(cursor)
    assert max(rows_read(node) for node in nodes(plan)) < PER_TENANT / 20


@pytest.mark.parametrize(("statement", "wrong"), STATEMENTS.values(), ids=STATEMENTS.keys())
def test_statements_about_a_job_do_not_read_all_live_jobs(statement: Prepared, wrong: set[str]) -> None:
    """Indexes of live jobs look small in statistics, and grow when thousands of jobs pass through them."""
    with transaction.atomic(using="ops"), connections["ops"].cursor() as cursor:
        cursor.execute("set local enable_seqscan = off")
        cursor.execute(f"explain (generic_plan, format json) {statement._text.decode()}")
        plan = plan_of(cursor)
    used = {node["Index Name"] for node in nodes(plan) if "Index Name" in node}
    assert used
    assert not used & wrong


def fill(tenant: Tenant, *, messages: int = PER_TENANT) -> Conversation:
    with tenant.tx():
        made = start_conversation(tenant.project, channel="chat", external_id="guest", known={}, metadata={})
        said = [
            Message(id=uuid7(), conversation=made, seq=number, role="user", author="customer", content="Hello?")
            for number in range(1, messages + 1)
        ]
        for start in range(0, messages, AT_ONCE):
            insert_rows(said[start : start + AT_ONCE])
        insert_rows([Turn(id=uuid7(), conversation=made, seq=1, message=said[0])])
    return made


def take_stock() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("analyze conversations_message")


def numbered(sql: str) -> str:
    first, *rest = sql.split("%s")
    return "".join([first, *(f"${number}{part}" for number, part in enumerate(rest, 1))])


def execute(cursor: Any, tenant: Tenant, conversation: Conversation) -> dict[str, Any]:
    """The plan of the query for the conversation's first turn, as executed."""
    values = turn_context.TURN.text.values(tenant.organization.pk, conversation.pk, 1)
    arguments = ", ".join(f"'{value.decode()}'" for value in values if value is not None)
    cursor.execute(f"explain (analyze, format json) execute found_by_keys ({arguments})")
    return plan_of(cursor)


def plan_of(cursor: Any) -> dict[str, Any]:
    [(found,)] = cursor.fetchall()
    return (found if isinstance(found, list) else json.loads(found))[0]["Plan"]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def rows_read(node: dict[str, Any]) -> float:
    removed = sum(value for name, value in node.items() if name.startswith("Rows Removed"))
    return (node["Actual Rows"] + removed) * node["Actual Loops"]
