"""The newcomer's path: from the sign-up to a kept promise and an approved todo, in at most 40 actions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import App
from tests.browser.talk import turn_title

pytestmark = pytest.mark.browser

MOST_ACTIONS = 40
KITCHEN = "Of course. I'm telling the doctor right away that you are allergic."


class Steps:
    """Counts what a person does: each address, click, field and choice is one action."""

    def __init__(self) -> None:
        self.count = 0

    def click(self, place: Locator) -> None:
        self.count += 1
        place.click()

    def fill(self, place: Locator, text: str) -> None:
        self.count += 1
        place.fill(text)

    def choose(self, place: Locator, label: str) -> None:
        self.count += 1
        place.select_option(label)


def test_a_newcomer_comes_from_the_sign_up_to_an_approved_todo(page: Page, app: App) -> None:
    steps = Steps()
    sign_up(page, app, steps)
    change_the_agent(page, steps)
    make_a_tool(page, steps)
    see_a_promise_kept(page, app, steps)
    approve_a_todo(page, steps)
    assert steps.count <= MOST_ACTIONS


def sign_up(page: Page, app: App, steps: Steps) -> None:
    """To the first reply."""
    page.goto(f"{app.base_url}/account/signup/")
    steps.fill(page.get_by_label("E-mail"), f"newcomer@{app.tenant.project.slug}.example")
    steps.fill(page.get_by_label("Password"), "seven green bottles")
    steps.click(page.get_by_role("button", name="Sign up"))
    steps.fill(page.get_by_label("What’s your business called?"), "Praxis Lindenhof")
    steps.click(page.locator("label", has_text=re.compile(r"^\s*Clinic")))
    steps.click(page.get_by_role("button", name="Talk to my agent"))
    steps.click(page.locator("#openers button").first)
    expect(turn_title(page)).to_contain_text("Done in")


def change_the_agent(page: Page, steps: Steps) -> None:
    """And publish it."""
    steps.click(page.get_by_role("link", name="Configuration"))
    steps.fill(page.get_by_label("Agent name"), "Bruno")
    steps.click(page.get_by_role("button", name="Save draft"))
    steps.click(page.get_by_role("link", name="Publish").first)
    steps.click(page.get_by_role("button", name="Publish", exact=True))
    expect(page.get_by_text(re.compile("[Pp]ublished")).first).to_be_visible()


def make_a_tool(page: Page, steps: Steps) -> None:
    steps.click(page.get_by_role("link", name="Tools", exact=True))
    steps.click(page.locator("#new-tool"))
    steps.fill(page.get_by_label("Name", exact=True), "tell_doctor_tool")
    steps.fill(page.get_by_label("Description", exact=True), "Tells the doctor about an allergy.")
    steps.choose(page.get_by_label("Then", exact=True), "Send the agent a message")
    steps.fill(
        page.get_by_label("Description of agentPromised"), "The agent commits, in this answer, to tell the doctor now."
    )
    steps.fill(page.get_by_label("Message", exact=True), "The doctor knows about it.")
    expect(page.locator("#check")).to_contain_text("Valid")
    steps.click(page.get_by_role("button", name=re.compile("^(Save|Create)")).first)
    expect(page.get_by_text("Version 1, saved by")).to_be_visible()


def see_a_promise_kept(page: Page, app: App, steps: Steps) -> None:
    steps.click(page.get_by_role("link", name="Playground"))
    app.model.script("reply", match="I am allergic.", text=KITCHEN)
    steps.fill(page.get_by_label("Message as the customer"), "I am allergic.")
    steps.click(page.get_by_role("button", name="Send", exact=True))
    # The agent speaks by itself once the tool has run.
    expect(page.locator("#chat").get_by_role("button", name="Turn 2")).to_be_visible()
    steps.click(page.locator("#chat").get_by_role("button", name="Turn 1"))
    steps.click(page.get_by_role("tab", name="Promises"))
    expect(page.locator("#main")).to_contain_text("Kept")


def approve_a_todo(page: Page, steps: Steps) -> None:
    steps.click(page.get_by_role("link", name="Todos"))
    steps.click(page.locator("#new"))
    steps.fill(page.get_by_label("Description", exact=True), "Order new leaflets about allergies.")
    steps.click(page.get_by_role("button", name="Create todo"))
    steps.click(page.get_by_role("button", name=re.compile("^Approve")).first)
    expect(page.locator("#panel header .mg-st")).to_have_text(re.compile("Approved|Running|Completed|Needs"))
