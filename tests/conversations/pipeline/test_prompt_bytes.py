"""The size of a turn's model calls on the wire, as sent by our client to a real server."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from conversations.context.evaluation_input import exchange_after
from conversations.context.turn_context import context_after
from conversations.models import Conversation, Directives, PersonaField, Turn
from conversations.models.persona import Strength
from conversations.prompts import observer, reply, thoughts
from llm.client import Client
from projects.agents.model_choice import model_for
from tests.conversations.conftest import Talk
from tests.conversations.pipeline.conftest import job_of, load_context
from tests.conversations.waiting.conftest import answer, answered
from tests.offline_model.prompts import Line, think
from tests.processes import ScriptedModel
from tools.engine.analysis.exchange import detect_commitments, group_tools
from tools.engine.catalogue import at_moment, compile_tools
from tools.engine.definition import Trigger

KNOWN = {
    "name": "Giulia Ferri",
    "phone": "+393475550142",
    "language": "en",
    "date": "Friday",
    "time": "7",
    "diet": "vegan",
}
# The demo's longest prompts are those of a closed evening, with the longest date there is.
CLOSED = datetime(2026, 9, 30, 21, 30, tzinfo=UTC)
# Ten turns with the demo business, as the offline model answers them.
TALK = (
    ("Hello, I'd like to book a table for four on Friday", "I'd be glad to! At what time would you like to come?"),
    ("Around 7 would be perfect", "Thank you. Which phone number can we reach you on, in case we get cut off?"),
    ("+39 347 555 0142", "Thank you. And under which name shall I keep it?"),
    ("Giulia Ferri", "Thank you, Giulia. Let me check availability for Friday at 7 PM."),
    (
        "One of us is vegan, is there something for her?",
        "For vegan guests the menu has Carciofi alla giudia (€ 9), Bruschetta with tomatoes and basil (€ 7), Gnocchi al "
        "pomodoro (on Thursdays) (€ 13) and Chickpea and rosemary stew (€ 14). Friday at 7 PM is free. Shall I book it?",
    ),
    ("Great, then please book it for us", "I'll book the table for four on Friday at 7 PM now."),
    ("And send me the details by text please", "I'll send you a text with the details."),
    (
        "One more thing: is there parking nearby?",
        "There is no parking of our own; the nearest garage is Parking Ludovisi in Via Cavour 120, € 4 an hour.",
    ),
    ("Can we bring our dog?", "Dogs are welcome on the terrace, not inside. Can I help you with anything else?"),
    ("Thank you, that's all. Goodbye", "Thank you, Giulia. Have a lovely day, goodbye!"),
)


@pytest.mark.parametrize(
    ("tools", "most"),
    [
        # The goal: five rules (the demo's scenarios), one tool, a history of ten turns.
        (["send_sms_tool"], 25_000),
        # Everything the demo offers in a chat, in two detections.
        (None, 30_000),
    ],
)
def test_a_turns_prompts_stay_within_their_budget(
    tools: list[str] | None, most: int, talk: Talk, model: ScriptedModel, settings: Any
) -> None:
    """A failure lists the bytes of each call."""
    settings.OPENAI_BASE_URL = model.base_url
    ask_all_of_the_tenth_turn(talk, tools)
    weights = [(request["skill"], request["prompt_bytes"]) for request in model.requests()]
    assert sum(weight for _, weight in weights) <= most, weights
    assert {skill for skill, _ in weights} == {"reply", "observer", "thoughts", "detect"}


def ask_all_of_the_tenth_turn(talk: Talk, tools: list[str] | None) -> None:
    """Send the tenth turn's requests, after nine turns and the facts learned in them."""
    for words, said in TALK[:-1]:
        turn = answered(talk, words, said)
    learn(talk, turn)
    tenth = talk.say(TALK[-1][0])
    before = load_context(talk, tenth, at=CLOSED)
    answer(talk, tenth, TALK[-1][1])
    with talk.tenant.tx():
        spoken = reply.build_prompt(before).request
        tenth = Turn.objects.select_related("conversation__summary", "message", "reply").get(pk=tenth.pk)
        context, exchange = replace(context_after(job_of(tenth)), at=CLOSED), exchange_after(tenth)
        compiled = at_moment(compile_tools(context.project, channel="chat"), Trigger.COMMITMENT)
        offered = [tool for tool in compiled if tool.is_offered]
        detecting = model_for(context.project, context.config, "detect")
    groups = group_tools(tool for tool in offered if tools is None or tool.name in tools)

    async def send() -> None:
        client = Client()
        await client.stream(spoken, on_text=forget, record=forget)
        await client.structured(observer.build_request(context), output=observer.output_of(context), record=forget)
        await client.structured(thoughts.build_request(context), output=thoughts.KeyDirectives, record=forget)
        await detect_commitments(client, detecting, groups=groups, exchange=exchange, record=forget)
        await client.aclose()

    asyncio.run(send())


def learn(talk: Talk, turn: Turn) -> None:
    """Facts stored by the observer, and the directives of the previous turn."""
    lines = [Line(role, text) for pair in TALK[:-1] for role, text in zip(("customer", "agent"), pair, strict=True)]
    with talk.tenant.tx():
        for key, value in KNOWN.items():
            PersonaField.objects.create(
                persona_id=talk.conversation.persona_id, key=key, value=value, strength=Strength.STATED
            )
        document = think(lines, known=KNOWN)
        written = Directives.objects.create(conversation=talk.conversation, turn=turn, version=9, document=document)
        Conversation.objects.filter(pk=talk.conversation.pk).update(directives=written)


def forget(_: object) -> None:
    """Drop the response; only the size of the request matters."""
