"""The settings' forms in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from projects.models import AgentVersion
from tests.browser.conftest import App
from tests.conftest import Tenant

pytestmark = pytest.mark.browser


def open_section(page: Page, app: App, section: str) -> None:
    page.goto(f"{app.base_url}/p/{app.project}/agent/{section}")
    page.get_by_label("E-mail").fill(app.email)
    page.get_by_label("Password").fill(app.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Configuration")).to_be_visible()


def test_scenarios_are_added_moved_and_saved(page: Page, app: App, tenant: Tenant) -> None:
    """A new scenario with two steps, moved to the front of its list, and a step taken out of another one."""
    open_section(page, app, "scenarios")
    page.get_by_role("button", name="Remove step").first.click()
    page.get_by_role("button", name="Scenario", exact=True).click()
    new = page.locator("details").last
    new.get_by_label("Title").fill("Gift vouchers")
    new.get_by_label("What the agent does").fill("Ask for the amount.")
    new.get_by_role("button", name="Step", exact=True).click()
    new.get_by_label("What the agent does").last.fill("Ask for the name.")
    new.get_by_role("button", name="Move step up").last.click()
    new.get_by_role("button", name="Move scenario up").click()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved as version 2")).to_be_visible()
    with tenant.tx():
        scenarios = AgentVersion.objects.get(number=2).config.scenarios
    assert [len(scenario.steps) for scenario in scenarios] == [5, 3, 5, 4, 2, 3]
    assert scenarios[4].title == "Gift vouchers"
    assert [step.text for step in scenarios[4].steps] == ["Ask for the name.", "Ask for the amount."]


def test_a_second_span_and_a_model_are_tried(page: Page, app: App, tenant: Tenant) -> None:
    """A span added by the script is read as one of its day; a model is tried without leaving the page."""
    open_section(page, app, "hours")
    page.get_by_role("button", name="Add a span on Saturday").click()
    page.locator("[data-day=sat] input").nth(1).fill("15:00")
    page.locator("[data-day=sat] input").nth(2).fill("18:00")
    page.locator("[data-day=sat] input").nth(3).fill("23:00")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 2")).to_be_visible()
    with tenant.tx():
        assert AgentVersion.objects.get(number=2).config.hours["sat"] == [("12:00", "15:00"), ("18:00", "23:00")]
    page.get_by_role("link", name="Models").click()
    page.get_by_role("button", name="Test the model of Reply").click()
    expect(page.locator("#trial")).to_contain_text("answered in", timeout=20_000)
