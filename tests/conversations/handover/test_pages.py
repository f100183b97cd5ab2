"""The inbox, the operator's view of a conversation, requests and tickets as pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.handover import operators
from conversations.handover.assignment import assign
from conversations.inbox import closing, tags
from conversations.models import Channel, Conversation, Persona
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
    page = browser(turns.tenant.owner).get(url(turns, "inbox"))
    rows = page.context["rows"]
    assert [row.id for row in rows] == [turns.conversation.pk, unsure.pk]
    assert [[reason.words for reason in row.reasons] for row in rows] == [["Asked for a person"], ["Did it happen?"]]
    assert page.context["tabs"] == {"waiting": "2", "mine": "0", "all": "3", "tickets": "0"}


def test_the_sidebar_and_the_tab_show_one_count(turns: Turns) -> None:
    """On every page."""
    talk(turns.tenant, "Hi", flag="look", guest="one")
    talk(turns.tenant, "Hi", flag="look", guest="two")
    owner = browser(turns.tenant.owner)
    for page in ("inbox", "dashboard", "todos"):
        assert owner.get(url(turns, page)).context["badges"]["inbox"].waiting == 2
    assert owner.get(url(turns, "inbox")).context["tabs"]["waiting"] == "2"


def test_conversations_that_the_agent_answers_follow_the_waiting_ones(turns: Turns) -> None:
    flagged = talk(turns.tenant, "Hi", flag="look", guest="flagged")
    answered = talk(turns.tenant, "Thank you!", guest="content")
    context = browser(turns.tenant.owner).get(url(turns, "inbox")).context
    assert [row.id for row in context["rows"]] == [flagged.pk]
    assert {row.id for row in context["answered"]} == {answered.pk, turns.conversation.pk}


def test_a_snoozed_conversation_is_not_listed_before_its_time(turns: Turns, lucia: User) -> None:
    row = talk(turns.tenant, "Hi", guest="snoozed")
    with turns.tenant.tx():
        closing.snooze(row.pk, timezone.now() + timedelta(hours=3), by=lucia)
    context = browser(lucia).get(url(turns, "inbox")).context
    assert row.pk not in {one.id for one in (*context["rows"], *context["answered"])}


def test_a_row_shows_the_customers_last_words_and_no_notes(turns: Turns) -> None:
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    (row,) = browser(turns.tenant.owner).get(url(turns, "inbox")).context["rows"]
    assert (row.speaker, row.text) == ("", "I would like to talk to a person.")


def test_a_shopper_who_signed_in_has_her_name(turns: Turns) -> None:
    """In the list and above the conversation."""
    row = talk(turns.tenant, "Hi", guest="shopper")
    with turns.tenant.tx():
        Conversation.objects.filter(pk=row.pk).update(shopper={"wp_user_id": 7, "name": "Ada Byron", "email": ""})
    page = browser(turns.tenant.owner)
    assert "Ada Byron" in [one.name for one in page.get(url(turns, "inbox"), {"view": "all"}).context["rows"]]
    assert page.get(url(turns, "conversation", row.pk)).context["conversation"]["name"] == "Ada Byron"


def test_mine_lists_the_conversations_i_have_taken_over(turns: Turns, lucia: User) -> None:
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=lucia)
    for user, expected in ((lucia, [turns.conversation.pk]), (turns.tenant.owner, [])):
        rows = browser(user).get(url(turns, "inbox"), {"view": "mine"}).context["rows"]
        assert [row.id for row in rows] == expected


@pytest.mark.requirement("W03")
def test_the_operators_bar_works_without_javascript(turns: Turns, lucia: User) -> None:
    """The forms do what the keys do."""
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    page.post(one, {"do": "take-over"})
    assert "You’re talking to" in page.get(one).content.decode()
    assert "is talking to" in browser(turns.tenant.owner).get(one).content.decode()
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
def test_requests_for_a_person_are_a_filter_of_the_inbox(turns: Turns, lucia: User) -> None:
    """They are claimed and resolved on the conversation's page."""
    ask(turns, offer(turns)["escalation"], name="Jonas", phone="+393471234567")
    talk(turns.tenant, "Hi", flag="look", guest="other")
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    (row,) = page.get(url(turns, "inbox"), {"request": "open"}).context["rows"]
    assert row.name == "Jonas"
    assert "+393471234567" in page.get(one).content.decode()
    page.post(one, {"do": "claim"})
    (row,) = page.get(url(turns, "inbox"), {"request": "open"}).context["rows"]
    assert row.operator == "Lucia Marchetti"
    page.post(one, {"do": "resolve"})
    with turns.tenant.tx():
        assert Escalation.objects.get().state == EscalationState.RESOLVED
    (row,) = page.get(url(turns, "inbox"), {"request": "resolved"}).context["rows"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("conversations", "inbox?view=all"),
        ("conversations?view=waiting", "inbox?"),
        ("conversations?view=mine", "inbox?view=mine"),
        ("conversations?q=table&channel=chat", "inbox?view=all&q=table&channel=chat"),
        ("escalations", "inbox?request=open"),
        ("escalations?state=resolved", "inbox?request=resolved"),
        ("tickets", "inbox?view=tickets"),
        ("tickets?state=closed", "inbox?view=tickets&state=closed"),
    ],
)
def test_old_addresses_lead_to_the_filters_of_the_inbox(turns: Turns, old: str, new: str) -> None:
    base = url(turns, "inbox").removesuffix("inbox")
    moved = browser(turns.tenant.owner).get(base + old)
    path, _, query = moved.headers["Location"].partition("?")
    assert (moved.status_code, path) == (302, base + "inbox")
    wanted = {pair for pair in new.partition("?")[2].split("&") if pair}
    assert {pair for pair in query.split("&") if not pair.endswith("=")} == wanted


