"""The dashboard: what a new project sees, what needs a person, and first steps that are hidden for good."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from console.dashboard import metrics_cache
from projects.agents.agent_versions import Edit, change_agent
from projects.agents.templates_catalogue import Locale, business_templates, start_business
from projects.models import Role, User
from projects.models.widget import Widget
from tenancy.scope import tenant_tx
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import add_effect, add_promise, browser, talk
from tools.models import EffectState, PromiseState


def url_of(tenant: Tenant) -> str:
    return reverse("dashboard", args=[tenant.project.slug])


def test_the_front_page_leads_to_the_dashboard(owner: Client, tenant: Tenant) -> None:
    assert owner.get("/").headers["Location"] == url_of(tenant)


def test_a_fresh_project_is_told_what_to_do_next(owner: Client, tenant: Tenant) -> None:
    text = owner.get(url_of(tenant)).content.decode()
    assert "The week appears here" in text
    assert "Talk to the agent" in text


def test_the_figures_appear_with_the_first_conversation(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    text = owner.get(url_of(tenant)).content.decode()
    assert "Turns by day" in text
    assert "The week appears here" not in text


def test_what_is_done_is_ticked(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    steps = {step.title: step.is_done for step in owner.get(url_of(tenant)).context["steps"]}
    assert steps == {
        "Talk to the agent": True,
        "Say who you are": True,
        "Set working hours": True,
        "Put the chat on your site": False,
        "Invite someone": False,
    }


def test_hidden_steps_stay_hidden_for_everyone(owner: Client, tenant: Tenant) -> None:
    colleague = browser(member_of(tenant, Role.ADMIN))
    assert owner.post(url_of(tenant)).status_code == 302
    for client in (owner, colleague):
        assert "first-steps" not in client.get(url_of(tenant)).content.decode()


def test_steps_that_are_all_done_do_not_come_back(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    member_of(tenant, Role.VIEWER)
    with tenant.tx():
        widget = Widget.objects.create(project=tenant.project, origins=["https://nello.example"])
    owner.get(url_of(tenant))
    with tenant.tx():
        widget.delete()
    assert owner.get(url_of(tenant)).context["steps"] == []


def test_a_templates_made_up_address_is_no_description(tenant: Tenant) -> None:
    """It is undone until the text is the owner's own, and the page of the settings says why."""
    locale = Locale(timezone="Europe/Rome", region="IT")
    project = start_business("Da Gina", starter=business_templates()["restaurant"], owner=tenant.owner, locale=locale)
    client, here = browser(tenant.owner), reverse("dashboard", args=[project.slug])
    described = [step for step in client.get(here).context["steps"] if step.title == "Say who you are"]
    assert [step.is_done for step in described] == [False]
    settings = client.get(reverse("agent", args=[project.slug]))
    assert "19 facts here are still the template’s" in settings.content.decode()
    with tenant_tx(project.organization_id):
        change_agent(project, Edit({"business_context": "Via Roma 1. Phone: +1 415 555 0132."}, 1, tenant.owner))
    left = client.get(reverse("agent", args=[project.slug])).content.decode()
    assert "One fact here is still the template’s" in left
    with tenant_tx(project.organization_id):
        change_agent(project, Edit({"business_context": "Via Roma 1."}, 2, tenant.owner))
    assert [step.is_done for step in client.get(here).context["steps"] if step.title == "Say who you are"] == [True]


def test_a_templates_hours_are_set_when_a_person_saves_them(tenant: Tenant) -> None:
    """As they are, if they are the business's own; until then the step is open and leads to them."""
    locale = Locale(timezone="Europe/Rome", region="IT")
    project = start_business("Da Gina", starter=business_templates()["restaurant"], owner=tenant.owner, locale=locale)
    client, here = browser(tenant.owner), reverse("dashboard", args=[project.slug])
    hours = reverse("agent", kwargs={"project_slug": project.slug, "section": "hours"})

    def is_set() -> list[bool]:
        return [step.is_done for step in client.get(here).context["steps"] if step.title == "Set working hours"]

    assert is_set() == [False]
    assert f'href="{hours}"' in client.get(here).content.decode()
    page = client.get(hours)
    assert "These hours are the template’s" in page.content.decode()
    shown = page.context["document"]["hours"]
    spans = {
        f"hours.{day}.{at}.{side}": time
        for day, all_spans in shown.items()
        for at, span in enumerate(all_spans)
        for side, time in enumerate(span)
    }
    form = {"started_from": 1, "timezone": "Europe/Rome", "region": "IT", "open": "hours", **spans}
    saved = client.post(hours, form, follow=True)
    assert "these hours now count as yours" in saved.content.decode()
    assert "These hours are the template’s" not in saved.content.decode()
    assert is_set() == [True]
    attributes = client.get(reverse("agent", kwargs={"project_slug": project.slug, "section": "attributes"}))
    assert "The opening hours were confirmed" in attributes.content.decode()


