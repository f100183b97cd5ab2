"""Passkeys in a real browser, whose authenticator is Chromium's own virtual one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import CDPSession, Page, expect

from tests.browser.axe import findings
from tests.browser.conftest import DESK, PHONE, App, Complaints, hold_back, sign_in
from tests.conftest import PASSWORD

pytestmark = pytest.mark.browser

KNOWN = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}
# As a browser whose fields offer none. Else the virtual key answers the field at once, without anybody's choosing.
NO_OFFER = "PublicKeyCredential.isConditionalMediationAvailable = async () => false"
FACTORS, ADD = "/account/2fa/", "/account/2fa/webauthn/add/"


class Key:
    """A key in the browser, whose owner touches it and gives the right finger while `is_there`."""

    def __init__(self, session: CDPSession) -> None:
        self.session = session
        added = session.send("WebAuthn.addVirtualAuthenticator", {"options": KNOWN})
        self.id = added["authenticatorId"]

    def answers(self, *, is_there: bool) -> None:
        """Without its owner it says so at once, as if they had closed the question."""
        self.session.send("WebAuthn.setUserVerified", {"authenticatorId": self.id, "isUserVerified": is_there})

    def is_touched(self, *, at_once: bool = True) -> None:
        """From now on each question is answered at once, or else never."""
        presence = {"authenticatorId": self.id, "enabled": at_once}
        self.session.send("WebAuthn.setAutomaticPresenceSimulation", presence)

    def counts_from(self, count: int) -> None:
        """As a copy does that was made when it had been used so often."""
        [credential] = self.session.send("WebAuthn.getCredentials", {"authenticatorId": self.id})["credentials"]
        self.session.send("WebAuthn.clearCredentials", {"authenticatorId": self.id})
        copy = {"authenticatorId": self.id, "credential": {**credential, "signCount": count}}
        self.session.send("WebAuthn.addCredential", copy)


@pytest.fixture
def key(offered_key: Key) -> Key:
    """One that is asked by buttons only."""
    offered_key.session.send("Page.enable")
    offered_key.session.send("Page.addScriptToEvaluateOnNewDocument", {"source": NO_OFFER})
    return offered_key


@pytest.fixture
def offered_key(page: Page) -> Iterator[Key]:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    yield Key(session)
    session.send("WebAuthn.disable")
    session.detach()


@pytest.fixture
def named(app: App) -> App:
    """The product at an address with a name: a passkey belongs to no number."""
    return App(app.base_url.replace("127.0.0.1", "localhost"), app.tenant, app.model)


def is_inside(page: Page, app: App) -> None:
    expect(page).to_have_url(f"{app.home}/")


def enter_password(page: Page, app: App) -> None:
    page.goto(f"{app.base_url}/account/login/")
    page.get_by_label("E-mail").fill(app.tenant.owner.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def open_add(page: Page, app: App) -> None:
    """The page where one is added, with the password written once more."""
    sign_in(page, app)
    page.goto(f"{app.base_url}{ADD}")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Add a passkey")).to_be_visible()


def add(page: Page, app: App, name: str = "Blue key") -> None:
    open_add(page, app)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def sign_out(page: Page) -> None:
    page.context.clear_cookies()


def test_a_passkey_is_added_used_and_removed(page: Page, named: App, key: Key) -> None:
    add(page, named)
    sign_out(page)
    enter_password(page, named)
    page.get_by_role("button", name="Use passkey").click()
    is_inside(page, named)
    sign_out(page)
    page.goto(f"{named.base_url}/account/login/?next={FACTORS}")
    page.get_by_role("button", name="Sign in with a passkey").click()
    row = page.get_by_role("listitem").filter(has_text="Blue key")
    expect(row).to_contain_text("Replaces your password")
    expect(row).to_contain_text("used just now", ignore_case=True)
    row.get_by_role("link", name="Remove").click()
    page.get_by_role("link", name="Use a passkey").click()
    page.get_by_role("button", name="Use passkey").click()
    expect(page.get_by_text("with your password only")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Passkey removed.")).to_be_visible()
    assert not Authenticator.objects.filter(user=named.tenant.owner).exists()


def test_the_email_field_offers_the_passkey(page: Page, named: App, offered_key: Key) -> None:
    """Nothing is pressed on the page. Where the person was going is kept."""
    add(page, named)
    sign_out(page)
    page.goto(f"{named.base_url}/account/login/?next={FACTORS}")
    expect(page.get_by_role("listitem").filter(has_text="Blue key")).to_contain_text("used just now", ignore_case=True)


def test_the_button_replaces_the_passkey_autofill(page: Page, named: App, offered_key: Key) -> None:
    add(page, named)
    sign_out(page)
    offered_key.is_touched(at_once=False)
    with page.expect_response("**/webauthn/login/"):
        page.goto(f"{named.base_url}/account/login/")
    expect(page.get_by_label("E-mail")).to_have_attribute("autocomplete", "username webauthn")
    release = hold_back(page, "**/webauthn/login/")
    button = page.get_by_role("button", name="Sign in with a passkey")
    button.click()
    # What the field asked has come to its end, and the button's own question isn't put yet.
    expect(button).to_be_disabled()
    offered_key.is_touched()
    release()
    is_inside(page, named)


def test_a_removed_passkey_is_refused_with_an_alternative(page: Page, named: App, key: Key) -> None:
    add(page, named)
    Authenticator.objects.filter(user=named.tenant.owner).delete()
    sign_out(page)
    page.goto(f"{named.base_url}/account/login/?next={FACTORS}")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("This passkey isn’t registered here")).to_be_visible()
    expect(page).to_have_url(f"{named.base_url}/account/login/?next=%2Faccount%2F2fa%2F")


def test_a_cloned_passkey_is_refused_with_an_alternative(page: Page, named: App, key: Key) -> None:
    """WebAuthn, section 6.1.1: what a copy counts from is behind what the key itself has said since."""
    add(page, named)
    for _ in range(2):
        sign_out(page)
        page.goto(f"{named.base_url}/account/login/")
        page.get_by_role("button", name="Sign in with a passkey").click()
        is_inside(page, named)
    sign_out(page)
    key.counts_from(1)
    page.goto(f"{named.base_url}/account/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("This passkey may have been copied")).to_be_visible()


def test_a_dismissed_prompt_can_be_opened_again(page: Page, named: App, key: Key) -> None:
    """Nothing of it was kept, here or there."""
    open_add(page, named)
    key.answers(is_there=False)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("No passkey was created")
    key.answers(is_there=True)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert Authenticator.objects.filter(user=named.tenant.owner, type="webauthn").count() == 1


def test_a_browser_without_passkeys_shows_an_alternative(page: Page, named: App, key: Key) -> None:
    page.goto(f"{named.base_url}/account/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("Or sign in with e-mail and password.")


def test_a_device_is_not_added_twice(page: Page, named: App, key: Key) -> None:
    add(page, named)
    open_add(page, named)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("already added this device or key")


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        ("isSecureContext", "Open this page with https"),
        ("PublicKeyCredential", "This browser doesn’t support passkeys."),
    ],
)
def test_missing_requirements_are_shown(page: Page, named: App, lack: str, words: str) -> None:
    page.goto(f"{named.base_url}/account/login/")
    page.evaluate(f"Object.defineProperty(window, '{lack}', {{ value: false }})")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text(words)


def test_an_ip_address_links_to_the_host_name(page: Page, app: App, named: App) -> None:
    page.goto(f"{app.base_url}/account/login/?next={FACTORS}")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("link", name="Sign in on localhost").click()
    expect(page).to_have_url(f"{named.base_url}/account/login/?next={FACTORS}")


def test_the_passkey_pages_are_accessible(page: Page, named: App, key: Key, complaints: Complaints) -> None:
    """Light and dark, at a desk and on a phone: none is wider than the phone."""
    add(page, named, name="A key with a name that is as long as names of keys can be, and that is eighty")
    mine = Authenticator.objects.get(user=named.tenant.owner, type="webauthn").pk
    found, places = [], (FACTORS, ADD, f"{FACTORS}webauthn/keys/{mine}/edit/", f"{FACTORS}webauthn/keys/{mine}/remove/")
    for place in places:
        page.goto(f"{named.base_url}{place}")
        said = findings(page)
        # In the dark only the colours are others.
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        said += findings(page, "color-contrast")
        page.set_viewport_size(PHONE)
        said += ["wider than a phone"] * page.evaluate("document.documentElement.scrollWidth > innerWidth")
        page.set_viewport_size(DESK)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        found += [f"{place}: {line}" for line in said]
    assert found == []
