"""The dashboard: empty state, items that need attention, onboarding."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.analytics import figure_cache
from conversations.inbox.waiting import Waiting
from projects.agents.templates_catalogue import Locale, business_templates, start_business
from projects.models import Member, Role, User
from projects.models.source import Source
from projects.models.widget import Widget
from tenancy.scope import tenant_tx
from tests.conftest import Tenant, member_of
from tests.console.agent.publishing import publish
from tests.console.pages.conftest import add_effect, add_promise, browser, playground, talk
from tools.models import EffectState, PromiseState


def url_of(tenant: Tenant) -> str:
    return reverse("dashboard", args=[tenant.project.slug])


def test_the_front_page_leads_to_the_dashboard(owner: Client, tenant: Tenant) -> None:
    assert owner.get("/").headers["Location"] == url_of(tenant)


def test_a_new_project_shows_the_next_step(owner: Client, tenant: Tenant) -> None:
    text = owner.get(url_of(tenant)).content.decode()
    assert "No conversations yet" in text
    assert "Talk to the agent" in text


def test_metrics_appear_with_the_first_conversation(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    text = owner.get(url_of(tenant)).content.decode()
    assert "Conversations by day" in text
    assert "No conversations yet" not in text


def test_completed_steps_are_checked_off(owner: Client, tenant: Tenant, settings: Any) -> None:
    settings.OFFLINE_MODEL = False
    talk(tenant, "Hi")
    steps = {step.title: step.is_done for step in owner.get(url_of(tenant)).context["steps"]}
    assert steps == {
        "Talk to the agent": True,
        "Describe your business": True,
        "Connect a model": True,
        "Connect messaging": False,
        "Set opening hours": True,
        "Add the chat to your site": False,
        "Invite a teammate": False,
    }


def test_the_offline_model_leaves_the_step_of_the_model_open(owner: Client, tenant: Tenant, settings: Any) -> None:
    settings.OFFLINE_MODEL = True
    steps = {step.title: step.is_done for step in owner.get(url_of(tenant)).context["steps"]}
    assert steps["Connect a model"] is False


def test_connected_mail_checks_off_the_step_of_messages(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        Source.objects.create(project=tenant.project, kind="smtp")
    steps = {step.title: step.is_done for step in owner.get(url_of(tenant)).context["steps"]}
    assert steps["Connect messaging"] is True


def test_hidden_steps_stay_hidden_for_everyone(owner: Client, tenant: Tenant) -> None:
    colleague = browser(member_of(tenant, Role.ADMIN))
    assert owner.post(url_of(tenant)).status_code == 302
    for client in (owner, colleague):
        assert "first-steps" not in client.get(url_of(tenant)).content.decode()


def test_completed_onboarding_stays_hidden(owner: Client, tenant: Tenant, settings: Any) -> None:
    settings.OFFLINE_MODEL = False
    talk(tenant, "Hi")
    member_of(tenant, Role.VIEWER)
    with tenant.tx():
        widget = Widget.objects.create(project=tenant.project, origins=["https://nello.example"])
        Source.objects.create(project=tenant.project, kind="smtp")
    owner.get(url_of(tenant))
    with tenant.tx():
        widget.delete()
    assert owner.get(url_of(tenant)).context["steps"] == []


def test_example_facts_do_not_complete_the_description_step(tenant: Tenant) -> None:
    """The step stays open until the text is the owner's own; the settings page says why."""
    locale = Locale(timezone="Europe/Rome", region="IT")
    project = start_business("Da Gina", starter=business_templates()["restaurant"], owner=tenant.owner, locale=locale)
    client, here = browser(tenant.owner), reverse("dashboard", args=[project.slug])
    described = [step for step in client.get(here).context["steps"] if step.title == "Describe your business"]
    assert [step.is_done for step in described] == [False]
    settings = client.get(reverse("agent", args=[project.slug]))
    assert "Replace 19 example facts" in settings.content.decode()
    with tenant_tx(project.organization_id):
        publish(project, {"business_context": "Via Roma 1. Phone: +1 415 555 0132."}, author=tenant.owner)
    left = client.get(reverse("agent", args=[project.slug])).content.decode()
    assert "Replace 1 example fact<" in left
    with tenant_tx(project.organization_id):
        publish(project, {"business_context": "Via Roma 1."}, author=tenant.owner)
    assert [step.is_done for step in client.get(here).context["steps"] if step.title == "Describe your business"] == [
        True
    ]


def test_example_hours_count_once_a_person_saves_them(tenant: Tenant) -> None:
    """Saving them unchanged counts; until then the step stays open."""
    locale = Locale(timezone="Europe/Rome", region="IT")
    project = start_business("Da Gina", starter=business_templates()["restaurant"], owner=tenant.owner, locale=locale)
    client, here = browser(tenant.owner), reverse("dashboard", args=[project.slug])
    hours = reverse("agent", kwargs={"project_slug": project.slug, "section": "hours"})

    def is_set() -> list[bool]:
        return [step.is_done for step in client.get(here).context["steps"] if step.title == "Set opening hours"]

    assert is_set() == [False]
    assert f'href="{hours}"' in client.get(here).content.decode()
    page = client.get(hours)
    assert "These are example hours" in page.content.decode()
    shown = page.context["document"]["hours"]
    spans = {
        f"hours.{day}.{at}.{side}": time
        for day, all_spans in shown.items()
        for at, span in enumerate(all_spans)
        for side, time in enumerate(span)
    }
    form = {"started_from": 1, "timezone": "Europe/Rome", "region": "IT", "open": "hours", **spans}
    saved = client.post(hours, form, follow=True)
    assert "Hours confirmed." in saved.content.decode()
    assert "These are example hours" not in saved.content.decode()
    assert is_set() == [True]
    with tenant_tx(project.organization_id):
        Member.objects.update(developer_tools=True)
    attributes = client.get(reverse("agent", kwargs={"project_slug": project.slug, "section": "attributes"}))
    assert "The opening hours were confirmed" in attributes.content.decode()


