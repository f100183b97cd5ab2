"""The ledger of promises: its figures, its rows, and what a person may say of one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from console.promises.metrics import PromiseCounts, promise_figures
from conversations.models import Channel
from jobs.errors import WrongState
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, browser, talk
from tools.engine.promise_answers import mark_kept, withdraw_promise
from tools.models import EffectState, Promise, PromiseState

NOW = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)


def url_of(tenant: Tenant, **query: Any) -> str:
    address = reverse("promises", args=[tenant.project.slug])
    return address + ("?" + "&".join(f"{name}={value}" for name, value in query.items()) if query else "")


def page(client: Client, tenant: Tenant, **query: Any) -> str:
    return client.get(url_of(tenant, **query)).content.decode()


def test_no_promise_yet_says_how_the_first_one_comes(owner: Client, tenant: Tenant) -> None:
    text = page(owner, tenant)
    assert "Promises appear here" in text
    assert "Talk to the agent" in text


def test_a_row_has_the_exact_words_and_leads_to_its_turn_and_conversation(owner: Client, tenant: Tenant) -> None:
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


def test_what_no_tool_can_do_is_shown_as_such(owner: Client, tenant: Tenant) -> None:
    add_promise(
        tenant, talk(tenant, "Hi"), "I’ll put flowers on the table.", reason="No tool can do this; somebody has to."
    )
    text = page(owner, tenant, tool="none")
    assert "No tool serves it" in text
    assert "somebody has to" in text


def test_a_promise_of_an_unknown_effect_asks(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    effect = add_effect(tenant, row, state=EffectState.UNKNOWN, error="The connection broke after 1.9 s.")
    add_promise(tenant, row, effect=effect, tool="send_sms_tool")
    text = page(owner, tenant)
    assert "Did this happen?" in text
    assert "The connection broke after 1.9 s." in text
    assert "asks you" in text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, {"one", "two", "three"}),
        ({"state": "broken"}, {"two"}),
        ({"tool": "send_sms_tool"}, {"one"}),
        ({"channel": "phone"}, {"three"}),
        ({"state": "kept", "channel": "phone"}, set()),
        ({"days": "7"}, {"one", "two"}),
        ({"state": "nonsense", "days": "x", "before": "y"}, {"one", "two", "three"}),
    ],
)
def test_filters_narrow(query: dict[str, str], found: set[str], owner: Client, tenant: Tenant) -> None:
    chat, phone = talk(tenant, "Hi"), talk(tenant, "Hi", channel=Channel.PHONE)
    add_promise(tenant, chat, "one", tool="send_sms_tool")
    add_promise(tenant, chat, "two", state=PromiseState.BROKEN)
    add_promise(tenant, phone, "three", at=timezone.now() - timedelta(days=10))
    text = page(owner, tenant, **query)
    assert {name for name in ("one", "two", "three") if f"“{name}”" in text} == found


def test_the_list_goes_on_where_it_ended(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    start = timezone.now() - timedelta(minutes=50)
    for number in range(42):
        add_promise(tenant, row, f"promise {number}.", at=start + timedelta(minutes=number))
    first = owner.get(url_of(tenant))
    second = owner.get(url_of(tenant) + first.context["next"]).content.decode()
    assert "“promise 1.”" in second
    assert "“promise 2.”" not in second


def test_the_rate_counts_what_was_kept_in_time_of_all_that_is_over(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    for _ in range(3):
        add_promise(tenant, row, state=PromiseState.KEPT, at=NOW)
    add_promise(tenant, row, state=PromiseState.KEPT, at=NOW, closed_at=NOW + timedelta(hours=2))
    add_promise(tenant, row, state=PromiseState.BROKEN, at=NOW)
    add_promise(tenant, row, state=PromiseState.WITHDRAWN, at=NOW)
    add_promise(tenant, row, at=NOW)
    with tenant.tx():
        figures = promise_figures(tenant.project, days=30, now=NOW, timezone="UTC")
    assert figures.now == PromiseCounts(kept=3, late=1, open=1, broken=1, withdrawn=1)
    assert figures.now.kept_rate == 60


def test_a_day_ends_at_midnight_of_the_business(tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_promise(tenant, row, at=datetime(2026, 11, 19, 23, 30, tzinfo=UTC), state=PromiseState.KEPT)
    with tenant.tx():
        rome = promise_figures(tenant.project, days=7, now=NOW, timezone="Europe/Rome")
        utc = promise_figures(tenant.project, days=7, now=NOW, timezone="UTC")
    assert [day.day for day in rome.by_day] == [20]
    assert [day.day for day in utc.by_day] == [19]


def test_the_period_before_is_compared(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_promise(tenant, row, state=PromiseState.KEPT)
    earlier = timezone.now() - timedelta(days=8)
    for state in (PromiseState.KEPT, PromiseState.BROKEN):
        add_promise(tenant, row, state=state, at=earlier)
    text = page(owner, tenant, days=7)
    assert "Up from 50.0 % in the 7 days before." in text


def test_a_person_who_did_it_keeps_a_broken_promise(operator: Any, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"), state=PromiseState.BROKEN)
    client = browser(operator)
    text = client.post(url_of(tenant), {"promise": promise.pk, "answer": "kept"}, follow=True).content.decode()
    assert "It counts as kept now." in text
    with tenant.tx():
        promise.refresh_from_db()
    assert (promise.state, promise.reason) == (PromiseState.KEPT, f"{operator.name} did it.")


def test_a_broken_promise_is_not_withdrawn(owner: Client, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"), state=PromiseState.BROKEN)
    text = owner.post(url_of(tenant), {"promise": promise.pk, "answer": "withdrawn"}, follow=True).content.decode()
    assert "This promise is already broken." in text
    with tenant.tx():
        assert Promise.objects.get(pk=promise.pk).state == PromiseState.BROKEN


def test_who_answers_second_is_told_what_the_first_said(tenant: Tenant) -> None:
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


def test_while_its_effect_runs_nobody_decides_a_promise(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    promise = add_promise(tenant, row, effect=add_effect(tenant, row, state=EffectState.SENDING))
    assert "I did it" not in page(owner, tenant)
    text = owner.post(url_of(tenant), {"promise": promise.pk, "answer": "kept"}, follow=True).content.decode()
    assert "finished yet and decides the outcome" in text


@pytest.mark.parametrize("body", [{}, {"answer": "kept"}, {"answer": "kept", "promise": "x"}, {"answer": "no"}])
def test_a_form_that_we_never_made_is_not_found(body: dict[str, str], owner: Client, tenant: Tenant) -> None:
    assert owner.post(url_of(tenant), body).status_code == 404


def test_a_viewer_reads_and_decides_nothing(viewer: Any, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"))
    client = browser(viewer)
    assert "I did it" not in page(client, tenant)
    assert client.post(url_of(tenant), {"promise": promise.pk, "answer": "kept"}).status_code == 403


def test_another_tenants_promise_is_not_found(tenant: Tenant, stranger: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"))
    client = browser(stranger.owner)
    assert client.post(url_of(stranger), {"promise": promise.pk, "answer": "kept"}).status_code == 404
    assert "I’ll text you" not in page(client, stranger)
