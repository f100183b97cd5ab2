"""The widget in a real browser, on a business's page with a strict policy, with the real product behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from conversations.handover.operators import answer, take_over
from conversations.live.event_log import open_log
from conversations.models import Conversation, MessageRole, Turn
from conversations.models.event import EventType
from conversations.turns.services import start_conversation
from conversations.widget.bundle import widget_catalog
from conversations.widget.visitors import read_visitor
from projects.agents.services import save_agent
from projects.models.agent_config import AgentConfig
from projects.widget.theme import WidgetTheme
from tests.browser.conftest import App, Complaints, open_page
from tests.browser.payloads import PAYLOADS, block_of
from tests.browser.shop import Shop, open_shop
from tests.conversations.widget.conftest import Placed, place_widget
from tests.tools.orders.conftest import connect_shop
from tests.tools.orders.woocommerce_server import ANNA, WooCommerceServer, order
from tools.services.orders.lookup import Status

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shop(product: str) -> Iterator[Shop]:
    with open_shop(product) as shop:
        yield shop


@pytest.fixture
def placed(app: App, shop: Shop) -> Placed:
    """An online shop's widget, which has every capability that the script can show."""
    configure(app, vertical="ecommerce")
    return place_widget(app.tenant, origins=(shop.origin,), greeting="Ciao!")


def configure(app: App, **changes: object) -> None:
    with app.tenant.tx():
        project = app.tenant.project
        config = AgentConfig.model_validate({**project.agent_version.document, **changes})  # type: ignore[union-attr]
        save_agent(project, config=config, author=app.tenant.owner)


def launcher(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("^Chat with"))


def panel(page: Page) -> Locator:
    return page.get_by_role("dialog")


def say(page: Page, words: str) -> None:
    page.get_by_label("Your message").fill(words)
    page.get_by_label("Your message").press("Enter")


def log(page: Page) -> Locator:
    return page.get_by_role("group", name="Conversation with")


@pytest.mark.requirement("W03", "W04", "W11")
def test_a_visitor_sees_an_order_asks_for_a_person_and_gets_a_reply(
    page: Page, app: App, shop: Shop, placed: Placed, settings: Any
) -> None:
    """From the question to the colleague, under the page's strict policy, through a reload."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with WooCommerceServer() as store:
        store.script.orders = [order(727)]
        connect_shop(app.tenant, store.url)
        app.model.script("reply", tool_calls=[{"name": "lookup_order", "arguments": {}}])
        app.model.script("reply", text="It is on its way. " * 20, gap_ms=20)
        page.goto(shop.address(placed.key, shopper=placed.signed(shopper={"wp_user_id": ANNA, "name": "Anna"})))
        launcher(page).click()
        expect(panel(page)).to_contain_text("Ciao!")
        say(page, "Where is my order?")
        orders = page.get_by_role("list", name="Your orders")
        expect(orders).to_contain_text("Order 727")
        expect(log(page)).to_contain_text("It is on its way. It is on its way.")
    app.model.script("reply", tool_calls=[{"name": "escalate_to_human", "arguments": {"reason": "A refund."}}])
    app.model.script("reply", text="A colleague can help.")
    say(page, "I want my money back, from a person.")
    page.get_by_role("button", name="Connect me with a human").click()
    expect(page.get_by_label("Name")).to_have_value("Anna")
    page.get_by_role("button", name="Ask for a person").click()
    expect(page.get_by_role("alert").filter(has_text="Enter an e-mail")).to_be_visible()
    page.get_by_label("E-mail").fill("anna@example.com")
    page.get_by_role("button", name="Ask for a person").click()
    expect(log(page)).to_contain_text("Thanks. A colleague will reply here")
    answer_as_colleague(app, "Hello Anna, I am Lucia.")
    expect(log(page)).to_contain_text("Lucia joined the conversation.")
    expect(log(page)).to_contain_text("Hello Anna, I am Lucia.")
    said = log(page).inner_text()
    page.reload()
    expect(log(page)).to_contain_text("Hello Anna, I am Lucia.")
    assert log(page).inner_text() == said


def answer_as_colleague(app: App, words: str) -> None:
    owner = app.tenant.owner
    owner.first_name = "Lucia"
    owner.save()
    with app.tenant.tx():
        conversation = Conversation.objects.get()
        take_over(conversation.pk, by=owner)
    with app.tenant.tx():
        answer(conversation.pk, words, by=owner)


@pytest.mark.requirement("W11")
def test_a_reload_during_a_turn_shows_its_progress(
    page: Page, app: App, shop: Shop, placed: Placed, settings: Any
) -> None:
    """While the model has not said a word yet, and while a tool is waited for."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    app.model.script("reply", fault="hang")
    page.goto(shop.address(placed.key, shopper=placed.signed(shopper={"wp_user_id": ANNA})))
    launcher(page).click()
    say(page, "Hello?")
    expect(log(page)).to_contain_text("is writing")
    page.reload()
    expect(log(page)).to_contain_text("is writing")
    with WooCommerceServer() as store:
        store.script.may_answer.clear()
        connect_shop(app.tenant, store.url)
        app.model.script("reply", tool_calls=[{"name": "lookup_order", "arguments": {}}])
        app.model.script("reply", text="It is on its way.")
        say(page, "Where is my order?")
        expect(log(page)).to_contain_text("Looking it up")
        page.reload()
        expect(log(page)).to_contain_text("Looking it up")
    expect(log(page)).to_contain_text("It is on its way.")
    expect(log(page)).not_to_contain_text("Looking it up")
    expect(log(page)).not_to_contain_text("is writing")


