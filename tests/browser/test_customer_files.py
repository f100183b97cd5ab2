"""Files that customers send in the widget, on their page and in the playground, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from conversations.models import Attachment
from tests.browser.axe import everywhere, findings
from tests.browser.conftest import PATIENCE_MS, App, Complaints, open_page
from tests.browser.shop import Shop
from tests.browser.test_inbox_files import picture
from tests.browser.test_portal import own_page as own_page
from tests.browser.test_widget import configure, launcher, log, panel, say, shop
from tests.conversations.widget.conftest import Placed, place_widget

pytestmark = pytest.mark.browser

__all__ = ["shop"]


@pytest.fixture
def placed(app: App, shop: Shop) -> Placed:
    configure(app, vertical="ecommerce")
    return place_widget(app.tenant, origins=(shop.origin,))


@pytest.fixture
def red(tmp_path: Path) -> Path:
    path = tmp_path / "red.png"
    path.write_bytes(picture())
    return path


@pytest.fixture
def menu(tmp_path: Path) -> Path:
    path = tmp_path / "menu.pdf"
    path.write_bytes(b"%PDF-1.7\n")
    return path


def open_widget(page: Page, shop: Shop, placed: Placed, *, lang: str = "en") -> None:
    page.goto(shop.address(placed.key, is_strict=True, lang=lang))
    launcher(page).click() if lang == "en" else page.locator("[aria-haspopup=dialog]").click()


def chips(page: Page) -> Locator:
    return panel(page).locator(".chips li")


def files_of(app: App) -> list[tuple[str, bool]]:
    """The names of the stored files, and whether each was sent."""
    with app.tenant.tx():
        rows = Attachment.objects.order_by("created_at").values_list("name", "message_id")
        return [(name, message is not None) for name, message in rows]


def test_files_are_chosen_removed_and_sent_without_words(
    page: Page, app: App, shop: Shop, placed: Placed, red: Path, menu: Path
) -> None:
    """Under the page's strict policy, until the picture is shown."""
    app.model.script("reply", text="What a fine red.")
    open_widget(page, shop, placed)
    long = red.with_name("My broken tile from the floor of the kitchen.png")
    long.write_bytes(picture())
    panel(page).locator("input[type=file]").set_input_files([red, menu, long])
    expect(chips(page)).to_have_count(3)
    expect(chips(page).last.get_by_role("button", name="Remove")).to_be_in_viewport(ratio=1)
    expect(chips(page).locator("canvas")).to_have_count(2)
    expect(chips(page).get_by_role("progressbar")).to_have_count(0)
    assert findings(page) == []
    page.get_by_role("button", name="Remove menu.pdf").click()
    expect(chips(page)).to_have_count(2)
    page.goto(shop.address(placed.key, is_strict=False))
    panel(page).locator("input[type=file]").set_input_files([red])
    page.get_by_label("Your message").press("Enter")
    image = log(page).get_by_role("img", name="red.png")
    expect(image).to_have_js_property("naturalWidth", 1)
    expect(log(page)).to_contain_text("What a fine red.")
    expect(log(page)).not_to_contain_text("[File:")
    expect(chips(page)).to_have_count(0)
    assert [sent for _, sent in files_of(app)] == [False, False, False, True]
    page.reload()
    expect(image).to_be_visible()
    assert findings(page) == []


def test_a_page_that_forbids_pictures_shows_their_names(
    page: Page, app: App, shop: Shop, placed: Placed, red: Path, complaints: Complaints
) -> None:
    complaints.provoke("img-src")
    open_widget(page, shop, placed)
    panel(page).locator("input[type=file]").set_input_files([red])
    say(page, "Do you have this red?")
    expect(log(page).get_by_role("link", name="red.png")).to_be_visible()
    expect(log(page).get_by_role("img")).to_have_count(0)


def test_a_picture_is_pasted_and_another_dropped(page: Page, shop: Shop, placed: Placed) -> None:
    open_widget(page, shop, placed)
    give = """([target, kind, field, bytes]) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], `${kind}.png`, { type: "image/png" }));
        const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
            : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
        document.querySelector("[data-makegood]").shadowRoot.querySelector(target).dispatchEvent(event);
    }"""
    for target, kind in (("textarea", "paste"), (".log", "drop")):
        page.evaluate(give, [target, kind, "", list(picture())])
        expect(chips(page).filter(has_text=f"{kind}.png")).to_be_visible()


