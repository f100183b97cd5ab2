"""The ledger of promises: its figures, its rows, and what a person may say of one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from console.promises.metrics import PromiseCounts, promise_metrics
from conversations.analytics.period import last_days
from conversations.models import Channel
from jobs.errors import WrongState
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, browser, playground, talk
from todos.models import Todo, TodoSource, TodoStatus
from tools.engine.promise_answers import mark_kept, withdraw_promise
from tools.models import EffectState, Promise, PromiseState

NOW = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)


def url_of(tenant: Tenant, **query: Any) -> str:
    address = reverse("promises", args=[tenant.project.slug])
    return address + ("?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else "")


def page(client: Client, tenant: Tenant, **query: Any) -> str:
    return client.get(url_of(tenant, **query)).content.decode()


def test_the_empty_promises_page_explains_promises(owner: Client, tenant: Tenant) -> None:
    text = page(owner, tenant)
    assert "No promises yet" in text
    assert "Talk to the agent" in text


def test_a_row_quotes_the_promise_and_links_to_its_turn_and_conversation(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", name="Giulia Ferri")
    effect = add_effect(tenant, row)
    promise = add_promise(tenant, row, "I’ll text you <b>the</b> details.", effect=effect, tool="send_sms_tool")
    text = page(owner, tenant)
    assert "“I’ll text you &lt;b&gt;the&lt;/b&gt; details.”" in text
    assert f"?conversation={row.pk}&amp;turn={promise.turn_id}" in text
    for view, kwargs in (("conversation", {"conversation_id": row.pk}), ("effect", {"effect_id": effect.pk})):
        assert reverse(view, kwargs={"project_slug": tenant.project.slug, **kwargs}) in text
    for words in ("Giulia Ferri", "Chat", "send_sms_tool", "due in"):
        assert words in text


def test_a_promise_without_a_tool_says_so(owner: Client, tenant: Tenant) -> None:
    add_promise(
        tenant, talk(tenant, "Hi"), "I’ll put flowers on the table.", reason="No tool can do this. Someone has to."
    )
    text = page(owner, tenant, tool="none")
    assert "No tool" in text
    assert "Someone has to" in text


def test_a_promise_shows_that_its_receipt_is_awaited(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_promise(tenant, row, effect=add_effect(tenant, row), tool="send_sms_tool", evidence="sent")
    text = page(owner, tenant)
    assert 'data-promise="Sent"' in text
    assert "waiting for delivery" in text


def test_a_promise_with_an_unknown_outcome_asks_for_an_answer(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    effect = add_effect(tenant, row, state=EffectState.UNKNOWN, error="The connection broke after 1.9 s.")
    add_promise(tenant, row, effect=effect, tool="send_sms_tool")
    text = page(owner, tenant)
    assert "Did this happen?" in text
    assert "The connection broke after 1.9 s." in text
    assert "needs your confirmation" in text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, {"one", "two", "three", "four", "five"}),
        ({"state": "broken"}, {"two"}),
        ({"state": "not_sent"}, {"four"}),
        ({"state": "open"}, {"one", "three", "five"}),
        ({"state": "unowned"}, {"five"}),
        ({"tool": "send_sms_tool"}, {"one"}),
        ({"channel": "phone"}, {"three"}),
        ({"state": "kept", "channel": "phone"}, set()),
        ({"days": "7"}, {"one", "two", "four", "five"}),
        ({"before": "y"}, {"one", "two", "three", "four", "five"}),
    ],
)
def test_filters_narrow_the_list(query: dict[str, str], found: set[str], owner: Client, tenant: Tenant) -> None:
    chat, phone = talk(tenant, "Hi"), talk(tenant, "Hi", channel=Channel.PHONE)
    add_promise(tenant, chat, "one", tool="send_sms_tool")
    add_promise(tenant, chat, "two", state=PromiseState.BROKEN)
    add_promise(tenant, phone, "three", at=timezone.now() - timedelta(days=10))
    add_promise(tenant, chat, "four", evidence="outbox", owner="staff")
    add_promise(tenant, chat, "five", owner="staff")
    text = page(owner, tenant, **query)
    assert {name for name in ("one", "two", "three", "four", "five") if f"“{name}”" in text} == found


def test_the_next_page_continues_where_the_list_ended(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    start = timezone.now() - timedelta(minutes=50)
    for number in range(42):
        add_promise(tenant, row, f"promise {number}.", at=start + timedelta(minutes=number))
    first = owner.get(url_of(tenant))
    second = owner.get(url_of(tenant) + first.context["next"]).content.decode()
    assert "“promise 1.”" in second
    assert "“promise 2.”" not in second


def test_the_kept_rate_is_the_share_of_kept_among_kept_and_broken(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    for _ in range(3):
        add_promise(tenant, row, state=PromiseState.KEPT, at=NOW)
    add_promise(tenant, row, state=PromiseState.KEPT, at=NOW, closed_at=NOW + timedelta(hours=2))
    add_promise(tenant, row, state=PromiseState.BROKEN, at=NOW)
    add_promise(tenant, row, state=PromiseState.WITHDRAWN, at=NOW)
    add_promise(tenant, row, at=NOW)
    with tenant.tx():
        figures = promise_metrics(tenant.project, period=last_days(NOW, days=30, timezone="UTC"))
    assert figures.now == PromiseCounts(kept=3, late=1, open=1, broken=1, withdrawn=1)
    assert (figures.now.kept_rate, figures.now.on_time_rate) == (80, 60)


@pytest.mark.parametrize("state", [PromiseState.OPEN, PromiseState.BROKEN])
def test_a_promise_that_was_not_sent_is_a_figure_of_its_own(tenant: Tenant, state: PromiseState) -> None:
    """It is in neither the numerator nor the denominator of the share of kept ones."""
    row = talk(tenant, "Hi")
    add_promise(tenant, row, state=PromiseState.KEPT, at=NOW)
    add_promise(tenant, row, state=state, at=NOW, evidence="outbox")
    with tenant.tx():
        figures = promise_metrics(tenant.project, period=last_days(NOW, days=30, timezone="UTC"))
    assert figures.now == PromiseCounts(kept=1, not_sent=1)
    assert figures.now.kept_rate == 100


def test_a_repeated_promise_is_counted_once(tenant: Tenant) -> None:
    """The second is held, and shares the effect of the first."""
    row = talk(tenant, "Hi")
    effect = add_effect(tenant, row)
    for _ in range(2):
        add_promise(tenant, row, state=PromiseState.KEPT, at=NOW, effect=effect)
    with tenant.tx():
        figures = promise_metrics(tenant.project, period=last_days(NOW, days=30, timezone="UTC"))
    assert figures.now == PromiseCounts(kept=1)


def test_promises_in_test_conversations_are_in_no_figure(tenant: Tenant) -> None:
    add_promise(tenant, playground(tenant), state=PromiseState.BROKEN, at=NOW)
    with tenant.tx():
        figures = promise_metrics(tenant.project, period=last_days(NOW, days=30, timezone="UTC"))
        tests = promise_metrics(tenant.project, period=last_days(NOW, days=30, timezone="UTC"), tests=True)
    assert (figures.now.made, figures.now.kept_rate, tests.now.broken) == (0, None, 1)


def test_the_list_shows_promises_of_test_conversations_on_request_only(owner: Client, tenant: Tenant) -> None:
    add_promise(tenant, talk(tenant, "Hi"), "to a customer")
    add_promise(tenant, playground(tenant), "to a colleague")
    real, tests = page(owner, tenant), page(owner, tenant, of="tests")
    assert ("“to a customer”" in real, "“to a colleague”" in real) == (True, False)
    assert ("“to a customer”" in tests, "“to a colleague”" in tests) == (False, True)
    assert "of=tests" in real


def test_a_page_with_test_promises_only_says_where_they_are(owner: Client, tenant: Tenant) -> None:
    add_promise(tenant, playground(tenant))
    text = page(owner, tenant)
    assert "No promises yet" in text
    assert 'href="?of=tests"' in text


def test_a_promise_that_was_not_sent_says_what_to_do_next(owner: Client, tenant: Tenant) -> None:
    add_promise(tenant, talk(tenant, "Hi"), evidence="outbox", owner="staff")
    text = page(owner, tenant)
    assert 'data-promise="Not sent"' in text
    assert reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "integrations"}) in text


def test_a_promise_that_a_person_has_to_act_on_needs_an_owner_until_somebody_takes_it(
    owner: Client, tenant: Tenant
) -> None:
    row = talk(tenant, "Hi")
    promise = add_promise(tenant, row, owner="staff")
    add_promise(tenant, row, "the tool’s")
    tabs = owner.get(url_of(tenant)).context["tabs"]
    assert [tab.count for tab in tabs if tab.label == "Unassigned"] == [1]
    with tenant.tx():
        Todo.objects.create(
            project=tenant.project,
            description="Do it.",
            source=TodoSource.PROMISE,
            status=TodoStatus.IN_PROGRESS,
            promise=promise,
            taker="Lucia",
            expires_at=timezone.now(),
        )
    response = owner.get(url_of(tenant))
    assert "Assigned to Lucia" in response.content.decode()
    assert response.context["now"].unowned == 0


def test_days_end_at_midnight_in_the_business_time_zone(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_promise(tenant, row, at=datetime(2026, 11, 19, 23, 30, tzinfo=UTC), state=PromiseState.KEPT)
    with tenant.tx():
        rome = promise_metrics(tenant.project, period=last_days(NOW, days=7, timezone="Europe/Rome"))
        utc = promise_metrics(tenant.project, period=last_days(NOW, days=7, timezone="UTC"))
    assert [day.day for day in rome.by_day] == [20]
    assert [day.day for day in utc.by_day] == [19]


def test_the_rate_is_compared_with_the_previous_period(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_promise(tenant, row, state=PromiseState.KEPT)
    earlier = timezone.now() - timedelta(days=8)
    for state in (PromiseState.KEPT, PromiseState.BROKEN):
        add_promise(tenant, row, state=state, at=earlier)
    text = page(owner, tenant, days=7)
    assert "Up from 50.0 % in the previous 7 days." in text


def test_a_broken_promise_can_be_marked_as_kept(operator: Any, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"), state=PromiseState.BROKEN)
    client = browser(operator)
    text = client.post(url_of(tenant), {"promise": promise.pk, "answer": "kept"}, follow=True).content.decode()
    assert "Marked as kept." in text
    with tenant.tx():
        promise.refresh_from_db()
    assert (promise.state, promise.reason) == (PromiseState.KEPT, f"{operator.name} did it.")


def test_a_broken_promise_cannot_be_withdrawn(owner: Client, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"), state=PromiseState.BROKEN)
    text = owner.post(url_of(tenant), {"promise": promise.pk, "answer": "withdrawn"}, follow=True).content.decode()
    assert "This promise is already broken." in text
    with tenant.tx():
        assert Promise.objects.get(pk=promise.pk).state == PromiseState.BROKEN


def test_a_second_answer_shows_the_first_one(tenant: Tenant) -> None:
    """They aren't told that the question is open."""
    promise = add_promise(tenant, talk(tenant, "Hi"))

    def answer(say: Any) -> None:
        with tenant.tx():
            say(tenant.project, promise.pk, by="Somebody")

    with (
        pytest.raises(WrongState, match="is already withdrawn"),
        meanwhile("tools_promise", lambda: answer(withdraw_promise)),
    ):
        answer(mark_kept)


def test_a_promise_cannot_be_decided_while_its_effect_runs(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    promise = add_promise(tenant, row, effect=add_effect(tenant, row, state=EffectState.SENDING))
    assert "I did it" not in page(owner, tenant)
    text = owner.post(url_of(tenant), {"promise": promise.pk, "answer": "kept"}, follow=True).content.decode()
    assert "finished yet and decides the outcome" in text


@pytest.mark.parametrize("body", [{}, {"answer": "kept"}, {"answer": "kept", "promise": "x"}, {"answer": "no"}])
def test_an_invalid_form_is_not_found(body: dict[str, str], owner: Client, tenant: Tenant) -> None:
    assert owner.post(url_of(tenant), body).status_code == 404


def test_a_viewer_can_read_but_not_decide(viewer: Any, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"))
    client = browser(viewer)
    assert "I did it" not in page(client, tenant)
    assert client.post(url_of(tenant), {"promise": promise.pk, "answer": "kept"}).status_code == 403


def test_another_tenants_promise_is_not_found(tenant: Tenant, stranger: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"))
    client = browser(stranger.owner)
    assert client.post(url_of(stranger), {"promise": promise.pk, "answer": "kept"}).status_code == 404
    assert "I’ll text you" not in page(client, stranger)