def test_the_keyboard_opens_the_widget_and_focus_stays_inside(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    page.goto(shop.address(placed.key))
    launcher(page).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your message")).to_be_focused()
    stops = []
    for _ in range(12):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("document.activeElement.shadowRoot?.activeElement?.outerHTML.slice(0, 60) ?? 'the page'")
        )
    assert "the page" not in stops
    assert len(set(stops)) >= 3
    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()
    expect(launcher(page)).to_be_focused()


def test_a_long_paste_shows_an_error_and_is_not_truncated(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    """It stands there whole, and goes out once it is shorter."""
    page.goto(shop.address(placed.key))
    launcher(page).click()
    field, sentence = page.get_by_label("Your message"), "Too long: 4,001 of 4,000 characters."
    field.focus()
    page.keyboard.insert_text("a" * 4_001)
    expect(panel(page)).to_contain_text(sentence)
    field.press("Enter")
    expect(field).to_have_value("a" * 4_001)
    field.press("Backspace")
    expect(panel(page)).not_to_contain_text(sentence)
    field.press("Enter")
    expect(log(page)).to_contain_text("a" * 4_000)


def test_a_right_to_left_language_mirrors_the_panel(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    page.goto(shop.address(placed.key, lang="ar"))
    page.get_by_role("button", name=re.compile("تحدث")).click()
    frame = page.locator("[data-makegood] > [dir]")
    expect(frame).to_have_attribute("dir", "rtl")
    close, title = page.get_by_label("إغلاق المحادثة").bounding_box(), panel(page).locator("b").bounding_box()
    assert close is not None
    assert title is not None
    assert close["x"] < title["x"]


def test_messages_written_offline_are_sent_on_reconnect(
    page: Page, app: App, shop: Shop, placed: Placed, complaints: Complaints
) -> None:
    complaints.provoke("ERR_INTERNET_DISCONNECTED")
    app.model.script("reply", text="There you are.")
    page.goto(shop.address(placed.key))
    launcher(page).click()
    page.context.set_offline(True)
    try:
        say(page, "Are you there?")
        expect(page.get_by_role("status").filter(has_text="You’re offline")).to_be_visible()
        expect(log(page)).to_contain_text("Not sent.")
    finally:
        page.context.set_offline(False)
    expect(log(page)).to_contain_text("There you are.")
    expect(log(page)).not_to_contain_text("Not sent.")
    with app.tenant.tx():
        assert Conversation.objects.get().last_message == 2


@pytest.mark.requirement("W12", "W13")
def test_a_site_that_is_not_listed_is_told_so_in_the_console(
    page: Page, app: App, shop: Shop, complaints: Complaints
) -> None:
    """The browser keeps the refusal to itself: the widget can't read it."""
    complaints.provoke("CORS")
    complaints.provoke("net::ERR_FAILED")
    elsewhere = place_widget(app.tenant, origins=("https://shop.example",))
    with page.expect_console_message(lambda message: "list of sites" in message.text):
        page.goto(shop.address(elsewhere.key))
    expect(launcher(page)).to_have_count(0)


def test_unknown_malformed_and_disallowed_blocks_are_dropped(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    """Of four blocks one is shown: one type is unknown, one malformed, one's capability not the agent's."""
    app.model.script("reply", text="Good evening.")
    blocks = [
        {"type": "hologram", "text": "from the future"},
        {"type": "order_list", "orders": "none"},
        {"type": "article_card", "title": "Of a help centre"},
        {"type": "order_list", "orders": [{"number": "727"}]},
    ]
    page.goto(shop.address(placed.key))
    launcher(page).click()
    say(page, "Hello")
    expect(log(page)).to_contain_text("Good evening.")
    store(app, "Four blocks.", blocks)
    expect(log(page)).to_contain_text("Order 727")
    expect(log(page)).to_contain_text("Four blocks.")
    assert page.get_by_role("list", name="Your orders").count() == 1
    assert "Of a help centre" not in log(page).inner_text()
    assert "from the future" not in log(page).inner_text()


def store(app: App, content: str, blocks: list[dict[str, object]]) -> None:
    with app.tenant.tx(), open_log(Conversation.objects.get().pk) as opened:
        opened.add_message(MessageRole.AGENT, content, turn=None, idn="agent_message", blocks=blocks)


def test_a_visitors_draft_survives_the_end_of_the_reply(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    """The reply ends while the form is open. Its block comes from the database now, with the keys in another order."""
    app.model.script("reply", fault="hang")
    page.goto(shop.address(placed.key))
    launcher(page).click()
    say(page, "A person, please")
    expect(log(page)).to_contain_text("is writing")
    button = {"type": "escalation_button", "escalation": "x", "label": "Talk to a person"}
    with app.tenant.tx():
        turn = Turn.objects.get()
        with open_log(turn.conversation_id) as opened:
            opened.add_event("block", payload={"turn": str(turn.pk), "block": button}, type=EventType.BLOCK)
    page.get_by_role("button", name="Talk to a person").click()
    page.get_by_label("Name").fill("Anna")
    with app.tenant.tx(), open_log(turn.conversation_id) as opened:
        blocks = [dict(reversed(button.items()))]
        opened.add_message(MessageRole.AGENT, "A colleague can help.", turn=turn, idn="agent_message", blocks=blocks)
    expect(log(page)).to_contain_text("A colleague can help.")
    expect(page.get_by_label("Name")).to_have_value("Anna")
    # Ends the reply that hangs.
    app.model.script("reply", text="Good evening.")
    say(page, "Hello?")
    expect(log(page)).to_contain_text("Good evening.")


def test_sixty_payloads_neither_run_nor_load_anything(page: Page, app: App, shop: Shop, placed: Placed) -> None:
    """In what both say and in every text of every block, on a page without any policy of its own."""
    configure(app, vertical="ecommerce", openers=list(PAYLOADS[:3]))
    page.goto(shop.address(placed.key, is_strict=False))
    launcher(page).click()
    token = page.evaluate(f"JSON.parse(localStorage.getItem('makegood:{placed.key}')).token")
    seen: list[str] = []

    def note(request: Request) -> None:
        seen.append(request.url)

    page.on("request", note)
    tell_payloads(app, placed, token)
    page.reload()
    expect(log(page)).to_contain_text("The end.")
    expect(page.get_by_role("list", name="Your orders")).to_have_count(len(PAYLOADS))
    links = page.evaluate(
        "[...document.querySelector('[data-makegood]').shadowRoot.querySelectorAll('a')].map((a) => [a.href, a.rel])"
    )
    assert all(href.startswith(("http://", "https://")) for href, _ in links)
    assert {rel for _, rel in links} == {"noopener noreferrer nofollow"}
    texts = log(page).inner_text()
    assert all(payload.strip() in texts for payload in PAYLOADS if payload.isprintable())
    assert page.evaluate("window.ran") is None
    assert [url for url in seen if not url.startswith((shop.origin, shop.base, "data:,"))] == []
    page.remove_listener("request", note)


def tell_payloads(app: App, placed: Placed, token: str) -> None:
    """A conversation of the page's visitor that holds every payload, in words and in blocks."""
    visitor = read_visitor(token, placed.widget)
    with app.tenant.tx():
        conversation = start_conversation(
            app.tenant.project, channel="chat", external_id=visitor.name, known={}, metadata={}
        )
        with open_log(conversation.pk) as opened:
            for payload in PAYLOADS:
                opened.add_message(MessageRole.USER, payload, turn=None, idn="user_message")
                blocks = [block_of(kind, payload) for kind in ("escalation_button", "order_list", "article_card")]
                opened.add_message(MessageRole.AGENT, payload, turn=None, idn="agent_message", blocks=blocks)
                opened.add_message(
                    MessageRole.OPERATOR, payload, turn=None, idn="operator_message", author=payload[:80]
                )
            opened.add_message(MessageRole.AGENT, "The end.", turn=None, idn="agent_message")


def test_a_turn_that_ends_before_its_post_returns_shows_no_pending_reply(page: Page, app: App) -> None:
    """The stream overtakes the answer to a POST where a colleague takes the conversation over at once."""
    open_page(page, app, "widget")
    drafts = page.evaluate(
        """async () => {
          const { Talk } = await import("/static/widget/talk.js");
          const turn = { turn: "t1", status: "queued" };
          const message = { id: "m1", seq: 1, role: "user", content: "Hello", turn: "t1" };
          let talk;
          const post = async () => {
            talk.on_turn({ turn: "t1", status: "superseded" });
            return { conversation: "c1", message, turn };
          };
          talk = new Talk({ api: { post }, onChange() {}, onSession() {} });
          talk.conversation = "c1";
          await talk.say("Hello");
          return talk.drafts.size;
        }"""
    )
    assert drafts == 0


def test_a_conversation_started_elsewhere_is_shown_from_its_beginning(page: Page, app: App) -> None:
    """A shopper who writes on another device begins another one; its events don't go on behind those of the first."""
    open_page(page, app, "widget")
    asked = page.evaluate(
        """async () => {
          const { Api } = await import("/static/widget/api.js");
          const { Talk } = await import("/static/widget/talk.js");
          const asked = [];
          const answer = (status, body) => new Response(JSON.stringify(body), { status });
          let found;
          const second = new Promise((resolve) => (found = resolve));
          window.fetch = async (url, { headers }) => {
            const { pathname, searchParams } = new URL(url);
            if (pathname.endsWith("/session")) return answer(200, { token: "t", conversation: "c2", shopper: {} });
            asked.push([searchParams.get("conversation"), headers["Last-Event-ID"] ?? ""]);
            if (asked.length === 1) return answer(404, { error: { code: "no_conversation" } });
            found();
            return new Promise(() => {});
          };
          const memory = { get() {}, set() {} };
          const api = new Api({ base: "https://x.example", key: "k", memory, shopper: () => "" });
          const talk = new Talk({ api, onChange() {}, onSession() {} });
          Object.assign(talk, { conversation: "c1", lastId: "40" });
          talk.on_message({ id: "m1", seq: 1, role: "agent", content: "Of the first", turn: "t1" });
          talk.follow();
          await second;
          return [asked, talk.conversation, talk.messages.size];
        }"""
    )
    assert asked == [[["c1", "40"], ["c2", ""]], "c2", 0]


@pytest.mark.requirement("W09", "W10", "W11")
def test_a_reply_is_shown_while_it_is_written(page: Page, app: App) -> None:
    """By what has come of it; a newer attempt begins anew, and after its end nothing of it is added."""
    token = {"turn": "t", "attempt": 1, "offset": 0, "text": "Hel"}
    block = {"turn": "t", "block": {"type": "article_card"}}
    said = {"id": "m", "seq": 2, "role": "agent", "content": "Hello.", "turn": "t"}
    frames: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "Hello": [("token", token), ("token", token | {"offset": 3, "text": "lo"})],
        "Hey": [("token", token), ("token", token | {"text": "Hey"})],
        "Hi": [("token", token), ("token", token | {"attempt": 2, "text": "Hi"}), ("token", token | {"offset": 3})],
        "Hel with 1 block": [("tool_call", {"turn": "t", "tool": "x"}), ("block", block), ("token", token)],
        " while x runs": [("turn", {"turn": "t", "status": "replying"}), ("tool_call", {"turn": "t", "tool": "x"})],
        "nothing, superseded": [("token", token), ("turn", {"turn": "t", "status": "superseded"}), ("token", token)],
        "nothing, said": [("token", token), ("message", said), ("token", token), ("block", block)],
        "nothing, failed": [
            ("token", token),
            ("done", {"turn": "t", "status": "failed"}),
            ("tool_call", {"turn": "t"}),
        ],
        " written again": [("turn", {"turn": "t", "status": "failed"}), ("turn", {"turn": "t", "status": "queued"})],
    }
    open_page(page, app, "widget")
    seen = page.evaluate(
        """async (cases) => {
          const { Talk } = await import("/static/widget/talk.js");
          return cases.map((frames) => {
            const talk = new Talk({ onChange() {} });
            for (const [event, data] of frames) talk.received({ event, data });
            const draft = talk.drafts.get("t");
            return draft ? [draft.text, draft.blocks.length, draft.tool] : null;
          });
        }""",
        list(frames.values()),
    )
    expected = [
        ["Hello", 0, ""],
        ["Hey", 0, ""],
        ["Hi", 0, ""],
        ["Hel", 1, ""],
        ["", 0, "x"],
        None,
        None,
        None,
        ["", 0, ""],
    ]
    assert dict(zip(frames, seen, strict=True)) == dict(zip(frames, expected, strict=True))


def test_a_message_is_retried_with_its_key(page: Page, app: App) -> None:
    """After each kind of failure, so that the message is stored once."""
    open_page(page, app, "widget")
    tried = page.evaluate(
        """async () => {
          const { Refusal } = await import("/static/widget/api.js");
          const { Talk } = await import("/static/widget/talk.js");
          const hindered = [new TypeError("away"), new Refusal(401, {}), new Refusal(429, {}, "0.01")];
          return Promise.all(hindered.map(async (hindrance) => {
            const keys = [];
            const post = async (door, body, { once }) => {
              keys.push(once);
              if (keys.length === 1) throw hindrance;
              return { conversation: null, message: { id: "m1", seq: 1, role: "user", content: body.content }, turn: null };
            };
            const open = async () => ({ conversation: null, shopper: {} });
            const talk = new Talk({ api: { post, open }, onChange() {}, onSession() {} });
            await talk.say("Hello");
            if (hindrance instanceof TypeError) talk.resume();
            await new Promise((done) => setTimeout(done, 0));
            return [keys.length, new Set(keys).size, talk.outbox.length, talk.ordered().length];
          }));
        }"""
    )
    assert tried == [[2, 1, 0, 1]] * 3


@pytest.mark.requirement("W10")
def test_text_after_an_emoji_is_not_truncated(page: Page, app: App) -> None:
    """Offsets count code points."""
    open_page(page, app, "widget")
    text = page.evaluate(
        """async () => {
          const { Talk } = await import("/static/widget/talk.js");
          const talk = new Talk({ onChange() {} });
          talk.on_token({ turn: "t1", attempt: 1, offset: 0, text: "Hi 👋" });
          talk.on_token({ turn: "t1", attempt: 1, offset: 4, text: " there" });
          return talk.drafts.get("t1").text;
        }"""
    )
    assert text == "Hi 👋 there"


@pytest.mark.requirement("W04")
def test_an_order_status_is_shown_in_the_page_language(page: Page, app: App) -> None:
    """Every status of WooCommerce in every language of the widget; one that a shop has made up as it is."""
    open_page(page, app, "widget")
    found = page.evaluate(
        """async ([statuses, catalog]) => {
          const { statusIn } = await import("/static/widget/statuses.js");
          const { sayIn } = await import("/static/widget/words.js");
          return Object.keys(catalog).map((language) => statuses.map((status) => statusIn(status, sayIn(catalog, language))));
        }""",
        [[*get_args(Status), "out-for-delivery"], widget_catalog()],
    )
    assert [row[-1] for row in found] == ["out for delivery"] * len(found)
    assert all(len(set(row)) == len(row) for row in found)
    assert all(len({row[at] for row in found}) > len(found) / 2 for at in range(len(get_args(Status))))


def test_the_preview_uses_the_server_colors(page: Page, app: App) -> None:
    """WCAG 1.4.3: one rule in two languages, and the panel that is seen beside the form is the widget's own."""
    configure(app, openers=["Is there a table free?"])
    open_page(page, app, "widget")
    page.get_by_label("Color", exact=True).fill("#ffd400")
    host = page.locator("#preview [data-makegood]")
    expect(host).to_have_attribute("style", re.compile("--w-on: #1d1b17"))
    # The business is no shop, so no opener asks about an order.
    expect(host).to_contain_text("Is there a table free?")
    expect(host.locator(".orders")).to_have_count(0)
    brands = ["#000000", "#ffffff", "#7b2d26", "#ffd400", "#808080", "#2b4acb"]
    module = page.evaluate(
        "async (brands) => brands.map((await import('/static/js/widget/palette.js')).palette)", brands
    )
    assert module == [WidgetTheme(brand=brand).palette() for brand in brands]
