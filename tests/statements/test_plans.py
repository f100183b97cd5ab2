"""Plans that a connection keeps for all tenants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection, connections

from conversations import scene
from conversations.models import Conversation, Message, Turn
from conversations.services import start_conversation
from projects.ids import uuid7
from projects.tenancy import tenant_tx
from projects.writes import insert_rows
from tests.conftest import Tenant

# So many that reading them all costs a plan far more than an index does, whatever state the tests before have left the table in.
PER_TENANT, AT_ONCE = 2_000, 500


def test_a_turn_of_a_large_tenant_is_found_by_keys_though_its_plan_was_made_for_an_empty_one(
    tenant: Tenant, stranger: Tenant
) -> None:
    """Walls and noisy neighbours: what a statement reads doesn't hang on who was first to run it."""
    conversation = fill(tenant)
    take_stock()
    with tenant_tx(stranger.organization.pk, plans_once=True), connection.cursor() as cursor:
        cursor.execute(f"prepare found_by_keys as {numbered(scene.TURN.text.sql)}")
        execute(cursor, tenant, conversation)
    with tenant_tx(tenant.organization.pk, plans_once=True), connection.cursor() as cursor:
        plan = execute(cursor, tenant, conversation)
        cursor.execute("deallocate found_by_keys")
    assert max(rows_read(node) for node in nodes(plan)) < 10


def fill(tenant: Tenant) -> Conversation:
    with tenant.tx():
        made = start_conversation(tenant.project, channel="chat", external_id="guest", known={}, metadata={})
        said = [
            Message(id=uuid7(), conversation=made, seq=number, role="user", author="customer", content="Hello?")
            for number in range(1, PER_TENANT + 1)
        ]
        for start in range(0, PER_TENANT, AT_ONCE):
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
    """The plan as it was run for that conversation's first turn."""
    values = scene.TURN.text.values(tenant.organization.pk, conversation.pk, 1)
    arguments = ", ".join(f"'{value.decode()}'" for value in values if value is not None)
    cursor.execute(f"explain (analyze, format json) execute found_by_keys ({arguments})")
    [(found,)] = cursor.fetchall()
    return (found if isinstance(found, list) else json.loads(found))[0]["Plan"]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def rows_read(node: dict[str, Any]) -> float:
    removed = sum(value for name, value in node.items() if name.startswith("Rows Removed"))
    return (node["Actual Rows"] + removed) * node["Actual Loops"]