def test_custom_hours_complete_the_hours_step(tenant: Tenant) -> None:
    """Both those a program wrote, and those a person wrote before authors were recorded."""
    locale = Locale(timezone="Europe/Rome", region="IT")
    project = start_business("Da Gina", starter=business_templates()["agency"], owner=tenant.owner, locale=locale)
    with tenant_tx(project.organization_id):
        publish(project, {"hours": {"mon": [["10:00", "11:00"]]}}, author=tenant.owner)
    steps = browser(tenant.owner).get(reverse("dashboard", args=[project.slug])).context["steps"]
    assert [step.is_done for step in steps if step.title == "Set opening hours"] == [True]


@pytest.mark.parametrize("who", ["operator", "viewer"])
def test_members_who_cannot_configure_see_no_onboarding(who: str, request: Any, tenant: Tenant) -> None:
    user: User = request.getfixturevalue(who)
    client = browser(user)
    assert client.get(url_of(tenant)).context["steps"] == []
    assert client.post(url_of(tenant)).status_code == 403


def test_other_tenants_cannot_hide_onboarding(tenant: Tenant, stranger: Tenant) -> None:
    assert browser(stranger.owner).post(url_of(tenant)).status_code == 404


def test_flagged_conversations_and_failed_jobs_need_attention(
    owner: Client, tenant: Tenant, failed_job: Callable[..., Any]
) -> None:
    row = talk(tenant, "A person, now", flag="asked for a person", name="Jonas Weber")
    failed_job()
    failed_job(lane="thoughts")
    response = owner.get(url_of(tenant))
    text = response.content.decode()
    assert "Jonas Weber: asked for a person" in text
    assert reverse("conversation", args=[tenant.project.slug, row.pk]) in text
    assert "2 failed jobs" in text


def kinds(response: Any) -> list[tuple[str, int]]:
    return [(row["matter"].kind, row["matter"].count) for row in response.context["matters"]]


def test_the_count_is_that_of_the_inbox(owner: Client, tenant: Tenant, failed_job: Callable[..., Any]) -> None:
    """A conversation with two reasons counts once, and a failed job is no conversation."""
    failed_job()
    for guest in ("one", "two"):
        row = talk(tenant, "Hi", guest=guest, flag="asked for a person")
        add_effect(tenant, row, state=EffectState.UNKNOWN)
    response = owner.get(url_of(tenant))
    with tenant.tx():
        assert response.context["matters_count"] == Waiting(tenant.project).count == 2
    assert response.context["badges"]["inbox"].waiting == 2
    assert kinds(response) == [("unknown", 2), ("failed_jobs", 1)]
    inbox = owner.get(response.context["matters"][0]["matter"].url)
    assert len(inbox.context["rows"]) == 2


def test_an_empty_attention_list_says_so(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    assert "All clear." in owner.get(url_of(tenant)).content.decode()


def test_unknown_effects_and_broken_promises_need_attention(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_effect(tenant, row, state=EffectState.UNKNOWN)
    add_promise(tenant, row, "I’ll call you back.", state=PromiseState.BROKEN)
    other = talk(tenant, "Hello", guest="other")
    add_promise(tenant, other, "I’ll write to you.", state=PromiseState.BROKEN)
    response = owner.get(url_of(tenant))
    assert kinds(response) == [("unknown", 1), ("broken", 1)]
    urls = [row["matter"].url for row in response.context["matters"]]
    assert urls == [reverse("conversation", args=[tenant.project.slug, one.pk]) for one in (row, other)]


def test_promises_that_were_not_sent_need_a_provider(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    for state in (PromiseState.OPEN, PromiseState.BROKEN):
        add_promise(tenant, row, state=state, evidence="outbox")
    response = owner.get(url_of(tenant))
    text = response.content.decode()
    assert "2 promises weren’t sent. Connect a provider." in text
    assert f'href="{reverse("promises", args=[tenant.project.slug])}?state=not_sent"' in text


def test_promises_of_test_conversations_need_no_attention(owner: Client, tenant: Tenant) -> None:
    row = playground(tenant)
    add_promise(tenant, row, state=PromiseState.BROKEN)
    add_promise(tenant, row, evidence="outbox")
    assert owner.get(url_of(tenant)).context["matters"] == []


def test_promises_broken_long_ago_are_not_listed(owner: Client, tenant: Tenant) -> None:
    add_promise(tenant, talk(tenant, "Hi"), state=PromiseState.BROKEN, at=timezone.now() - timedelta(days=8))
    assert owner.get(url_of(tenant)).context["matters_count"] == 0


def test_pending_metrics_show_a_placeholder(owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_cache, "BUSY", 1)
    talk(tenant, "Hi")
    text = owner.get(url_of(tenant)).content.decode()
    assert "Counting" in text
    assert "Not enough data yet" not in text
    for running in list(figure_cache._counting.values()):
        running.result(timeout=60)
    text = owner.get(url_of(tenant)).content.decode()
    assert "Not enough data yet" in text
    assert "aria-busy" not in text


def test_metrics_show_their_time_in_the_business_time_zone(
    owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tenant, "Hi")
    noon = datetime(2026, 11, 20, 12, 5, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: noon)
    zone = tenant.project.agent_version.config.timezone  # type: ignore[union-attr]
    assert f"As of {noon.astimezone(ZoneInfo(zone)):%H:%M}" in owner.get(url_of(tenant)).content.decode()
