"""From a tool that somebody writes to a promise that is kept: the pages of the tool caller in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from conversations.followups.waits import open_wait
from conversations.live.event_log import open_log
from conversations.models import Turn
from projects.models import Member
from tests.browser.conftest import App, Complaints, hold_back, open_page
from tests.browser.talk import converse, say, send, turn_title
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, talk
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoSource, TodoStatus
from todos.services import make_todo
from tools.engine.custom import service
from tools.models import CustomTool, Effect, EffectState, KeptCase, Promise, Verdict

pytestmark = pytest.mark.browser

NAME = "notify_kitchen_tool"
KITCHEN = "Of course. I'm letting the kitchen know right away that one of you is vegan."
TELLS = {
    "description": "Tells the kitchen about an allergy or a diet.",
    "conditions": {
        "agentPromised": {
            "type": "boolean",
            "description": "The agent commits, in this answer, to tell the kitchen now.",
        }
    },
    "useConversationHistory": False,
    "action": {"type": "send_urgent_message", "options": {"message": "The kitchen knows about it."}},
}
# What the page said that the agent waits for; it says so for as long as that lasts.
KEEP_WAITS = """
  window.waits = "";
  const place = document.getElementById("waiting");
  new MutationObserver(() => { waits += place.innerText; }).observe(place, {subtree: true, childList: true, attributes: true});
