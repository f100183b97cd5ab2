"""Files attached to an answer, and what the customer sees of them, in a real browser."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from conversations.handover.operators import take_over
from tests.browser.axe import findings
from tests.browser.conftest import App, Complaints, open_page
from tests.console.pages.conftest import talk

pytestmark = pytest.mark.browser


def picture() -> bytes:
    """A PNG of one red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def open_answer(page: Page, app: App) -> None:
    row = talk(app.tenant, "Do you have a menu?", name="Ada", flag="look")
    with app.tenant.tx():
        take_over(row.pk, by=app.tenant.owner)
    open_page(page, app, f"inbox/{row.pk}")
    expect(page.locator("#say")).to_be_visible()


def test_files_are_attached_kept_over_a_reload_and_sent(page: Page, app: App, tmp_path: Path) -> None:
    """Without words, their names are the message, and each is shown once."""
    red, menu = tmp_path / "red.png", tmp_path / "menu.pdf"
    red.write_bytes(picture())
    menu.write_bytes(b"%PDF-1.7\n")
    open_answer(page, app)
    page.locator("#chat-scroll").focus()
    page.locator("#file-tool input").set_input_files([red, menu])
    expect(page.locator("#say")).to_be_focused()
    expect(page.locator("#files").get_by_role("button")).to_have_count(2)
    expect(page.get_by_role("progressbar")).to_have_count(0)
    assert findings(page, within=".ib-conv") == []
    page.reload()
    expect(page.locator("#files").get_by_role("button")).to_have_count(2)
    page.get_by_role("button", name="Remove menu.pdf").click()
    page.locator("#file-tool input").set_input_files([menu])
    expect(page.locator("#files").get_by_role("button")).to_have_count(2)
    expect(page.get_by_role("progressbar")).to_have_count(0)
    page.locator("#say").press("Enter")
    sent = page.locator("#chat .mg-msg.op")
    expect(sent.get_by_role("link", name="menu.pdf")).to_be_visible()
    expect(sent).not_to_contain_text("red.png, menu.pdf")
    image = sent.get_by_role("img", name="red.png")
    expect(image).to_be_visible()
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("naturalWidth", 1)
    expect(page.locator("#files")).to_be_hidden()
    assert findings(page, within=".ib-conv") == []


def test_a_file_attached_while_an_answer_is_sent_stays_for_the_next(page: Page, app: App, tmp_path: Path) -> None:
    file = tmp_path / "menu.txt"
    file.write_text("Pasta")
    open_answer(page, app)
    held: list[Route] = []
    page.route("**/operator-messages", lambda route: held.append(route))
    page.locator("#say").fill("One moment.")
    page.locator("#say").press("Enter")
    page.locator("#file-tool input").set_input_files([file])
    expect(page.locator("#files").get_by_role("button", name="Remove menu.txt")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    held[0].continue_()
    expect(page.locator("#chat .mg-msg.op")).to_contain_text("One moment.")
    expect(page.locator("#files")).to_contain_text("menu.txt")


def test_a_file_with_a_long_name_leaves_send_in_sight(page: Page, app: App, tmp_path: Path) -> None:
    file = tmp_path / f"{'menu' * 40}.txt"
    file.write_text("Pasta")
    open_answer(page, app)
    page.locator("#file-tool input").set_input_files([file])
    expect(page.locator("#files").get_by_role("button")).to_be_in_viewport(ratio=1)
    expect(page.locator("#answer").get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)


def test_a_file_that_cannot_be_attached_is_named_with_the_reason(
    page: Page, app: App, tmp_path: Path, complaints: Complaints
) -> None:
    complaints.provoke("422")
    program, nothing = tmp_path / "report.pdf", tmp_path / "empty.txt"
    program.write_bytes(b"MZ\x90\x00")
    nothing.write_bytes(b"")
    open_answer(page, app)
    page.locator("#file-tool input").set_input_files(nothing)
    expect(page.locator("#refused")).to_contain_text("empty.txt is empty.")
    page.locator("#file-tool input").set_input_files(program)
    expect(page.locator("#refused")).to_contain_text("report.pdf can't be attached. Attach an image")
    expect(page.locator("#files")).to_be_hidden()