def test_an_old_address_of_a_conversation_leads_to_it(turns: Turns) -> None:
    one = url(turns, "conversation", turns.conversation.pk)
    assert browser(turns.tenant.owner).get(one.replace("/inbox/", "/conversations/")).headers["Location"] == one


@pytest.mark.parametrize("do", ["close", "snooze", "assign", "tag"])
def test_the_inboxs_actions_work_without_javascript(turns: Turns, lucia: User, do: str) -> None:
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    until = (timezone.now() + timedelta(hours=3)).isoformat()
    page.post(one, {"do": do, "until": until, "assignee": lucia.email, "instead_of": "", "new": "VIP"})
    state = page.get(one).context["inbox"]
    changed = {"close": state["closed"], "snooze": state["snoozed"], "assign": state["assignee"], "tag": state["tags"]}
    assert [name for name, value in changed.items() if value] == [do]
    assert page.get(one).context["activity"][0].words.startswith("Lucia Marchetti")


def test_a_stale_page_is_told_what_a_colleague_did(turns: Turns, lucia: User) -> None:
    """And changes nothing."""
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    owner = turns.tenant.owner
    browser(owner).post(one, {"do": "assign", "assignee": owner.email, "instead_of": ""})
    stale = page.post(one, {"do": "assign", "assignee": lucia.email, "instead_of": ""}, follow=True)
    assert f"assigned to {owner.name}" in stale.content.decode()
    with turns.tenant.tx():
        assert Conversation.objects.get(pk=turns.conversation.pk).assignee_id == owner.pk
        post_message(turns.conversation.pk, "Wait!")
    page.post(one, {"do": "close", "seen": "0"})
    assert page.get(one).context["inbox"]["closed"] is None


def test_tags_that_another_added_stay_when_a_form_is_applied(turns: Turns, lucia: User) -> None:
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    with turns.tenant.tx():
        vip = tags.make_tag(turns.tenant.project, "VIP")
        tags.change_tags(turns.conversation.pk, add=[vip], remove=[], by=lucia)
    page.post(one, {"do": "tag", "new": "Wedding", "color": "warn"})
    shown = page.get(one).context["inbox"]["tags"]
    assert [(tag.name, tag.color) for tag in shown] == [("VIP", "mute"), ("Wedding", "warn")]


@pytest.mark.parametrize(
    "query",
    [{"assignee": "none"}, {"channel": "api"}, {"state": "snoozed"}, {"state": "closed"}, {"test": "1"}, {"tag": "x"}],
)
def test_filters_find_the_conversation_that_they_name(turns: Turns, lucia: User, query: dict[str, str]) -> None:
    row = talk(turns.tenant, "Hi", guest="wanted", channel=Channel.API)
    with turns.tenant.tx():
        for other in Conversation.objects.all():
            assign(other.pk, None if other.pk == row.pk else lucia, by=lucia)
        tag = tags.make_tag(turns.tenant.project, "VIP")
        tags.change_tags(row.pk, add=[tag], remove=[], by=lucia)
        if query.get("state") == "closed":
            closing.close(row.pk, by=lucia)
        if query.get("state") == "snoozed":
            closing.snooze(row.pk, timezone.now() + timedelta(hours=3), by=lucia)
        Conversation.objects.exclude(channel=Channel.API).update(channel=Channel.SMS)
        Conversation.objects.filter(pk=row.pk).update(metadata={"playground": True})
    wanted = {"tag": str(tag.pk)} if "tag" in query else query
    rows = browser(lucia).get(url(turns, "inbox"), {"view": "all", **wanted}).context["rows"]
    assert [one.id for one in rows] == [row.pk]


