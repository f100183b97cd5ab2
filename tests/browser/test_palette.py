"""The palette in a real browser: by keyboard from any page, and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import DESK, PHONE, App, hold_back, open_page
from tests.console.pages.conftest import talk

pytestmark = pytest.mark.browser


def combobox(page: Page):
    return page.get_by_role("combobox", name="Search")


def test_a_person_is_found_and_opened_by_keyboard(page: Page, app: App) -> None:
    row = talk(app.tenant, "Hi", name="Giulia Ferri")
    open_page(page, app, "knowledge")
    page.keyboard.press("Control+k")
    expect(combobox(page)).to_be_focused()
    page.keyboard.type("giul")
    option = page.get_by_role("group", name="People").get_by_role("option", name="Giulia Ferri")
    expect(option).to_have_attribute("aria-selected", "true")
    expect(combobox(page)).to_have_attribute("aria-activedescendant", option.get_attribute("id") or "")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/people/{row.persona_id}$"))


def test_the_arrows_choose_and_escape_gives_the_focus_back(page: Page, app: App) -> None:
    open_page(page, app, "todos")
    opener = page.get_by_role("button", name="Search").first
    opener.click()
    options = page.get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(combobox(page)).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_setting_is_found_by_a_word_of_it(page: Page, app: App) -> None:
    open_page(page, app, "promises")
    page.keyboard.press("Control+k")
    page.keyboard.type("openin")
    expect(page.get_by_role("option", name="Hours")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/agent/hours$"))


def test_keys_typed_before_the_palette_loads_are_searched(page: Page, app: App) -> None:
    release = hold_back(page, "**/js/palette.js")
    open_page(page, app, "promises", until="commit")
    page.get_by_role("heading", level=1).wait_for()
    page.keyboard.press("Control+k")
    page.keyboard.type("time zone")
    page.keyboard.press("Enter")
    release()
    expect(page).to_have_url(re.compile("/agent/hours$"))


def test_a_phone_has_a_search_button_and_axe_finds_nothing(page: Page, app: App) -> None:
    page.set_viewport_size(PHONE)
    open_page(page, app, "people")
    page.locator(".mg-top").get_by_role("button", name="Search").click()
    expect(page.get_by_role("option").first).to_be_visible()
    found = findings(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert found + findings(page) == []
    page.set_viewport_size(DESK)


def test_single_keys_stay_off_on_every_page_once_turned_off(page: Page, app: App) -> None:
    open_page(page, app, "people")
    page.keyboard.press("?")
    switch = page.get_by_role("checkbox", name="Use single-key shortcuts")
    with page.expect_response(lambda answer: answer.url.endswith("/account/shortcuts")):
        switch.uncheck()
    open_page(page, app, "promises")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    open_page(page, app, "inbox")
    keys = page.locator("kbd").filter(visible=True)
    expect(keys).to_have_text(["Ctrl K"])
    page.keyboard.press("Control+k")
    expect(combobox(page)).to_be_focused()


def test_the_palette_falls_back_to_the_inbox_search(page: Page, app: App) -> None:
    open_page(page, app, "promises")
    page.keyboard.press("Control+k")
    page.keyboard.type("zanzibar & co")
    expect(page.get_by_role("listbox", name="Results")).to_contain_text("Nothing found")
    expect(page.get_by_role("option", name="Search the inbox for “zanzibar & co”")).to_have_attribute(
        "aria-selected", "true"
    )
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/inbox\?q=zanzibar\+%26\+co$"))
