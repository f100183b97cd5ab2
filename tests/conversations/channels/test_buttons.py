"""Blocks of a reply in a messenger: buttons whose press is the customer's message, once."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.channels.blocks import show_blocks
from conversations.channels.provider import Button, OutgoingPart
from conversations.channels.twilio import MESSAGES
from conversations.channels.whatsapp_messages import MOST_ROWS, interactive
from conversations.models import Conversation, Message, MessageRole
from tests.conversations.channels.conftest import ANNA, Bot
from tests.conversations.channels.graph_server import Line, text
from tests.conversations.channels.twilio_number import Number
from tests.processes import ScriptedModel, until
from tools.models import Escalation

pytestmark = pytest.mark.standing_worker

LABEL = "Talk to a person"


def offer_person(model: ScriptedModel) -> None:
    """Let the agent offer a person in its next reply."""
    model.script_tool(
        "escalate_to_human",
        {"reason": "The wedding"},
        asked="I plan a wedding.",
        told="asked to take over",
        reply="A colleague can help.",
    )


def press(bot: Bot, number: int = 9, *, message: int = 901) -> Any:
    """Press the button below a message of ours."""
    keyboard = bot.telegram.of("sendMessage")[0]["reply_markup"]
    below = {"message_id": message, "chat": {"id": 77, "type": "private"}, "date": 1, "reply_markup": keyboard}
    data = keyboard["inline_keyboard"][0][0]["callback_data"]
    query = {"id": f"q{number}", "from": ANNA, "message": below, "data": data}
    return bot.deliver({"update_id": number, "callback_query": query})


def states(rows: list[Any]) -> list[str]:
    return [one.state for one in rows]


def test_a_pressed_button_asks_for_a_person_once(bot: Bot, worker: object, model: ScriptedModel) -> None:
    offer_person(model)
    bot.write("I plan a wedding.")
    [sent] = bot.until_sent()
    assert (sent["text"], sent["reply_markup"]["inline_keyboard"][0][0]["text"]) == (
        "A colleague can help.",
        "Parla con una persona",
    )
    assert states(bot.rows(Escalation)) == ["offered"]
    assert [press(bot, number).status_code for number in (9, 10, 9)] == [200, 200, 200]
    assert states(bot.rows(Escalation)) == ["waiting"]
    assert [said for role, said in bot.transcript() if role == MessageRole.USER] == [
        "I plan a wedding.",
        "Parla con una persona",
    ]


def test_each_press_is_acknowledged(bot: Bot, worker: object, model: ScriptedModel) -> None:
    offer_person(model)
    bot.write("I plan a wedding.")
    bot.until_sent()
    for number in (9, 10):
        press(bot, number)
    until(lambda: len(bot.telegram.of("answerCallbackQuery")) == 2)
    heard = [one["callback_query_id"] for one in bot.telegram.of("answerCallbackQuery")]
    assert sorted(heard) == ["q10", "q9"]


def test_a_press_that_telegram_does_not_hear_of_is_a_message_all_the_same(
    bot: Bot, worker: object, model: ScriptedModel
) -> None:
    bot.telegram.faults["answerCallbackQuery"] = [(400, {"ok": False, "error_code": 400, "description": "too old"})]
    message = bot.update()["message"]
    bot.deliver({"update_id": 9, "callback_query": {"id": "q", "from": ANNA, "message": message, "data": "Yes"}})
    bot.until_sent()
    assert bot.transcript()[0] == ("user", "Yes")


def test_whatsapp_shows_a_reply_button(line: Line, worker: object, model: ScriptedModel) -> None:
    offer_person(model)
    line.write(text("I plan a wedding."))
    line.until_state("sent")
    [(_, _, body)] = line.graph.calls
    [button] = body["interactive"]["action"]["buttons"]
    assert (body["type"], button["reply"]["title"]) == ("interactive", LABEL)
    reply = {"type": "button_reply", "button_reply": button["reply"]}
    pressed = {**text(id="wamid.2"), "type": "interactive", "interactive": reply, "context": {"id": "wamid.out"}}
    for id in ("wamid.2", "wamid.3"):
        line.write({**pressed, "id": id})
    assert states(line.rows(Escalation)) == ["waiting"]
    with line.tenant.tx():
        [conversation] = Conversation.objects.all()
        said = conversation.messages.filter(role=MessageRole.USER).order_by("seq")
        assert [one.content for one in said] == ["I plan a wedding.", LABEL]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(["Yes", "No", "Later"], "button"), (["1", "2", "3", "4"], "list"), (["Mit einem Menschen sprechen"], "list")],
    ids=["three", "more", "long"],
)
def test_more_or_longer_choices_are_a_list(labels: list[str], kind: str) -> None:
    part = OutgoingPart("39", "Choose.", "key", [Button(label, label) for label in labels], choose="Choose")
    assert interactive(part)["interactive"]["type"] == kind


def test_a_list_keeps_the_words_of_a_long_choice() -> None:
    part = OutgoingPart("39", "Choose.", "key", [Button("Mit einem Menschen sprechen", "x")] * 12, choose="Auswählen")
    rows = interactive(part)["interactive"]["action"]["sections"][0]["rows"]
    assert (len(rows), rows[0]["description"]) == (MOST_ROWS, "Mit einem Menschen sprechen")


def test_a_text_numbers_the_choices(number: Number, worker: object, model: ScriptedModel) -> None:
    offer_person(model)
    assert number.post(MESSAGES, number.text("I plan a wedding.")).status_code == 200
    number.until_state("sent")
    [call] = number.server.script.calls
    assert call.form["Body"].endswith(f"1. {LABEL}")
    assert number.post(MESSAGES, number.text("1.", sid="SM2")).status_code == 200
    assert states(number.rows(Escalation)) == ["waiting"]
    assert [one.content for one in number.rows(Message, role=MessageRole.USER)] == ["I plan a wedding.", LABEL]


def test_a_number_that_no_choice_has_is_a_text(number: Number, worker: object, model: ScriptedModel) -> None:
    offer_person(model)
    number.post(MESSAGES, number.text("I plan a wedding."))
    number.until_state("sent")
    number.post(MESSAGES, number.text("2", sid="SM2"))
    assert states(number.rows(Escalation)) == ["offered"]
    assert [one.content for one in number.rows(Message, role=MessageRole.USER)] == ["I plan a wedding.", "2"]


def test_an_article_is_a_title_and_a_link(bot: Bot) -> None:
    bot.write()
    [conversation] = bot.rows(Conversation)
    card = {"type": "article_card", "title": "Returns", "excerpt": "…", "url": "https://acme.example/returns"}
    with bot.tenant.tx():
        shown = show_blocks([card, {"type": "unknown"}], conversation)
    assert (shown.lines, shown.buttons) == (["Returns\nhttps://acme.example/returns"], [])