"""


def save_tool(tenant: Tenant, **changes: Any) -> None:
    with tenant.tx():
        service.save(tenant.project, name=NAME, document={**TELLS, **changes}, author=Member.objects.get())


def write_json(page: Page, text: str) -> None:
    page.get_by_role("button", name="JSON").click()
    page.get_by_label("Definition as JSON").fill(text)


@pytest.mark.requirement("N50")
def test_a_tool_made_in_the_editor_works_on_the_next_turn(page: Page, app: App) -> None:
    """Mistakes stand beside their place while one writes; what is saved fires in the very next reply."""
    open_page(page, app, "tools/custom/new")
    page.get_by_label("Name", exact=True).fill(NAME)
    write_json(
        page, '{\n  "description": "Tells the kitchen.",\n  "conditions": {"agentPromised": {"type": "text"}}\n}'
    )
    expect(page.locator("#problems")).to_contain_text("Line 3, column 36 conditions.agentPromised.type")
    page.get_by_role("button", name="Form").click()
    page.get_by_label("Then", exact=True).select_option("Send the agent a message")
    page.get_by_label("Description of agentPromised").fill(
        "The agent commits, in this answer, to tell the kitchen now."
    )
    page.get_by_label("Message", exact=True).fill("The kitchen knows about it.")
    expect(page.locator("#check")).to_contain_text("error")
    write_json(page, page.get_by_label("Definition as JSON").input_value().replace('"text"', '"boolean"'))
    page.get_by_role("button", name="Form").click()
    page.get_by_label("Reads").select_option("Latest reply")
    expect(page.locator("#check")).to_contain_text("Valid")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Version 1, saved by")).to_be_visible()
    # What is sent before the page's script is there goes out when it is.
    release = hold_back(page, "**/js/playground.js")
    page.get_by_role("link", name="Playground").click()
    app.model.script("reply", match="One of us is vegan.", text=KITCHEN)
    send(page, "One of us is vegan.")
    release()
    # The agent speaks by itself when the tool has run; until then the inspector follows the newest turn.
    expect(turn_title(page)).to_contain_text(re.compile(r"Turn 2\s*Done in"))
    page.locator("#chat").get_by_role("button", name="Turn 1").click()
    expect(page.locator(f"[data-verdict={NAME}]")).to_contain_text("Fired")
    page.get_by_role("tab", name="Effects").click()
    expect(page.locator(f"[data-effect={NAME}]")).to_contain_text("Done")


@pytest.mark.requirement("N33", "N36")
def test_a_trial_marks_the_words_and_sends_nothing(page: Page, app: App, tenant: Tenant) -> None:
    """It marks firing and held verdicts in the reply, shows the exact request, and can be kept as a case."""
    webhook = {
        "type": "send_webhook",
        "options": {
            "url": "https://kitchen.example/notes",
            "body": {
                "type": "object",
                "properties": {"note": {"type": "string", "description": "What to know"}},
                "required": ["note"],
            },
        },
    }
    save_tool(tenant, action=webhook)
    open_page(page, app, f"tools/{NAME}")
    expect(page.locator("#check")).to_contain_text("Valid")
    page.get_by_label("Agent reply").fill(f"{KITCHEN} I can also text you the details.")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.locator(f"[data-verdict={NAME}]")).to_contain_text("Would fire")
    expect(page.locator("[data-verdict=send_sms_tool]")).to_contain_text("Held back")
    marks = page.locator("#try-result mark")
    expect(marks.first).to_contain_text("letting the kitchen know")
    expect(marks.first).to_have_attribute("data-s", "ok")
    expect(marks.last).to_have_attribute("data-s", "warn")
    expect(page.locator(f"[data-preview={NAME}] pre")).to_contain_text("POST https://kitchen.example/notes")
    expect(page.locator(f"[data-preview={NAME}] pre")).to_contain_text("webhook-signature: ••••")
    page.get_by_role("button", name="Keep as a test case").click()
    expect(page.get_by_role("button", name="Kept")).to_be_visible()
    with tenant.tx():
        assert KeptCase.objects.get().expected == {NAME: "fired", "send_sms_tool": "offer"}
        assert not Effect.objects.exists()


def test_a_rehearsal_shows_which_verdicts_change(page: Page, app: App, tenant: Tenant) -> None:
    """The edited tool over what was said before: it would fire where it did not exist then."""
    app.model.script("reply", match="One of us is vegan.", text=KITCHEN)
    converse(app, "One of us is vegan.", "Are you open on Sunday?")
    save_tool(tenant)
    open_page(page, app, f"tools/{NAME}?tab=rehearsal")
    expect(page.locator("#rehearsal")).to_be_visible()
    page.get_by_role("button", name="Rehearse").click()
    changed = page.locator("[data-changed]")
    expect(page.locator("#rehearsal-result")).to_contain_text("1 reply would get a different verdict.")
    expect(page.locator("#rehearsal-result")).to_contain_text("2 replies read.")
    expect(changed).to_contain_text("Would fire")
    expect(changed.locator("mark")).to_contain_text("letting the kitchen know")


def test_concurrent_edits_of_a_tool_show_their_differences(
    page: Page, app: App, tenant: Tenant, complaints: Complaints
) -> None:
    complaints.provoke("status of 409")
    save_tool(tenant)
    open_page(page, app, f"tools/{NAME}")
    expect(page.locator("#check")).to_contain_text("Valid")
    page.get_by_label("Description", exact=True).fill("Tells the chef.")
    save_tool(tenant, description="Tells the baker.")
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="Someone else saved this tool")
    expect(dialog.locator(".del")).to_contain_text("Tells the baker.")
    expect(dialog.locator(".add")).to_contain_text("Tells the chef.")
    dialog.get_by_role("button", name="Save mine over version 2").click()
    expect(page.get_by_text("Version 3, saved by")).to_be_visible()
    with tenant.tx():
        assert CustomTool.objects.get().definition["description"] == "Tells the chef."


def test_an_unknown_outcome_is_answered_with_one_key(page: Page, app: App, tenant: Tenant) -> None:
    """Nothing is repeated until a person says so, and what they say decides the promise too. A key that is pressed before
    the page's script is there counts.
    """
    row = talk(tenant, "Could you text me the address?", name="Paolo Conti")
    effect = add_effect(tenant, row, state=EffectState.UNKNOWN, error="The connection broke after 1.9 s.", attempts=1)
    add_promise(tenant, row, "I’ll text you the address.", effect=effect, tool="send_sms_tool")
    release = hold_back(page, "**/js/ledger.js")
    open_page(page, app, "promises", until="commit")
    expect(page.locator("#questions")).to_contain_text("The connection broke after 1.9 s.")
    expect(page.get_by_role("link", name="Effects")).to_contain_text("1")
    page.keyboard.press("y")
    release()
    expect(page.get_by_role("status")).to_contain_text("Marked as done.")
    expect(page.locator("#questions")).to_have_count(0)
    expect(page.locator("[data-promise=Kept]")).to_contain_text("I’ll text you the address.")
    with tenant.tx():
        effect.refresh_from_db()
    assert effect.state == EffectState.DONE
    assert effect.resolved_by is not None


def test_the_inspector_shows_what_was_not_sent_and_a_verdict_without_words(
    page: Page, app: App, tenant: Tenant
) -> None:
    words = "Could you text me the details?"
    conversation = converse(app, "Hello", words, is_test=True, name="Giulia Ferri", phone="+39 347 555 0142")
    with tenant.tx():
        turn = Turn.objects.filter(conversation_id=conversation).order_by("seq").last()
        assert turn is not None
        Verdict.objects.create(
            conversation_id=turn.conversation_id,
            turn_id=turn.pk,
            tool="create_booking_tool",
            fired=False,
            rule="no_words",
        )
    open_page(page, app, f"playground?conversation={conversation}")
    expect(page.locator("[data-verdict=create_booking_tool]")).to_contain_text("Not mentioned")
    page.get_by_role("tab", name="Promises").click()
    promise = page.locator("#promises [data-promise=open]")
    expect(promise).to_contain_text("Not sent")
    expect(promise).not_to_contain_text("Unassigned")


def test_the_transcript_marks_each_promise_with_its_number_state_and_owner(
    page: Page, app: App, tenant: Tenant
) -> None:
    """A promise that only a person can keep is amber, and names who has it. What is no promise is not marked."""
    kept, left = "I’ll text you the address.", "I’ll ask the chef about the nuts."
    app.model.script("reply", text=f"You said “please call me”. {kept} {left}")
    app.model.script("detect", times=0, json={"verdicts": [], "unserved": []})
    conversation = converse(app, "Hello")
    with tenant.tx():
        turn = Turn.objects.get(conversation_id=conversation)
        given = {
            "project_id": tenant.project.pk,
            "conversation_id": turn.conversation_id,
            "due_at": timezone.now() + timedelta(hours=1),
        }
        said = {**given, "turn_id": turn.pk, "message_id": turn.reply_id}
        Verdict.objects.create(
            conversation_id=turn.conversation_id,
            turn_id=turn.pk,
            tool="schedule_callback",
            fired=False,
            rule="quotation",
            quote="please call me",
        )
        Promise.objects.create(**said, quote=kept, tool="send_sms_tool", state="kept", evidence="effect", owner="")
        asked = Promise.objects.create(**said, quote=left, owner="staff")
        todo = make_todo(
            tenant.project,
            description="Ask the chef.",
            source=TodoSource.PROMISE,
            actor=AGENT,
            promise=asked,
            conversation_id=turn.conversation_id,
        )
    open_page(page, app, f"conversations/{conversation}")
    marks, rows = page.locator("#chat mark"), page.locator(".pg-made > li")
    expect(marks).to_have_count(2)
    expect(marks.first).to_have_text(re.compile("I’ll text you the address.*1$"))
    expect(marks.first).to_have_attribute("data-s", "ok")
    expect(marks.last).to_have_attribute("data-s", "warn")
    expect(rows.first).to_have_text(re.compile(r"^1\s*Kept$"))
    expect(rows.last).to_have_text(re.compile(r"^2\s*Open\s*Unassigned$"))
    with tenant.tx():
        Todo.objects.filter(pk=todo.pk).update(taker="Lucia", status=TodoStatus.IN_PROGRESS, status_at=timezone.now())
    page.reload()
    expect(rows.last.get_by_role("link", name="Assigned to Lucia")).to_have_attribute("href", re.compile(f"{todo.pk}$"))


@pytest.mark.requirement("T24")
def test_a_stale_response_does_not_end_a_wait(page: Page, app: App, tenant: Tenant) -> None:
    """Answers overtake events; the newest word about a wait counts."""
    conversation = converse(app, "Hello", is_test=True)
    open_page(page, app, f"playground?conversation={conversation}")
    expect(turn_title(page)).to_contain_text("Done in")
    late: list[Callable[[], None]] = []

    def keep(route: Route) -> None:
        read_before = route.fetch()
        late.append(lambda: route.fulfill(response=read_before))

    page.route(f"**/conversations/{conversation}", keep, times=1)
    say(page, "Thank you")
    while not late:
        page.wait_for_timeout(20)
    with tenant.tx(), open_log(UUID(conversation)) as log:
        open_wait(log, reason="check_availability_tool", seconds=600)
    expect(page.locator("#waiting")).to_be_visible()
    late.pop()()
    page.evaluate(
        "fetch(location.href).then(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))"
    )
    expect(page.locator("#waiting")).to_be_visible(timeout=1)


@pytest.mark.requirement("T22", "T26", "T27")
def test_five_turns_show_what_the_agent_waits_for(page: Page, app: App, tenant: Tenant) -> None:
    """Routing, phone, name, the code-phrase while a result is awaited, and the result told unasked. One click
    keeps the reply with the code-phrase as a regression case.
    """
    open_page(page, app, "playground")
    said = page.locator("#reading .pg-said")
    say(page, "Hello, I'd like to book a table for four on Friday")
    expect(said).to_contain_text("Language: English")
    say(page, "Around 7 would be perfect")
    expect(page.locator(".mg-msg.sel > p")).to_contain_text("phone")
    say(page, "+39 347 555 0142")
    expect(said).to_contain_text("Phone")
    # Whichever call reads it off this message, and however often: the wait has to be seen.
    app.model.script("arguments", match="Giulia Ferri", ttft_ms=4_000, times=0)
    page.evaluate(KEEP_WAITS)
    send(page, "Giulia Ferri")
    expect(turn_title(page)).to_contain_text(re.compile(r"Turn 5\s*Done in"))
    expect(page.locator("#waiting")).to_be_hidden()
    assert "The agent is waiting for the result of check_availability_tool" in page.evaluate("waits")
    page.locator("#chat").get_by_role("button", name="Turn 4").first.click()
    expect(page.locator("#reading .mg-reading")).to_contain_text("Let me check availability for Friday at 7 PM")
    page.get_by_role("tab", name="Effects").click()
    expect(page.locator("[data-wait=result]")).to_contain_text("it arrived")
    expect(page.locator("[data-effect=check_availability_tool] li").last).to_contain_text("Reported to the agent")
    page.get_by_role("tab", name="Verdicts").click()
    page.get_by_role("button", name="Keep as a regression case").click()
    expect(page.get_by_role("button", name="Kept")).to_be_visible()
    with tenant.tx():
        kept = KeptCase.objects.get()
    assert kept.expected == {"check_availability_tool": "fired"}
    assert kept.conversation[-1] == {"role": "customer", "content": "Giulia Ferri"}
