"""Push messages in a real browser: its service worker shows them, and a click leads to what they are about.

A headless Chromium has no push service. The subscription is therefore played by the page, and messages are delivered by the
DevTools protocol, from where on everything is real.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Worker, expect

from notices.models import PushSubscription
from tests.browser.axe import findings
from tests.browser.conftest import DESK, PATIENCE_MS, WHOLE, App, Complaints, chromium, open_page, sign_in
from tests.processes import until

pytestmark = pytest.mark.browser

# A push service that a page of the browser plays.
PLAYED = """
const KEY = "played-subscription";
const text = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const subscription = ({ endpoint, keys, server }) => ({
  endpoint,
  options: { applicationServerKey: bytes(server).buffer },
  toJSON: () => ({ endpoint, keys }),
  unsubscribe: async () => localStorage.removeItem(KEY),
});
PushManager.prototype.getSubscription = async () => {
  const stored = localStorage.getItem(KEY);
  return stored && subscription(JSON.parse(stored));
};
PushManager.prototype.subscribe = async ({ applicationServerKey: server }) => {
  const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
  const p256dh = text(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const auth = text(crypto.getRandomValues(new Uint8Array(16)));
  const made = { endpoint: `https://push.example.net/${crypto.randomUUID()}`, keys: { p256dh, auth }, server };
  localStorage.setItem(KEY, JSON.stringify(made));
  return subscription(made);
};
"""
# A click on a notification of the system, which no protocol makes. Only a real one may focus a window.
CLICK = """async () => {
  WindowClient.prototype.focus = async function () { return this; };
  const [notification] = await self.registration.getNotifications();
  self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""
SHOWN = """async () => {
  const registration = await navigator.serviceWorker.getRegistration("/p/");
  const shown = await registration.getNotifications();
  return shown.map(({ title, body, tag, data }) => ({ title, body, tag, url: data.url }));
}"""


@pytest.fixture(scope="module")
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    """The headless shell allows no notifications."""
    with chromium(playwright, *WHOLE) as started:
        yield started


@pytest.fixture
def new_page(whole_browser: Browser, product: str, complaints: Complaints) -> Iterator[Callable[[str], Page]]:
    """Opens a tab of a browser of its own, in which notifications are allowed and a script runs before each page's own."""
    opened: list[BrowserContext] = []

    def new_page(script: str = "") -> Page:
        context = whole_browser.new_context(viewport=DESK, reduced_motion="reduce", permissions=["notifications"])
        opened.append(context)
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(script)
        page = context.new_page()
        page.on("console", complaints.note_message)
        page.on("pageerror", complaints.note_error)
        return page

    yield new_page
    for context in opened:
        context.close()


@pytest.fixture
def push_page(new_page: Callable[[str], Page]) -> Page:
    """A tab for which a push service is played."""
    return new_page(PLAYED)


def open_settings(page: Page, app: App) -> None:
    sign_in(page, app)
    page.goto(f"{app.base_url}/account/notices/")


def turn_on(page: Page, app: App) -> None:
    open_settings(page, app)
    page.get_by_role("button", name="Turn on in this browser").click()
    expect(page.locator("[data-push-here]")).to_be_visible()
    expect(page.locator("[data-push-state]")).to_have_text("Notifications are on in this browser.")


def stored(app: App) -> list[PushSubscription]:
    with app.tenant.tx():
        return list(PushSubscription.objects.all())


def deliver(page: Page, app: App, message: dict[str, Any]) -> None:
    """Deliver a push message, as the browser's push service would after decryption."""
    protocol = page.context.new_cdp_session(page)
    found: list[str] = []
    protocol.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: found.extend(one["registrationId"] for one in event["registrations"]),
    )
    protocol.send("ServiceWorker.enable")
    while not found:
        page.wait_for_timeout(20)
    origin = {"origin": app.base_url, "registrationId": found[0]}
    protocol.send("ServiceWorker.deliverPushMessage", {**origin, "data": json.dumps(message)})


def worker_of(page: Page) -> Worker:
    return until(lambda: page.context.service_workers, what="the service worker")[0]


def shown(page: Page) -> list[dict[str, str]]:
    return until(lambda: page.evaluate(SHOWN), what="a notification")


def test_notifications_are_turned_on_and_off_in_a_browser(push_page: Page, app: App) -> None:
    turn_on(push_page, app)
    assert [row.name.partition(" ")[0] for row in stored(app)] == ["Chrome"]
    assert findings(push_page) == []
    push_page.get_by_role("button", name="Remove Chrome", exact=False).click()
    expect(push_page.get_by_role("button", name="Turn on in this browser")).to_be_visible()
    assert (stored(app), push_page.evaluate("localStorage.getItem('played-subscription')")) == ([], None)


def test_a_browser_of_another_person_is_unsubscribed(push_page: Page, app: App) -> None:
    """As the session of whoever was there before ended without signing out."""
    turn_on(push_page, app)
    with app.tenant.tx():
        PushSubscription.objects.update(browser="another")
    push_page.evaluate("sessionStorage.clear()")
    open_page(push_page, app, "promises")
    until(lambda: not push_page.evaluate("localStorage.getItem('played-subscription')"), what="the end of it")


def test_a_message_is_shown_and_a_click_leads_the_open_tab_there(push_page: Page, app: App) -> None:
    turn_on(push_page, app)
    open_page(push_page, app, "promises")
    address = f"/p/{app.tenant.project.slug}/todos"
    deliver(push_page, app, {"id": "n1", "title": "A todo needs approval", "text": "Refund Ada", "url": address})
    found = {"title": "A todo needs approval", "body": "Refund Ada", "tag": "n1", "url": address}
    assert shown(push_page) == [found]
    worker_of(push_page).evaluate(CLICK)
    push_page.wait_for_url(f"**{address}")
    assert push_page.evaluate(SHOWN) == []


def test_a_message_that_cannot_be_read_is_still_shown(push_page: Page, app: App) -> None:
    """A browser that shows nothing for a message takes the permission back."""
    turn_on(push_page, app)
    deliver(push_page, app, {})
    assert [one["title"] for one in shown(push_page)] == ["Makegood"]


def test_a_click_opens_no_other_site(push_page: Page, app: App) -> None:
    turn_on(push_page, app)
    open_page(push_page, app, "promises")
    deliver(push_page, app, {"id": "n1", "title": "x", "text": "", "url": "https://evil.example/"})
    shown(push_page)
    worker_of(push_page).evaluate(CLICK)
    push_page.wait_for_timeout(200)
    assert (push_page.url, len(push_page.context.pages)) == (f"{app.home}/promises", 1)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("Object.defineProperty(Notification, 'permission', { get: () => 'denied' })", "blocks notifications"),
        ("delete window.PushManager", "can’t receive notifications"),
    ],
    ids=["blocked", "unknown"],
)
def test_a_browser_that_takes_no_messages_says_why(
    new_page: Callable[[str], Page], app: App, script: str, sentence: str
) -> None:
    page = new_page(script)
    open_settings(page, app)
    expect(page.locator("[data-push-state]")).to_contain_text(sentence)
    expect(page.locator("[data-push-on]")).to_be_hidden()


def test_a_browser_without_a_push_service_says_so(
    new_page: Callable[[str], Page], app: App, complaints: Complaints
) -> None:
    """As a private window of Chromium has none."""
    complaints.provoke("incognito mode")
    page = new_page("")
    open_settings(page, app)
    page.get_by_role("button", name="Turn on in this browser").click()
    expect(page.locator("[data-push-state]")).to_contain_text("push service can’t be reached")
    assert stored(app) == []