def test_an_upload_that_is_cut_off_is_tried_again_and_stored_once(
    page: Page, app: App, shop: Shop, placed: Placed, red: Path, complaints: Complaints
) -> None:
    """The first request doesn't arrive, and the response to the second is lost."""
    complaints.provoke("Failed to load resource")
    complaints.provoke("img-src")
    tries = 0

    def cut(route: Route) -> None:
        nonlocal tries
        tries += route.request.method == "POST"
        if tries == 2 and route.request.method == "POST":
            route.fetch()
        if tries < 3 and route.request.method == "POST":
            return route.abort("connectionreset")
        return route.continue_()

    page.route("**/attachments?name=*", cut)
    open_widget(page, shop, placed)
    panel(page).locator("input[type=file]").set_input_files([red])
    # Sent while the file is on its way: it goes out once it is there.
    with page.expect_response("**/messages", timeout=PATIENCE_MS):
        say(page, "This one")
    assert tries == 3
    assert files_of(app) == [("red.png", True)]


def test_an_upload_without_a_network_can_be_tried_again_by_hand(
    page: Page, shop: Shop, placed: Placed, red: Path, complaints: Complaints
) -> None:
    complaints.provoke("Failed to load resource")
    open_widget(page, shop, placed)
    page.route("**/attachments?name=*", lambda route: route.abort("connectionreset"))
    panel(page).locator("input[type=file]").set_input_files([red])
    again = chips(page).get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.unroute("**/attachments?name=*")
    again.click()
    expect(again).to_be_hidden()
    expect(chips(page).get_by_role("progressbar")).to_have_count(0)


def test_refused_files_are_explained_in_the_visitors_language(
    page: Page, shop: Shop, placed: Placed, red: Path, tmp_path: Path, complaints: Complaints
) -> None:
    complaints.provoke("422")
    open_widget(page, shop, placed, lang="it")
    chosen = panel(page).locator("input[type=file]")
    lie, huge = tmp_path / "lie.png", tmp_path / "huge.png"
    lie.write_bytes(b"<script>alert(1)</script>")
    huge.write_bytes(bytes(11 * 1024 * 1024))
    why = panel(page).get_by_role("alert")
    chosen.set_input_files([lie])
    expect(why).to_have_text("lie.png non può essere inviato. Invia immagini, PDF o testi.")
    chosen.set_input_files([huge])
    expect(why).to_have_text("huge.png è troppo grande. Un file può avere al massimo 10 MB.")
    chosen.set_input_files([red] * 6)
    expect(why).to_have_text("Un messaggio può avere al massimo 5 file.")
    expect(chips(page)).to_have_count(5)


def test_the_switch_takes_the_button_away(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    configure(app, vertical="ecommerce", take_files=False)
    open_widget(page, shop, placed)
    expect(page.get_by_label("Your message")).to_be_visible()
    expect(page.get_by_role("button", name="Attach files")).to_have_count(0)


def test_the_customers_page_sends_files(own_page: Page, app: App, red: Path, menu: Path) -> None:
    app.model.script("reply", text="Thank you for both.")
    own_page.locator("#picked").set_input_files([red, menu])
    rows = own_page.locator("#files li")
    expect(rows).to_have_count(2)
    expect(own_page.get_by_role("progressbar")).to_have_count(0)
    assert everywhere(own_page, within="#form") == []
    own_page.get_by_role("button", name="Send").click()
    expect(rows).to_have_count(0)
    mine = own_page.locator('.po-said[data-role="user"]')
    expect(mine.get_by_role("img", name="red.png")).to_have_js_property("naturalWidth", 1)
    expect(own_page.locator("#log")).to_contain_text("Thank you for both.")
    own_page.reload()
    expect(mine.get_by_role("link", name="menu.pdf")).to_be_visible()
    expect(mine).not_to_contain_text("[File:")
    assert files_of(app) == [("red.png", True), ("menu.pdf", True)]


def test_the_customers_page_sends_files_without_scripts(own_page: Page, app: App, red: Path) -> None:
    """As a plain form."""
    without = own_page.context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    page = without.new_page()
    page.goto(own_page.url)
    page.locator("#picked").set_input_files([red])
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#log").get_by_role("img", name="red.png")).to_be_visible()
    assert files_of(app) == [("red.png", True)]
    without.close()


def test_the_playground_sends_files_of_the_customer(page: Page, app: App, red: Path) -> None:
    """The first file begins the conversation."""
    app.model.script("reply", text="A fine red.")
    open_page(page, app, "playground")
    page.locator("#file-tool input").set_input_files([red])
    expect(page.locator("#files").get_by_role("button", name="Remove red.png")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    page.locator("#say").press("Enter")
    expect(page.locator("#chat").get_by_role("img", name="red.png")).to_be_visible()
    expect(page.locator("#chat")).to_contain_text("A fine red.")
    assert files_of(app) == [("red.png", True)]
