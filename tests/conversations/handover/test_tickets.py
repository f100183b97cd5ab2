"""Tickets: numbers, changes, the API."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client

from projects.accounts.members import remove_member
from projects.agents.services import create_project
from projects.models import Member, Role, User
from projects.models.agent_config import AgentConfig
from projects.records.audit import Actor
from tests.concurrent import is_anybody_waiting
from tests.conftest import Tenant
from tests.conversations.threads import in_thread, until_waiting
from tests.processes import until
from tools.models import Effect, Ticket, TicketChange
from tools.services.support.tickets import change_ticket, find_assignee, open_ticket

JSON = {"content_type": "application/json"}
TICKETS = "/api/v1/tickets"


def test_concurrent_tickets_are_numbered_without_gaps(tenant: Tenant) -> None:
    """Also if a transaction rolls back."""

    def open_one(place: int) -> None:
        with tenant.tx():
            open_ticket(tenant.project.pk, subject=str(place), body="x")
            if place % 3 == 0:
                raise RuntimeError

    with ThreadPoolExecutor(4) as pool:
        works = [in_thread(pool, lambda place=place: open_one(place)) for place in range(12)]
        assert sum(work.exception() is not None for work in works) == 4
    with tenant.tx():
        assert sorted(Ticket.objects.values_list("number", flat=True)) == list(range(1, 9))


@pytest.mark.requirement("W06")
def test_an_effect_opens_one_ticket_and_each_project_has_its_own_numbers(tenant: Tenant) -> None:
    """A retry after a crash opens no second ticket."""
    with tenant.tx():
        second = create_project("Second", config=AgentConfig.model_validate(tenant.project.agent_version.document))
        effect = Effect.objects.create(
            project_id=tenant.project.pk,
            effect_key="k",
            tool="open_ticket",
            kind="ticket",
            delivery="idempotent",
            definition={},
        )
        opened = [
            open_ticket(tenant.project.pk, subject="Fault", body="It broke.", effect_id=effect.pk) for _ in range(2)
        ]
        other = open_ticket(second.pk, subject="Fault", body="It broke.")
        assert Ticket.objects.filter(project=tenant.project).count() == 1
    assert opened[0].pk == opened[1].pk
    assert (opened[0].number, other.number) == (1, 1)


def test_a_change_records_the_old_value_and_its_author(tenant: Tenant, api: Client, operator: User) -> None:
    made = api.post(TICKETS, {"subject": "Charged twice", "body": "40 €", "priority": "high"}, **JSON)
    assert (made.status_code, made.json()["number"], made.json()["state"]) == (201, 1, "open")
    url = f"{TICKETS}/{made.json()['id']}"
    changed = api.patch(url, {"state": "closed", "assignee": operator.email.upper(), "priority": "high"}, **JSON).json()
    assert (changed["state"], changed["assignee"]["email"]) == ("closed", operator.email)
    assert changed["closed_at"] is not None
    assert changed["history"][-1] | {"at": None} == {
        "by": "the key test",
        "before": {"state": "open", "assignee": ""},
        "after": {"state": "closed", "assignee": operator.name},
        "at": None,
    }
    assert api.patch(url, {"state": "closed"}, **JSON).json()["history"] == changed["history"]
    with tenant.tx():
        assert TicketChange.objects.count() == 2


def test_a_reopened_ticket_has_no_closing_time(api: Client) -> None:
    url = f"{TICKETS}/{api.post(TICKETS, {'subject': 'x', 'body': 'y'}, **JSON).json()['id']}"
    closed, opened = (api.patch(url, {"state": state}, **JSON).json() for state in ("closed", "open"))
    assert (closed["closed_at"] is None, opened["closed_at"]) == (False, None)


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"subject": "x" * 121, "body": "y"}, "subject", "121 characters; the limit is 120"),
        ({"subject": " ", "body": "y"}, "subject", "empty"),
        ({"subject": "x", "body": "y", "priority": "now"}, "priority", "one of: low, normal, high, urgent"),
        ({"subject": "x", "body": "y", "number": 7}, "number", "Unknown field"),
        (
            {"subject": "x", "body": "y", "persona": "0198c0de-0000-7000-8000-000000000000"},
            "persona",
            "no such customer",
        ),
    ],
)
def test_an_invalid_ticket_is_refused(api: Client, body: dict[str, object], field: str, words: str) -> None:
    answer = api.post(TICKETS, body, **JSON)
    error = answer.json()["error"]
    assert (answer.status_code, error["field"]) == (422 if field == "persona" else 400, field)
    assert words in error["message"]


def test_a_ticket_is_only_assigned_to_members_who_may_operate(api: Client, viewer: User) -> None:
    made = api.post(TICKETS, {"subject": "x", "body": "y"}, **JSON).json()
    refused = api.patch(f"{TICKETS}/{made['id']}", {"assignee": viewer.email}, **JSON)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_assignee")


def test_the_list_is_filtered_and_limited_to_the_tenant(api: Client, stranger: Tenant) -> None:
    other = Client(headers=stranger.headers)
    theirs = other.post(TICKETS, {"subject": "theirs", "body": "y"}, **JSON).json()
    api.post(TICKETS, {"subject": "one", "body": "y"}, **JSON)
    api.post(TICKETS, {"subject": "two", "body": "y", "priority": "urgent"}, **JSON)
    found = api.get(f"{TICKETS}?priority=urgent&state=open").json()["results"]
    assert [(row["number"], row["subject"]) for row in found] == [(2, "two")]
    assert api.get(f"{TICKETS}?state=gone").status_code == 400
    assert api.get(f"{TICKETS}/{theirs['id']}").status_code == 404
    assert api.patch(f"{TICKETS}/{theirs['id']}", {"state": "closed"}, **JSON).status_code == 404


def test_a_member_who_leaves_during_an_assignment_keeps_no_ticket(tenant: Tenant, operator: User) -> None:
    with tenant.tx():
        ticket = open_ticket(tenant.project.pk, subject="Charged twice", body="40 €")
        member = Member.objects.get(user=operator)

    def leave() -> None:
        with tenant.tx():
            remove_member(member, by=Actor(tenant.owner, Role.OWNER))

    with ThreadPoolExecutor(1) as pool:
        with tenant.tx():
            change_ticket(ticket.pk, {"assignee": find_assignee(operator.email)}, by=None, actor="a key")
            left = in_thread(pool, leave)
            until(lambda: left.done() or is_anybody_waiting(), what="the other's end, or their waiting")
        left.result()
    with tenant.tx():
        assert Ticket.objects.get().assignee is None


def test_a_change_that_waited_for_another_sees_its_result(tenant: Tenant, operator: User) -> None:
    """Unassigning removes the assignee that was set just before."""
    with tenant.tx():
        ticket = open_ticket(tenant.project.pk, subject="Charged twice", body="40 €")

    def give(assignee: User | None) -> None:
        with tenant.tx():
            change_ticket(ticket.pk, {"assignee": assignee}, by=None, actor="a key")

    give(tenant.owner)
    with ThreadPoolExecutor(1) as pool:
        with tenant.tx():
            change_ticket(ticket.pk, {"assignee": operator}, by=None, actor="a key")
            taken = in_thread(pool, lambda: give(None))
            until_waiting()
        taken.result()
    with tenant.tx():
        assert Ticket.objects.get().assignee is None
        assert TicketChange.objects.last().before == {"assignee": operator.name}
