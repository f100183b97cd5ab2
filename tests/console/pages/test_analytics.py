"""Analytics: the figures, the lists behind them, and the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.analytics.breakdown import Breakdown, Row, break_down
from conversations.analytics.definitions import DEFINITIONS
from conversations.analytics.outcomes import Slice
from conversations.analytics.period import last_days
from conversations.models import (
    Channel,
    Conversation,
    ConversationStatus,
    Directives,
    Event,
    Message,
    MessageRole,
    Turn,
    TurnCall,
    TurnStep,
)
from jobs.models import ModelCall
from projects.knowledge.answers import NOTHING
from tests.api.documented import DocumentedClient
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, playground, talk
from tools.models import Escalation, EscalationState, PromiseState

ZONE = "Europe/Rome"


def figures_of(tenant: Tenant, *, days: int = 7) -> Breakdown:
    with tenant.tx():
        return break_down(tenant.project, last_days(timezone.now(), days=days, timezone=ZONE))


def counts(row: Row) -> tuple[int, int, int, int]:
    return row.conversations, row.resolved, row.handed_over, row.unanswered


def end(tenant: Tenant, row: Conversation, **fields: Any) -> Conversation:
    with tenant.tx():
        Conversation.objects.filter(pk=row.pk).update(**{"status": ConversationStatus.ENDED} | fields)
    return row


def search_in_vain(tenant: Tenant, row: Conversation) -> None:
    with tenant.tx():
        turn = Turn.objects.filter(conversation=row).latest("seq")
        step = TurnStep.objects.create(turn=turn, number=1)
        TurnCall.objects.create(
            step=step,
            index=0,
            call_id="1",
            name="search_knowledge",
            arguments={"query": "Do you sell gift cards?"},
            result=NOTHING,
        )


def ask_for_a_person(tenant: Tenant, row: Conversation) -> None:
    with tenant.tx():
        Escalation.objects.create(
            project=tenant.project,
            conversation_id=row.pk,
            reason="angry",
            state=EscalationState.WAITING,
            requested_at=timezone.now(),
        )


def set_topic(tenant: Tenant, row: Conversation, scenario: str) -> None:
    with tenant.tx():
        turn = Turn.objects.filter(conversation=row).latest("seq")
        found = Directives.objects.create(conversation=row, turn=turn, version=1, document={"scenario": scenario})
        Conversation.objects.filter(pk=row.pk).update(directives=found)


def test_a_conversation_is_resolved_when_it_is_over_without_a_person(tenant: Tenant) -> None:
    end(tenant, talk(tenant, "Thanks, bye"))
    assert counts(figures_of(tenant).total) == (1, 1, 0, 0)


def test_a_conversation_that_goes_on_is_not_resolved(tenant: Tenant) -> None:
    talk(tenant, "Hi")
    assert counts(figures_of(tenant).total) == (1, 0, 0, 0)


def test_a_conversation_is_over_after_a_day_of_silence(tenant: Tenant) -> None:
    talk(tenant, "Hi", at=timezone.now() - timedelta(hours=25))
    assert figures_of(tenant).total.resolved == 1


def test_a_flagged_conversation_is_not_resolved(tenant: Tenant) -> None:
    end(tenant, talk(tenant, "Hi", flag="asked for a person"))
    assert figures_of(tenant).total.resolved == 0


@pytest.mark.parametrize("how", ["asked", "written", "taken over", "transferred"])
def test_a_conversation_with_a_person_is_handed_over(how: str, tenant: Tenant) -> None:
    row = end(tenant, talk(tenant, "A person, now"))
    if how == "asked":
        ask_for_a_person(tenant, row)
    elif how == "written":
        with tenant.tx():
            Message.objects.create(conversation=row, seq=2, role=MessageRole.OPERATOR, content="Hello")
    else:
        fields = {"operator": tenant.owner} if how == "taken over" else {"status": ConversationStatus.TRANSFERRED}
        end(tenant, row, **fields)
    assert counts(figures_of(tenant).total) == (1, 0, 1, 0)


def test_an_offer_of_a_person_is_no_handover(tenant: Tenant) -> None:
    row = end(tenant, talk(tenant, "Hi"))
    with tenant.tx():
        Escalation.objects.create(project=tenant.project, conversation_id=row.pk, reason="angry")
    assert figures_of(tenant).total.handed_over == 0


def test_a_search_without_a_result_is_an_unanswered_question(tenant: Tenant) -> None:
    search_in_vain(tenant, end(tenant, talk(tenant, "Gift cards?")))
    assert counts(figures_of(tenant).total) == (1, 0, 0, 1)


def test_a_search_without_a_result_during_a_call_is_an_unanswered_question(tenant: Tenant) -> None:
    row = end(tenant, talk(tenant, "Gift cards?", channel=Channel.PHONE))
    with tenant.tx():
        Event.objects.create(conversation=row, seq=1, idn="live_tool_result", payload={"result": NOTHING})
    assert counts(figures_of(tenant).total) == (1, 0, 0, 1)


def test_figures_are_by_channel_and_by_the_hour_in_the_business_time_zone(tenant: Tenant) -> None:
    """23:30 in London is half past midnight in Rome."""
    at = datetime.combine(timezone.now().date() - timedelta(days=2), datetime.min.time(), UTC).replace(
        hour=23, minute=30
    )
    talk(tenant, "Hi", at=at, channel=Channel.SMS)
    talk(tenant, "Hi", at=at - timedelta(hours=2))
    figures = figures_of(tenant)
    assert {row.key: row.conversations for row in figures.channels} == {"sms": 1, "chat": 1}
    started = [row.key for row in figures.hours if row.conversations]
    local = at.astimezone(last_days(at, days=1, timezone=ZONE).since.tzinfo).hour
    assert started == sorted([str(local), str((local - 2) % 24)], key=int)
    assert len(figures.hours) == 24


def test_the_topic_is_the_scenario_of_the_newest_directives(tenant: Tenant) -> None:
    for scenario in ("1, Book a table", "2. book a TABLE", "Book a table"):
        set_topic(tenant, talk(tenant, "Hi"), scenario)
    talk(tenant, "Hi")
    assert {row.key: row.conversations for row in figures_of(tenant).topics} == {"book a table": 3, "none": 1}


def test_tools_are_counted_by_what_they_did(tenant: Tenant) -> None:
    row = end(tenant, talk(tenant, "Text me"))
    add_effect(tenant, row)
    add_effect(tenant, row)
    add_promise(tenant, row, state=PromiseState.KEPT, tool="send_sms_tool")
    [tool] = figures_of(tenant).tools
    assert (tool.key, tool.actions, tool.conversations, tool.resolved) == ("send_sms_tool", 2, 1, 1)
    assert tool.promises["kept"] == 1


def test_promises_are_counted_by_outcome_and_the_repeated_one_once(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    effect = add_effect(tenant, row)
    for state in (PromiseState.KEPT, PromiseState.KEPT):
        add_promise(tenant, row, state=state, effect=effect)
    add_promise(tenant, row, state=PromiseState.BROKEN)
    add_promise(tenant, row, evidence="outbox", owner="staff")
    total = figures_of(tenant).total
    assert total.promises == {"kept": 1, "broken": 1, "not_sent": 1, "open": 0, "withdrawn": 0}
    assert total.kept_rate == 50


def spend(tenant: Tenant, cost: str, **fields: Any) -> None:
    with tenant.tx():
        ModelCall.objects.create(
            project=tenant.project,
            skill="reply",
            model="m",
            messages=[],
            started_at=timezone.now(),
            total_ms=1,
            cost=Decimal(cost),
            **fields,
        )


def test_cost_is_by_channel_and_what_belongs_to_no_conversation_is_in_the_total(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        turn = Turn.objects.get(conversation=row)
    spend(tenant, "0.25", turn_id=turn.pk)
    spend(tenant, "0.50")
    figures = figures_of(tenant)
    assert figures.total.cost == Decimal("0.75")
    assert [(row.key, row.cost) for row in figures.channels] == [("chat", Decimal("0.25"))]


def test_test_conversations_and_other_tenants_are_in_no_figure(tenant: Tenant, stranger: Tenant) -> None:
    row = end(tenant, playground(tenant, "Hi"))
    add_effect(tenant, row)
    add_promise(tenant, row, state=PromiseState.KEPT)
    spend(tenant, "0.25", subject_id=row.pk)
    end(stranger, talk(stranger, "Hi"))
    figures = figures_of(tenant)
    assert figures.total == Row()
    assert (figures.channels, figures.topics, figures.tools) == ([], [], [])


def test_the_home_page_and_the_analytics_count_alike(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    for state in (PromiseState.KEPT, PromiseState.BROKEN, PromiseState.BROKEN):
        add_promise(tenant, row, state=state)
    home = owner.get(reverse("dashboard", args=[tenant.project.slug])).context["stats"]
    page = owner.get(reverse("analytics", args=[tenant.project.slug]) + "?days=7").context
    assert home.kept_rate == page["kept_rate"] == "33.3"
    assert home.conversations == page["totals"]["conversations"].text == "1"


def test_each_figure_leads_to_its_list(owner: Client, tenant: Tenant) -> None:
    """As many rows as the figure says."""
    resolved, unanswered, handed = (talk(tenant, "Hi", guest=guest) for guest in ("a", "b", "c"))
    for row in (resolved, unanswered):
        end(tenant, row)
    search_in_vain(tenant, unanswered)
    ask_for_a_person(tenant, handed)
    set_topic(tenant, resolved, "1, Book a table")
    add_effect(tenant, resolved)
    add_promise(tenant, resolved, state=PromiseState.KEPT, tool="send_sms_tool")
    talk(tenant, "Long ago", at=timezone.now() - timedelta(days=60))
    page = owner.get(reverse("analytics", args=[tenant.project.slug])).context
    cells = [cell for table in page["tables"] for line in table.lines for cell in line.cells]
    linked = [cell for cell in [*cells, *page["totals"].values()] if cell.url]
    assert len(linked) > 10
    for cell in linked:
        listed = owner.get(cell.url).context
        rows = [row for day in listed["days"] for row in day.rows] if "/promises" in cell.url else listed["rows"]
        assert (cell.url, str(len(rows))) == (cell.url, cell.text)


def test_tools_of_one_title_are_told_apart_by_their_trigger(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    for tool in ("send_sms", "send_sms_tool", "open_ticket"):
        add_promise(tenant, row, state=PromiseState.KEPT, tool=tool)
    page = owner.get(reverse("analytics", args=[tenant.project.slug])).context
    [lines] = [table.lines for table in page["tables"] if table.id == "tool"]
    assert sorted((line.label, line.note) for line in lines) == [
        ("Open ticket", ""),
        ("Send SMS", "After a promise"),
        ("Send SMS", "During a reply"),
    ]


def test_money_is_in_the_readers_form(owner: Client, tenant: Tenant) -> None:
    spend(tenant, "1234.5")
    tenant.owner.language = "de"
    tenant.owner.save()
    url = reverse("analytics", args=[tenant.project.slug])
    assert owner.get(url).context["cost"] == "1.234,50\N{NO-BREAK SPACE}$"


def test_the_page_shows_what_the_agent_could_not_answer(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Gift cards?")
    search_in_vain(tenant, row)
    [question] = owner.get(reverse("analytics", args=[tenant.project.slug])).context["questions"]
    assert (question["words"], question["id"]) == ("Do you sell gift cards?", row.pk)


def test_a_cell_of_nothing_matches_everything(tenant: Tenant) -> None:
    row = playground(tenant, "Hi")
    with tenant.tx():
        assert list(Slice().narrow(Conversation.objects.all())) == [row]


# The API


def read(tenant: Tenant, query: str = "") -> Any:
    return DocumentedClient().get(f"/api/v1/analytics{query}", headers={"Authorization": f"Bearer {tenant.key}"})


def by(rows: list[Mapping[str, Any]], name: str) -> dict[Any, int]:
    return {row[name]: row["conversations"] for row in rows}


def test_the_api_has_the_same_figures(tenant: Tenant) -> None:
    row = end(tenant, talk(tenant, "Hi"))
    add_promise(tenant, row, state=PromiseState.KEPT, tool="send_sms_tool")
    answer = read(tenant).json()
    assert answer["total"]["resolved"] == 1
    assert answer["total"]["promises"]["kept_rate"] == 100
    assert by(answer["by_channel"], "channel") == {"chat": 1}
    assert by(answer["by_topic"], "topic") == {None: 1}
    assert sum(by(answer["by_hour"], "hour").values()) == 1
    assert answer["by_tool"][0]["promises"]["kept"] == 1


def test_the_api_counts_the_days_that_are_asked_for(tenant: Tenant) -> None:
    at = timezone.now() - timedelta(days=40)
    talk(tenant, "Hi", at=at)
    day = at.astimezone(UTC).date()
    assert read(tenant).json()["total"]["conversations"] == 0
    asked = f"?since={day - timedelta(days=1)}&until={day + timedelta(days=1)}"
    answer = read(tenant, asked).json()
    assert (answer["since"], answer["total"]["conversations"]) == ((day - timedelta(days=1)).isoformat(), 1)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?since=yesterday", 400),
        ("?until=2026-02-31", 400),
        ("?since=2026-02-02&until=2026-02-01", 422),
        ("?since=2024-01-01&until=2026-02-01", 422),
        ("?since=2999-01-01", 422),
        ("?until=0001-01-01", 422),
    ],
)
def test_the_api_refuses_invalid_ranges(query: str, status: int, tenant: Tenant) -> None:
    response = read(tenant, query)
    assert response.status_code == status
    assert response.json()["error"]["field"] in ("since", "until")


def test_the_document_states_each_definition(tenant: Tenant) -> None:
    document = json.dumps(Client().get("/api/v1/schema/?format=json").json(), ensure_ascii=False)
    for name in ("resolved", "handed_over", "unanswered", "cost", "promises_kept"):
        assert str(DEFINITIONS[name].sentence) in document