def test_hours_that_are_no_templates_are_set(tenant: Tenant) -> None:
    """Whoever wrote them: a program, or a person before it was noted who saved them."""
    locale = Locale(timezone="Europe/Rome", region="IT")
    project = start_business("Da Gina", starter=business_templates()["agency"], owner=tenant.owner, locale=locale)
    with tenant_tx(project.organization_id):
        change_agent(project, Edit({"hours": {"mon": [["10:00", "11:00"]]}}, 1, tenant.owner))
    steps = browser(tenant.owner).get(reverse("dashboard", args=[project.slug])).context["steps"]
    assert [step.is_done for step in steps if step.title == "Set working hours"] == [True]


@pytest.mark.parametrize("who", ["operator", "viewer"])
def test_who_cannot_configure_sees_no_steps_and_hides_none(who: str, request: Any, tenant: Tenant) -> None:
    user: User = request.getfixturevalue(who)
    client = browser(user)
    assert client.get(url_of(tenant)).context["steps"] == []
    assert client.post(url_of(tenant)).status_code == 403


def test_a_stranger_hides_nothing(tenant: Tenant, stranger: Tenant) -> None:
    assert browser(stranger.owner).post(url_of(tenant)).status_code == 404


def test_flagged_conversations_and_failed_jobs_need_you(
    owner: Client, tenant: Tenant, failed_job: Callable[..., Any]
) -> None:
    row = talk(tenant, "A person, now", flag="asked for a person", name="Jonas Weber")
    failed_job()
    failed_job(lane="thoughts")
    response = owner.get(url_of(tenant))
    text = response.content.decode()
    assert "Jonas Weber: asked for a person" in text
    assert reverse("conversation", args=[tenant.project.slug, row.pk]) in text
    assert "2 things failed" in text
    assert response.context["matters_count"] == 3


def test_nothing_that_waits_is_said_as_such(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    assert "Nothing waits for you" in owner.get(url_of(tenant)).content.decode()


def test_unknown_effects_and_broken_promises_need_a_person(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_effect(tenant, row, state=EffectState.UNKNOWN)
    add_promise(tenant, row, "I’ll call you back.", state=PromiseState.BROKEN)
    text = owner.get(url_of(tenant)).content.decode()
    assert "Did this happen? send_sms_tool" in text
    assert "A promise broke: “I’ll call you back.”" in text
    for page, state in (("effects", "unknown"), ("promises", "broken")):
        assert f'href="{reverse(page, args=[tenant.project.slug])}?state={state}"' in text


def test_a_promise_that_broke_long_ago_is_history(owner: Client, tenant: Tenant) -> None:
    add_promise(tenant, talk(tenant, "Hi"), state=PromiseState.BROKEN, at=timezone.now() - timedelta(days=8))
    assert owner.get(url_of(tenant)).context["matters_count"] == 0


def test_a_page_whose_figures_are_being_counted_says_so_and_shows_none(
    owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_cache, "BUSY", 1)
    talk(tenant, "Hi")
    text = owner.get(url_of(tenant)).content.decode()
    assert "Counting the last 7 days" in text
    assert "No replies yet" not in text
    for running in list(metrics_cache._counting.values()):
        running.result(timeout=60)
    text = owner.get(url_of(tenant)).content.decode()
    assert "No replies yet" in text
    assert "aria-busy" not in text


def test_figures_say_as_of_when_they_are_on_the_clock_of_the_business(
    owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tenant, "Hi")
    noon = datetime(2026, 11, 20, 12, 5, tzinfo=UTC)
    monkeypatch.setattr(timezone, "now", lambda: noon)
    zone = tenant.project.agent_version.config.timezone  # type: ignore[union-attr]
    assert f"as of {noon.astimezone(ZoneInfo(zone)):%H:%M}" in owner.get(url_of(tenant)).content.decode()
