"""When a project's own tool may run, chosen in its form."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from projects.agents.services import save_agent
from projects.models.agent_config import AgentConfig
from tests.browser.conftest import App, Complaints, open_page
from tests.conftest import Tenant
from tests.tools.examples import KITCHEN
from tools.engine.custom import service
from tools.engine.custom.secrets import secret_names, set_secret_headers
from tools.models import CustomTool, Effect

pytestmark = pytest.mark.browser

NAME = "ask_stock_tool"


def test_the_form_creates_a_tool_that_the_agent_calls(page: Page, app: App, tenant: Tenant) -> None:
    """It needs no conditions; what hinders it stands beside the choice; a try shows what it would send."""
    open_page(page, app, "tools/custom/new")
    page.get_by_label("Name", exact=True).fill(NAME)
    page.get_by_label("Description", exact=True).fill("Looks up what is in stock.")
    page.get_by_label("Address", exact=True).fill("example.com")
    expect(page.locator("#form")).to_contain_text("Address can't be called: The URL must begin with http")
    page.get_by_label("Address", exact=True).fill("https://example.com/kitchen")
    moments = page.get_by_role("group", name="When it may run")
    expect(moments.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.get_by_role("button", name="Remove agentPromised").click()
    expect(page.locator("#form")).to_contain_text("A tool needs at least one condition.")
    moments.get_by_label("During a reply").check()
    moments.get_by_label("After a promise").uncheck()
    expect(page.locator("#form")).not_to_contain_text("Conditions (all must be met)")
    expect(page.locator("#check")).to_contain_text("Valid")
    page.get_by_label("Responds later by callback").check()
    expect(moments).to_contain_text('a webhook with callback answers later, but "turn" needs the answer')
    page.get_by_label("Responds later by callback").uncheck()
    expect(page.locator("#check")).to_contain_text("Valid")
    page.get_by_label("Customer message").fill("One of us is vegan.")
    page.get_by_label("Agent reply").fill("Let me see.")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("#try-result")).to_contain_text("is called by the agent during a reply")
    expect(page.locator(f"[data-preview={NAME}] pre")).to_contain_text("POST https://example.com/kitchen")
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_text("Version 1, saved by")).to_be_visible()
    expect(page.locator(".tl-list")).to_contain_text("Called during a reply.")
    with tenant.tx():
        assert CustomTool.objects.get().definition["moments"] == ["turn", "task"]
        assert not Effect.objects.exists()


def test_a_trial_waits_for_what_was_just_typed(page: Page, app: App, tenant: Tenant) -> None:
    """A definition with a mistake is not tried without it; one typed a moment ago is part of the trial."""
    open_page(page, app, "tools/custom/new")
    page.get_by_label("Name", exact=True).fill("notify_kitchen_tool")
    page.get_by_label("Agent reply").fill("Of course. I'm letting the kitchen know right away.")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.get_by_label("Description", exact=True)).to_be_focused()
    expect(page.locator("#toasts")).to_contain_text("Description can't be empty.")
    expect(page.locator("#try-result")).not_to_contain_text("No tool")
    page.get_by_label("Description", exact=True).fill("Tells the kitchen about an allergy.")
    page.get_by_label("Address", exact=True).fill("https://example.com/kitchen")
    page.get_by_label("Description of agentPromised").fill("The agent commits to tell the kitchen now.")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("[data-verdict=notify_kitchen_tool]")).to_contain_text("Would fire")


def test_a_definition_that_is_too_large_is_refused_while_typing(
    page: Page, app: App, tenant: Tenant, complaints: Complaints
) -> None:
    """The check of the text before it would otherwise stay."""
    open_page(page, app, "tools/custom/new")
    page.get_by_role("button", name="JSON", exact=True).click()
    complaints.provoke("413")
    page.get_by_label("Definition as JSON").fill(f'{{"description": "{"x" * 300_000}"}}')
    expect(page.locator("#check")).to_contain_text("1 error")
    expect(page.locator("#problems")).to_contain_text("the limit is 256 kB")


def test_turning_off_a_tool_used_by_a_step_asks_first(page: Page, app: App, tenant: Tenant) -> None:
    """The step is named with the way there; who keeps the tool finds the switch as it was."""
    action = {"type": "send_event"}
    step = {"text": "Tell the kitchen", "collects": [], "tools": [NAME]}
    with tenant.tx():
        service.save(tenant.project, name=NAME, document={**KITCHEN, "action": action})
        document = {**tenant.project.agent_version.document, "scenarios": [{"title": "Allergies", "steps": [step]}]}
        save_agent(tenant.project, config=AgentConfig.model_validate(document), author=None)
    open_page(page, app, f"tools/{NAME}")
    page.get_by_label("On", exact=True).click()
    dialog = page.get_by_role("dialog", name=f"Turn off {NAME}?")
    expect(dialog.get_by_role("link", name="1.1 Allergies")).to_be_visible()
    dialog.get_by_role("button", name="Keep").click()
    expect(page.get_by_label("On", exact=True)).to_be_checked()
    page.get_by_label("On", exact=True).click()
    dialog.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text(f"{NAME} is off from the next turn.")).to_be_visible()


def test_a_new_server_removes_the_secret_headers_and_says_so(page: Page, app: App, tenant: Tenant) -> None:
    """Whoever changes the address could read them there."""
    options = {"url": "https://kitchen.example.com/orders", "method": "POST"}
    with tenant.tx():
        action = {"type": "send_webhook", "options": options}
        service.save(tenant.project, name=NAME, document={**KITCHEN, "action": action})
        set_secret_headers(CustomTool.objects.get(), {"X-Api-Key": "canary", "X-Restaurant-Account-Token": "canary"})
    open_page(page, app, f"tools/{NAME}")
    page.get_by_label("Address", exact=True).fill("https://kitchen.example.net/orders")
    expect(page.locator("#check")).to_contain_text("Valid")
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="Secret headers removed")
    expect(dialog.get_by_role("listitem")).to_have_text(["X-Api-Key", "X-Restaurant-Account-Token"])
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_text("Version 2, saved by")).to_be_visible()
    with tenant.tx():
        assert secret_names(CustomTool.objects.get()) == []
