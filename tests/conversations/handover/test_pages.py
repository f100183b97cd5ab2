"""The inbox, the operator's view of a conversation, requests and tickets as pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conversations.handover import operators
from conversations.models import Conversation, Persona
from conversations.turns.services import post_message
from projects.models import User
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, browser, talk
from tests.conversations.handover.conftest import offer
from tests.conversations.handover.test_requests import ask
from tests.conversations.tool_runs.turns import Turns
from tools.models import EffectState, Escalation, EscalationState, Ticket
from tools.services.support.tickets import change_ticket, open_ticket


def url(turns: Turns, page: str, *args: Any) -> str:
    return reverse(page, args=[turns.tenant.project.slug, *args])


@pytest.mark.requirement("W03")
def test_the_inbox_lists_requests_first_and_gives_every_reason(turns: Turns) -> None:
    """Unknown outcomes come next; nothing else is listed."""
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    unsure = talk(turns.tenant, "Did it come?", guest="unsure")
    add_effect(turns.tenant, unsure, state=EffectState.UNKNOWN)
    talk(turns.tenant, "Thank you!", guest="content")
    page = browser(turns.tenant.owner).get(url(turns, "conversations"), {"view": "waiting"})
    rows = page.context["rows"]
    assert [row.id for row in rows] == [turns.conversation.pk, unsure.pk]
    assert [[reason.words for reason in row.reasons] for row in rows] == [["Asked for a person"], ["Did it happen?"]]
    assert page.context["numbers"] == {"waiting": 2, "mine": 0}


def test_a_conversation_list_shows_messages_but_no_notes(turns: Turns) -> None:
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    (row,) = browser(turns.tenant.owner).get(url(turns, "conversations")).context["rows"]
    assert (row.speaker, row.pieces[0].text) == ("Agent", "There is a button below.")


def test_mine_lists_the_conversations_i_have_taken_over(turns: Turns, lucia: User) -> None:
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=lucia)
    for user, expected in ((lucia, [turns.conversation.pk]), (turns.tenant.owner, [])):
        rows = browser(user).get(url(turns, "conversations"), {"view": "mine"}).context["rows"]
        assert [row.id for row in rows] == expected


@pytest.mark.requirement("W03")
def test_the_operators_bar_works_without_javascript(turns: Turns, lucia: User) -> None:
    """The forms do what the keys do."""
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    page.post(one, {"do": "take-over"})
    assert "You are speaking with" in page.get(one).content.decode()
    assert "is speaking with" in browser(turns.tenant.owner).get(one).content.decode()
    with turns.tenant.tx():
        post_message(turns.conversation.pk, "Hello?")
    page.post(one, {"do": "hand-back"})
    with turns.tenant.tx():
        assert Conversation.objects.get(pk=turns.conversation.pk).operator_id is None
    assert page.post(one, {"do": "nothing"}).status_code == 404


def test_messages_that_arrive_meanwhile_are_on_the_operators_page(turns: Turns, lucia: User, api: Client) -> None:
    """The agent would have told it."""
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=lucia)
    events = f"/api/v1/conversations/{turns.conversation.pk}/events"
    told = {"idn": "urgent_message", "payload": {"text": "The courier is <late>."}}
    assert api.post(events, told, content_type="application/json").json()["turn"] is None
    page = browser(lucia).get(url(turns, "conversation", turns.conversation.pk)).content.decode()
    assert "The courier is &lt;late&gt;." in page


@pytest.mark.requirement("W03")
def test_requests_are_claimed_and_resolved_from_the_list(turns: Turns, lucia: User) -> None:
    """Claiming opens the conversation."""
    ask(turns, offer(turns)["escalation"], name="Jonas", phone="+393471234567")
    page = browser(lucia)
    (row,) = page.get(url(turns, "escalations")).context["rows"]
    assert (row.customer, row.lead["phone"]) == ("Jonas", "+393471234567")
    claimed = page.post(url(turns, "escalation", row.id), {"do": "claim"})
    assert claimed.headers["Location"] == url(turns, "conversation", turns.conversation.pk)
    (row,) = page.get(url(turns, "escalations"), {"state": "claimed"}).context["rows"]
    assert row.colleague == "Lucia Marchetti"
    page.post(url(turns, "escalation", row.id), {"do": "resolve"})
    with turns.tenant.tx():
        assert Escalation.objects.get().state == EscalationState.RESOLVED


def test_a_ticket_is_changed_on_its_page(turns: Turns, lucia: User, viewer: User) -> None:
    """State, priority, assignee; a viewer can only look."""
    with turns.tenant.tx():
        ticket = open_ticket(
            turns.tenant.project.pk, subject="<b>Twice</b>", body="40 €", conversation_id=turns.conversation.pk
        )
    one = url(turns, "ticket", ticket.pk)
    browser(lucia).post(one, {"state": "pending", "priority": "high", "assignee": lucia.email})
    with turns.tenant.tx():
        ticket = Ticket.objects.get()
    assert (ticket.state, ticket.priority, ticket.assignee_id) == ("pending", "high", lucia.pk)
    page = browser(viewer).get(one).content.decode()
    assert "&lt;b&gt;Twice" in page
    assert "State: Open → Pending" in page
    assert url(turns, "conversation", turns.conversation.pk) in page
    assert browser(viewer).post(one, {"state": "closed"}).status_code == 403


def test_an_edited_text_is_one_line_of_the_history(turns: Turns, lucia: User, viewer: User) -> None:
    """The full differences are inside the line, and the page shows the whole subject."""
    subject, body = "Charged twice " * 8, "The card was charged twice. " * 40
    with turns.tenant.tx():
        ticket = open_ticket(turns.tenant.project.pk, subject=subject, body=body)
        change_ticket(ticket.pk, {"body": f"{body}Once by <b>."}, by=lucia, actor=lucia.name)
    response = browser(viewer).get(url(turns, "ticket", ticket.pk))
    [change, _] = response.context["history"]
    page = response.content.decode()
    assert change.words == []
    assert "<summary>Text changed</summary>" in page
    assert "<ins>Once by &lt;b&gt;.</ins>" in page
    assert page.count(subject.strip()) == 2


def test_staff_opens_a_ticket_about_a_conversation(turns: Turns, lucia: User) -> None:
    """Linked to it and to its customer, with a first line of history."""
    page, form = browser(lucia), url(turns, "new_ticket")
    one = url(turns, "conversation", turns.conversation.pk)
    assert f"{form}?conversation={turns.conversation.pk}" in page.get(one).content.decode()
    written = {"subject": "Charged twice", "body": "First line\r\nsecond", "priority": "high"}
    opened = page.post(form, {**written, "conversation": str(turns.conversation.pk)})
    with turns.tenant.tx():
        ticket = Ticket.objects.get()
        [change] = ticket.changes.all()
    assert opened.headers["Location"] == url(turns, "ticket", ticket.pk)
    assert (ticket.subject, ticket.body, ticket.priority) == ("Charged twice", "First line\nsecond", "high")
    assert (ticket.conversation_id, ticket.persona_id) == (turns.conversation.pk, turns.conversation.persona_id)
    assert change.actor == lucia.name
    assert "#1 Charged twice" in page.get(one).content.decode()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"subject": "x" * 121}, "Subject has 121 characters; the limit is 120."),
        ({"subject": "  "}, "Subject is empty."),
        ({"body": ""}, "Text is empty."),
        ({"priority": "now"}, "Priority must be one of: low, normal, high, urgent."),
    ],
)
def test_an_invalid_ticket_is_reported_beside_its_field(
    turns: Turns, lucia: User, changes: dict[str, str], sentence: str
) -> None:
    """The input stays, and no ticket is opened."""
    typed = {"subject": "Charged twice", "body": "40 €", "priority": "low", **changes}
    refused = browser(lucia).post(url(turns, "new_ticket"), typed)
    page = refused.content.decode()
    assert refused.status_code == 422
    assert sentence in page
    [name] = changes
    assert f'aria-describedby="{name}-error"' in page
    assert "40 €" in page or name == "body"
    with turns.tenant.tx():
        assert not Ticket.objects.exists()


def test_no_ticket_is_opened_about_another_tenants_conversation(turns: Turns, lucia: User, stranger: Tenant) -> None:
    theirs = talk(stranger, "Hello")
    for asked in (str(theirs.pk), "7", str(turns.tenant.project.pk)):
        typed = {"subject": "x", "body": "y", "priority": "low", "conversation": asked}
        assert browser(lucia).post(url(turns, "new_ticket"), typed).status_code == 404


def test_a_viewer_cannot_open_a_ticket(turns: Turns, viewer: User) -> None:
    page = browser(viewer)
    assert page.get(url(turns, "new_ticket")).status_code == 403
    assert url(turns, "new_ticket") not in page.get(url(turns, "tickets")).content.decode()


@pytest.mark.requirement("F19")
def test_a_callers_flag_is_shown_and_can_be_removed(turns: Turns, lucia: User) -> None:
    with turns.tenant.tx():
        Persona.objects.update(flagged=True, flag_reason="Threatened the waiter.")
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    assert "Threatened the waiter." in page.get(one).content.decode()
    page.post(one, {"do": "unflag"})
    assert "Threatened the waiter." not in page.get(one).content.decode()


@pytest.mark.parametrize("page", ["escalations", "tickets"])
@pytest.mark.parametrize("query", ["state=lost", "state=%00", "page=x", "page=-1"])
def test_invalid_query_parameters_show_the_default_list(tenant: Tenant, page: str, query: str) -> None:
    address = reverse(page, args=[tenant.project.slug])
    assert browser(tenant.owner).get(f"{address}?{query}").status_code == 200