def test_a_language_is_named_in_the_readers(turns: Turns, lucia: User) -> None:
    row = talk(turns.tenant, "Hi", guest="english", language="en")
    page = browser(lucia).get(url(turns, "conversation", row.pk), headers={"Accept-Language": "fr"})
    assert page.context["translation"].customer == "anglais"
    assert [fact.value for fact in page.context["facts"]] == ["Anglais"]


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
    response = browser(viewer).get(one)
    page = response.content.decode()
    assert [row.id for row in response.context["ticket_rows"]] == [response.context["opened"]] == [ticket.pk]
    assert "&lt;b&gt;Twice" in page
    assert "Status: Open → Pending" in page
    assert url(turns, "conversation", turns.conversation.pk) in page
    assert browser(viewer).post(one, {"state": "closed"}).status_code == 403


SHOWN = {"shown_state": "open", "shown_priority": "normal", "shown_assignee": ""}


@pytest.mark.parametrize(
    ("posted", "ends_as"),
    [
        ({"state": "open", "priority": "high", "assignee": ""}, ("closed", "high")),
        ({"state": "pending", "priority": "high", "assignee": ""}, ("closed", "normal")),
        ({"state": "closed", "priority": "high", "assignee": ""}, ("closed", "high")),
    ],
    ids=["another field", "the same field", "the same value"],
)
def test_a_stale_ticket_page_undoes_no_colleagues_change(
    turns: Turns, lucia: User, posted: dict[str, str], ends_as: tuple[str, str]
) -> None:
    with turns.tenant.tx():
        ticket = open_ticket(turns.tenant.project.pk, subject="A fault", body="The lamp is broken.")
        change_ticket(ticket.pk, {"state": "closed"}, by=None, actor="Paolo")
    browser(lucia).post(url(turns, "ticket", ticket.pk), {**posted, **SHOWN})
    with turns.tenant.tx():
        ticket.refresh_from_db()
    assert (ticket.state, ticket.priority) == ends_as


def test_a_refused_answer_to_a_ticket_stays_in_its_field(turns: Turns, lucia: User) -> None:
    """A colleague has the conversation."""
    answer = {"do": "answer", "key": str(uuid4()), "channel": "conversation", "content": "We looked:\r\n<b>twice</b>."}
    with turns.tenant.tx():
        ticket = open_ticket(
            turns.tenant.project.pk, subject="A fault", body="It broke.", conversation_id=turns.conversation.pk
        )
        operators.take_over(turns.conversation.pk, by=turns.tenant.owner)
    page = browser(lucia)
    refused = page.post(url(turns, "ticket", ticket.pk), answer)
    assert refused.status_code == 422
    assert ">We looked:\r\n&lt;b&gt;twice&lt;/b&gt;.</textarea>" in refused.content.decode()
    with turns.tenant.tx():
        assert not ticket.answers.exists()
        operators.hand_back(turns.conversation.pk, by=turns.tenant.owner)
        operators.take_over(turns.conversation.pk, by=lucia)
    sent = page.post(url(turns, "ticket", ticket.pk), {**answer, "key": str(refused.context["answer_key"])})
    assert sent.status_code == 302
    with turns.tenant.tx():
        assert ticket.answers.count() == 1


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
    assert "<summary>Description changed</summary>" in page
    assert "<ins>Once by &lt;b&gt;.</ins>" in page
    assert page.count(subject.strip()) == 3


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
        ({"subject": "  "}, "Subject is required."),
        ({"body": ""}, "Description is required."),
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
    assert page.count(" autofocus") == (name != "priority")
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
    assert url(turns, "new_ticket") not in page.get(url(turns, "inbox"), {"view": "tickets"}).content.decode()


@pytest.mark.requirement("F19")
def test_a_callers_flag_is_shown_and_can_be_removed(turns: Turns, lucia: User) -> None:
    with turns.tenant.tx():
        Persona.objects.update(flagged=True, flag_reason="Threatened the waiter.")
    page, one = browser(lucia), url(turns, "conversation", turns.conversation.pk)
    assert "Threatened the waiter." in page.get(one).content.decode()
    page.post(one, {"do": "unflag-caller"})
    assert "Threatened the waiter." not in page.get(one).content.decode()


@pytest.mark.parametrize("view", ["waiting", "tickets", "all"])
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("page=x", 200),
        ("page=-1", 200),
        ("assignee=x", 400),
        ("state=lost", 400),
        ("state=%00", 400),
        ("request=x", 400),
    ],
)
def test_an_invalid_place_shows_the_default_list_and_an_unknown_filter_is_refused(
    tenant: Tenant, view: str, query: str, status: int
) -> None:
    address, query = reverse("inbox", args=[tenant.project.slug]), f"view={view}&{query}"
    assert browser(tenant.owner).get(f"{address}?{query}").status_code == status
