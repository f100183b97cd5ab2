"""Custom tools in the administration, from the first word to a copy in another project."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from projects.agents.services import create_project
from projects.models.agent_config import AgentConfig
from tests.browser.axe import everywhere
from tests.browser.conftest import PHONE, App, open_page
from tests.conftest import Tenant
from tests.tools.examples import KITCHEN
from tools.engine.custom import service
from tools.models import CustomTool, Effect

pytestmark = pytest.mark.browser

NAME = "notify_kitchen_tool"
CONDITION = "The agent commits, in this answer, to tell the kitchen now."


def test_a_tool_is_written_tried_saved_restored_and_moved(page: Page, app: App, tenant: Tenant, tmp_path: Path) -> None:
    with tenant.tx():
        config = AgentConfig(agent_name="Bar", business_name="Bar")
        second = create_project("Zweites Lokal", config=config, author=tenant.owner)
    open_page(page, app, "")
    page.get_by_role("button", name="account menu").click()
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("link", name="Custom tools", exact=True).click()
    page.get_by_role("link", name="Add custom tool").click()
    page.get_by_label("Project").select_option(str(tenant.project.pk))
    write_tool(page)
    try_sentence(page)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#told")).to_contain_text("Signing secret of notify_kitchen_tool, shown only once: whsec_")
    page.get_by_label("Description", exact=True).fill("Tells the chef.")
    page.keyboard.press("Control+s")
    expect(page.locator("#told")).to_contain_text("saved as version 2")
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_role("heading", name="Version 1 to 2")).to_be_visible()
    expect(page.locator(".tl-diff .add")).to_contain_text("Tells the chef.")
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("Version 1 restored as version 3.")).to_be_visible()
    page.get_by_role("link", name="Editor").click()
    page.get_by_role("button", name="More").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as JSON").click()
    download.value.save_as(tmp_path / "tools.json")
    page.get_by_role("link", name="Custom tools").click()
    page.get_by_role("link", name="Import").click()
    page.get_by_label("Project").select_option(str(second.pk))
    page.get_by_label("File").set_input_files(tmp_path / "tools.json")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text(f"Saved in Zweites Lokal: {NAME}.")).to_be_visible()
    with tenant.tx():
        assert service.get(second, NAME).definition == service.get(tenant.project, NAME).definition
        assert not Effect.objects.exists()


def write_tool(page: Page) -> None:
    """By the form; the JSON beside it shows each word."""
    page.get_by_label("Name", exact=True).fill(NAME)
    expect(page.locator("#check")).to_contain_text("Incomplete")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#form [aria-invalid]").first).to_be_visible()
    page.get_by_label("Description", exact=True).fill("Tells the kitchen about an allergy.")
    page.get_by_label("Description of agentPromised").fill(CONDITION)
    page.get_by_label("Address", exact=True).fill("https://example.com/kitchen")
    expect(page.get_by_label("Definition as JSON")).to_have_value(re.compile(r"https://example\.com/kitchen"))
    expect(page.locator("#check")).to_contain_text("Valid")


def try_sentence(page: Page) -> None:
    page.get_by_label("Agent reply").fill("Of course. I’m letting the kitchen know right away.")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator("#try-result")).to_contain_text("fire")


def test_a_save_over_someone_elses_version_asks_first(page: Page, app: App, tenant: Tenant) -> None:
    with tenant.tx():
        tool = service.save(tenant.project, name=NAME, document={**KITCHEN, "action": {"type": "send_event"}}).tool
    open_page(page, app, "")
    page.goto(f"{app.base_url}/admin/tools/customtool/{tool.pk}/change/")
    page.get_by_label("Description", exact=True).fill("Ours")
    with tenant.tx():
        theirs = {**KITCHEN, "action": {"type": "send_event"}, "description": "Theirs"}
        service.save(tenant.project, name=NAME, document=theirs)
    page.get_by_role("button", name="Save").click()
    dialog = page.get_by_role("dialog", name="Someone else saved this tool")
    expect(dialog.locator(".del")).to_contain_text("Theirs")
    dialog.get_by_role("button", name="Save mine over version 2").click()
    expect(page.locator("#told")).to_contain_text("saved as version 3")
    with tenant.tx():
        assert CustomTool.objects.get().definition["description"] == "Ours"


def test_the_administration_is_accessible(page: Page, app: App, tenant: Tenant) -> None:
    """Light, dark and on a phone: the index, the list, the editor, versions and the import."""
    with tenant.tx():
        tool = service.save(tenant.project, name=NAME, document=KITCHEN).tool
    open_page(page, app, "")
    here = f"{app.base_url}/admin/"
    own = f"{here}tools/customtool/"
    found: list[str] = []
    for address in (here, own, f"{own}add/", f"{own}{tool.pk}/change/", f"{own}{tool.pk}/versions/", f"{own}import/"):
        page.goto(address)
        found += [f"{address} {line}" for line in everywhere(page)]
    page.set_viewport_size(PHONE)
    page.goto(f"{own}{tool.pk}/change/")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert "\n".join(found) == ""
