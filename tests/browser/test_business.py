"""A business at work: its first day, its agent's settings, colleagues, keys, bookings, the administration."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from conversations.models import Message, MessageRole
from projects.agents.services import save_agent
from projects.models import AgentVersion, Attribute, Project, User
from tests.browser.conftest import App, Complaints, open_page, settle
from tests.browser.talk import turn_title
from tests.conftest import PASSWORD, Tenant
from tests.processes import free_port
from tests.tools.messaging.conftest import source_of
from tools.models import Booking, BookingState
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.search import new_search
from tools.services.bookings.services import Guest, book
from tools.services.signed_links import booking_token

pytestmark = pytest.mark.browser

# Messages highlighted after a click. The highlight lasts only a moment.
LIT_BY_FACT = """() => {
  document.querySelector("#facts [data-message]").click();
  return document.querySelector("#chat .cv-lit").innerText;
}"""


def test_a_new_user_signs_up_and_talks_to_their_agent(page: Page, app: App) -> None:
    page.goto(f"{app.base_url}/account/login/")
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("E-mail").fill(f"ada@{app.tenant.project.slug}.example")
    page.get_by_label("Password").fill("seven green bottles")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_label("What’s your business called?").fill("Praxis Lindenhof")
    page.locator("label", has_text=re.compile(r"^\s*Clinic")).click()
    page.get_by_role("button", name="Talk to my agent").click()
    opener = page.locator("#openers button").first
    expect(opener).to_contain_text("appointment")
    opener.click()
    expect(page.locator(".mg-msg:not(.me) p").first).to_contain_text("Praxis Lindenhof")
    expect(turn_title(page)).to_contain_text("Done in")


def test_sign_in_refuses_a_wrong_password_and_keeps_the_destination(page: Page, app: App) -> None:
    """The administration, through the one door; there an attribute is changed under the strict policy."""
    page.goto(f"{app.base_url}/admin/")
    page.get_by_label("E-mail").fill(app.tenant.owner.email)
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("E-mail")).to_have_value(app.tenant.owner.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("banner")).to_contain_text("Nello")
    page.goto(f"{app.base_url}/admin/projects/attribute/")
    page.get_by_role("link", name="Add attribute").click()
    page.get_by_label("Key").fill("greeting")
    page.get_by_label("Type").select_option("str")
    page.get_by_label("value").fill("Buonasera")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist")).to_contain_text("was added successfully")
    with app.tenant.tx():
        assert Attribute.objects.get(key="greeting").value == "Buonasera"


def test_a_colleague_joins_by_invitation_link(page: Page, app: App) -> None:
    email = f"lena@{app.tenant.project.slug}.example"
    open_page(page, app, "members")
    page.get_by_label("E-mail").fill(email)
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_label(f"Link for {email}").input_value()
    page.get_by_role("button", name="account menu").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    # Made for the address that people see; the test's server listens elsewhere.
    page.goto(app.base_url + "/invitations/" + link.rsplit("/", 1)[1])
    page.get_by_label("Your name").fill("Lena Brandt")
    page.get_by_label("Password").fill("seven green bottles")
    page.get_by_role("button", name="Create account and join").click()
    expect(page.get_by_role("button", name="Lena Brandt, account menu")).to_be_visible()


def test_an_api_key_is_created_copied_and_revoked(page: Page, app: App) -> None:
    open_page(page, app, "keys")
    page.get_by_label("Name", exact=True).fill("Website")
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("textbox", name="New key")).to_have_value(re.compile(r"^mg_[0-9a-f]{8}_[\w-]{43}$"))
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name=re.compile("Copied|Press Ctrl C"))).to_be_visible()
    page.get_by_role("button", name="Revoke Website").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-row=Website]")).to_contain_text("Never used")
    page.get_by_role("button", name="Revoke Website").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.locator("[data-row=Website]")).to_contain_text("Revoked")


def test_scenarios_are_added_moved_and_saved(page: Page, app: App) -> None:
    """A new scenario with two steps, moved to the front of its list, and a step taken out of another one."""
    open_page(page, app, "agent/scenarios")
    page.get_by_role("button", name="Remove step").first.click()
    page.get_by_role("button", name="Scenario", exact=True).click()
    new = page.locator("details").last
    new.get_by_label("Title").fill("Gift vouchers")
    new.get_by_label("Step", exact=True).fill("Ask for the amount.")
    new.get_by_role("button", name="Step", exact=True).click()
    new.get_by_label("Step", exact=True).last.fill("Ask for the name.")
    new.get_by_role("button", name="Move step up").last.click()
    new.get_by_role("button", name="Move scenario up").click()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Draft saved")).to_be_visible()
    scenarios = second_version(app).config.scenarios
    assert [len(scenario.steps) for scenario in scenarios] == [5, 3, 5, 4, 2, 3]
    assert scenarios[4].title == "Gift vouchers"
    assert [step.text for step in scenarios[4].steps] == ["Ask for the name.", "Ask for the amount."]


def test_a_refused_step_is_scrolled_into_view(page: Page, app: App, complaints: Complaints) -> None:
    """Only what is inside scrolls: labels that are read out alone made the page longer than the window."""
    complaints.provoke("422")
    open_page(page, app, "agent/scenarios")
    last = page.locator("details.ag-sc").last
    last.locator("summary").click()
    last.get_by_label("Tools").last.fill("no_such_tool")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("There is no tool 'no_such_tool'.")).to_be_in_viewport()
    assert page.evaluate("[document.scrollingElement.scrollHeight - innerHeight, scrollY]") == [0, 0]


def test_a_second_time_span_is_saved_and_a_model_tested(page: Page, app: App) -> None:
    """A span added by the script is read as one of its day; a model is tried without leaving the page."""
    open_page(page, app, "agent/hours")
    page.get_by_role("button", name="Add hours on Saturday").click()
    page.locator("[data-day=sat] input").nth(1).fill("15:00")
    page.locator("[data-day=sat] input").nth(2).fill("18:00")
    page.locator("[data-day=sat] input").nth(3).fill("23:00")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_text("Draft saved")).to_be_visible()
    assert second_version(app).config.hours["sat"] == [("12:00", "15:00"), ("18:00", "23:00")]
    page.get_by_role("link", name="Models").click()
    page.get_by_role("button", name="Test the Reply model").click()
    expect(page.locator("#trial")).to_contain_text("answered in")


def test_a_draft_is_tried_in_the_playground_and_published(page: Page, app: App) -> None:
    app.model.script("reply", text="Good evening.")
    open_page(page, app, "agent")
    page.get_by_label("Agent name").fill("Bruno")
    page.get_by_role("button", name="Save draft").click()
    # The answer to the form would replace the page that the link leads to.
    expect(page.get_by_role("heading", name="Not published yet")).to_be_visible()
    page.get_by_role("link", name="Try", exact=True).click()
    expect(page.get_by_role("button", name="Draft", exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Message as the customer").fill("Hello")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text("Good evening.")
    assert app.model.requests("reply")[-1]["messages"][0]["content"].startswith("You are Bruno,")
    open_page(page, app, "agent/publish")
    page.get_by_label("Note for the version history").fill("Nello left")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Version 3 is live.")).to_be_visible()


def test_a_published_version_is_rolled_back_in_one_step(page: Page, app: App) -> None:
    before = live_version(app).config.agent_name
    open_page(page, app, "agent")
    page.get_by_label("Agent name").fill("Bruno")
    page.get_by_role("button", name="Save draft").click()
    page.get_by_role("link", name="Publish", exact=True).click()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("Version 3 is live.")).to_be_visible()
    assert live_version(app).config.agent_name == "Bruno"
    page.get_by_role("link", name="History").first.click()
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_role("row").filter(has_text="Restored version 1")).to_contain_text("Live")
    assert live_version(app).config.agent_name == before


def live_version(app: App) -> AgentVersion:
    with app.tenant.tx():
        found = Project.objects.select_related("agent_version").get(pk=app.tenant.project.pk).agent_version
    assert found is not None
    return found


def second_version(app: App) -> AgentVersion:
    with app.tenant.tx():
        return AgentVersion.objects.get(number=2)


def test_a_mail_server_is_connected_tested_and_disconnected(page: Page, app: App) -> None:
    """Nothing listens at the address, and trying it says so."""
    open_page(page, app, "agent/integrations")
    card = page.get_by_role("region", name="E-mail (SMTP)")
    card.get_by_text("Connect", exact=True).first.click()
    server = {"Server": "127.0.0.1", "Port": str(free_port()), "From": "hello@nello.example"}
    for label, value in {**server, "User": "agent", "Password": "a-long-password"}.items():
        card.get_by_label(label, exact=True).fill(value)
    card.get_by_role("button", name="Connect").click()
    expect(page.get_by_text("E-mail (SMTP) connected.")).to_be_visible()
    expect(card.get_by_text("••••word")).to_be_visible()
    card.get_by_label("Send a test to").fill("me@example.org")
    card.get_by_role("button", name="Send test").click()
    expect(card.get_by_text("nothing was sent")).to_be_visible()
    card.get_by_text("Edit connection").click()
    card.get_by_role("button", name="Disconnect").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("E-mail (SMTP) disconnected.")).to_be_visible()
    assert source_of(app.tenant, "smtp") is None


@pytest.mark.requirement("T17")
def test_staff_follow_a_conversation_live(page: Page, app: App) -> None:
    """The page shows each learned fact with a link to its source message."""
    begun = app.call("/conversations", {"channel": "chat", "persona": {"external_id": "guest"}})
    open_page(page, app, "inbox")
    page.get_by_role("link", name=re.compile("Unnamed customer")).click()
    expect(page.locator("#chat-empty")).to_be_visible()
    said = {"content": "Hi, my name is Giulia Ferri. Do you have a table for four?"}
    app.call(f"/conversations/{begun['id']}/messages", said)
    settle()
    with app.tenant.tx():
        reply = Message.objects.get(role=MessageRole.AGENT).content
    expect(page.get_by_role("log")).to_contain_text("Giulia Ferri")
    expect(page.get_by_role("log")).to_contain_text(reply[:20])
    expect(page.locator("#facts")).to_contain_text("Giulia Ferri")
    expect(page.locator("#directives")).to_contain_text("written after turn 1")
    assert "my name is Giulia" in page.evaluate(LIT_BY_FACT)


def test_a_customer_moves_and_cancels_a_booking_on_a_phone(phone_page: Page, app: App) -> None:
    page = phone_page
    booking = book_table(app.tenant)
    page.goto(f"{app.base_url}/b/{booking_token(booking)}")
    expect(page.get_by_text(booking.code)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_label("People").select_option("2")
    page.wait_for_url("**people=2**")
    time = page.get_by_role("radio").last
    moved_to = time.get_attribute("value")
    time.check()
    page.get_by_role("button", name="Move booking").click()
    expect(page.get_by_role("status")).to_contain_text("Booking moved")
    assert now(app.tenant, booking).starts_at == datetime.fromisoformat(moved_to or "")

    page.get_by_text("Cancel booking").click()
    page.get_by_role("button", name="Yes, cancel").click()
    expect(page.get_by_text("You canceled this booking")).to_be_visible()
    assert now(app.tenant, booking).state == BookingState.CANCELLED


def test_saving_one_resource_keeps_unsaved_edits_of_others(page: Page, app: App) -> None:
    """Each row is saved by itself; the page that comes back loses nothing of the others, nor of one that was refused."""
    open_page(page, app, "resources")
    page.get_by_label("Name of Table 1", exact=True).fill("Veranda")
    page.get_by_label("Minutes of Table 2", exact=True).fill("75")
    page.get_by_role("button", name="Save Table 2", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Table 2 saved.")
    expect(page.get_by_label("Name of Table 1", exact=True)).to_have_value("Veranda")
    page.get_by_label("Name of Table 1", exact=True).fill("Table 2")
    page.get_by_role("button", name="Save Table 1", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Another resource has this name")
    expect(page.get_by_label("Name of Table 1", exact=True)).to_have_value("Table 2")


def book_table(tenant: Tenant) -> Booking:
    """For four, at the first free time of the first open day after tomorrow."""
    at = timezone.now()
    with tenant.tx():
        project = Project.objects.select_related("agent_version").get(pk=tenant.project.pk)
        search = new_search(project, BookingRequest(4), now=at)
        day = next(search.opening.open_days(search.today + timedelta(days=1), within=20))
        return book(project, BookingRequest(4), starts_at=search.free_starts(day)[0], guest=Guest("Ada"), now=at)


def now(tenant: Tenant, booking: Booking) -> Booking:
    with tenant.tx():
        return Booking.objects.get(pk=booking.pk)


def test_the_history_on_a_phone_shows_the_state_of_a_version_beside_its_button(phone_page: Page, app: App) -> None:
    """In German, whose button is the longest."""
    tenant, config = app.tenant, app.tenant.project.agent_version
    assert config
    with tenant.tx():
        for style in ("Short.", "Shorter."):
            save_agent(
                tenant.project, config=config.config.model_copy(update={"style": style}), author=None, is_draft=True
            )
    User.objects.filter(pk=tenant.owner.pk).update(language="de")
    open_page(phone_page, app, "agent/history")
    row = phone_page.locator(".ag-history tbody tr").nth(1)
    state, button = row.locator(".mg-st").bounding_box(), row.get_by_role("button").bounding_box()
    assert state
    assert button
    assert state["y"] + state["height"] <= button["y"] or state["x"] + state["width"] <= button["x"]
    expect(phone_page.locator(".ag-history th").nth(1)).to_have_text("Bis")
    expect(phone_page.locator(".ag-history th").nth(1)).to_be_visible()
