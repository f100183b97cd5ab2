"""One real request of each skill, built by the product from a conversation in which every section is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from conversations.context.turn_context import TurnContext
from conversations.models import MessageRole, Origin, PromptSection
from conversations.models.event import URGENT
from conversations.prompts import draft, reply, session, thoughts, translate
from conversations.prompts.session import SessionContext
from llm.client import Client
from llm.types import Endpoint, ModelSpec
from tests.conversations.conftest import Talk
from tests.conversations.pipeline.conftest import configure, load_context
from tests.conversations.waiting.conftest import answered, awaited, logged
from tests.processes import ScriptedModel
from tests.projects.knowledge.conftest import Write
from tools.engine.analysis.exchange import detect_commitments, group_tools
from tools.engine.catalogue import CompiledTool
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import read_offer
from tools.engine.skills.arguments import ExtractionContext, KnownFact, generate_object_by_schema
from tools.engine.skills.detect import Exchange, TranscriptLine
from tools.engine.skills.rerank import rerank_conflict
from tools.evaluation.builtins import builtin_tools_for
from tools.evaluation.cases import Case, Part

ANSWER = "I'll send you a text with the details."
EXCHANGE = Exchange(
    answer=ANSWER,
    lines=[TranscriptLine("customer", "Please do"), TranscriptLine("agent", ANSWER)],
    relayed=["The crew comes at noon."],
)
SCHEMA = {"type": "object", "properties": {"date": {"type": ["string", "null"]}}, "additionalProperties": False}
UNBACKED = "I've sent it."

Send = Callable[[Client, ModelSpec], Awaitable[object]]


@dataclass(frozen=True)
class World:
    """The model server, a conversation, and a function that publishes articles."""

    model: ScriptedModel
    talk: Talk
    write: Write


def sent_request(skill: str, world: World) -> str:
    """The text of the messages of one request, as the model's server received them."""
    if skill == "session":
        update = session.update_text(SessionContext(correction=UNBACKED))
        return f"{session.guidance()}\n{update}"
    send = {"detect": _detect, "rerank": _rerank, "arguments": _arguments, "translate": _translate}.get(
        skill
    ) or _of_turn(skill, world)
    asyncio.run(_send(send, world.model))
    received = ["\n".join(message["content"] for message in one["messages"]) for one in world.model.requests(skill)]
    # Of the two detections, only one also asks for what no tool serves.
    return max(received, key=lambda text: "`unserved`" in text)


async def _send(send: Send, model: ScriptedModel) -> None:
    client = Client()
    try:
        await send(client, ModelSpec(Endpoint(model.base_url, trusted=True), "offline"))
    finally:
        await client.aclose()


def _tools(*names: str) -> list[CompiledTool]:
    case = Case(id="x", language="en", part=Part.SEEN, channel="phone", answer=ANSWER, expect={})
    return [tool for tool in builtin_tools_for(case) if tool.is_offered and (not names or tool.name in names)]


async def _detect(client: Client, model: ModelSpec) -> None:
    await detect_commitments(client, model, groups=group_tools(_tools()), exchange=EXCHANGE, record=forget)


async def _rerank(client: Client, model: ModelSpec) -> None:
    rivals = _tools("send_sms_tool", "send_manage_booking_url_tool")
    await rerank_conflict(client, model, tools=rivals, exchange=EXCHANGE, record=forget)


async def _arguments(client: Client, model: ModelSpec) -> None:
    context = ExtractionContext(
        business_name="Nello",
        business_context="A kitchen.",
        now="Monday 16 November 2026, 13:00",
        known=[KnownFact("name", "Ada")],
        messages=list(EXCHANGE.lines),
    )
    await generate_object_by_schema(
        client, model, schema=SCHEMA, task="Look up a table.", extraction_context=context, record=forget
    )


async def _translate(client: Client, model: ModelSpec) -> None:
    request = translate.build_request(["Wie spät ist es?"], language="en", model=model)
    await client.structured(request, output=translate.Translated, record=forget)


def _of_turn(skill: str, world: World) -> Send:
    """The reply or the thoughts of a turn, or the draft of a colleague's answer."""
    context = _context(world)
    with world.talk.tenant.tx():
        offer = read_offer(Trigger.TURN, world.talk.tenant.project, channel="chat")
        request = {
            "thoughts": lambda: thoughts.build_request(context),
            "draft": lambda: draft.build_request(context, knowledge=["Dogs are welcome."], begun="Yes, they are"),
        }.get(skill, lambda: reply.build_prompt(context, offer).request)()
    output = {"thoughts": thoughts.KeyDirectives, "draft": draft.AnswerDraft}.get(skill)

    async def send(client: Client, model: ModelSpec) -> None:
        built = replace(request, model=model)
        if output is not None:
            await client.structured(built, output=output, record=forget)
        else:
            await client.stream(built, on_text=forget, record=forget)

    return send


def _context(world: World) -> TurnContext:
    """A turn after a colleague's words, with a result awaited, urgent news, and all that a reply has to make good."""
    talk = world.talk
    configure(talk.tenant, knowledge_in_prompt=True, scenarios=[_scenario()])
    world.write("Can I bring my dog?", "Dogs are welcome on the terrace.")
    awaited(talk, answered(talk))
    with logged(talk) as log:
        log.add_message(MessageRole.OPERATOR, "I take over.", turn=None, idn="operator_message")
        log.add_event(URGENT, payload={"text": "The terrace is closed.", "told_by": 99})
        log.add_event(URGENT, payload={"text": "Ask for the address.", "told_by": 99, "source": "business"})
        log.add_event(URGENT, payload={"text": "A text was sent.", "told_by": 1})
        PromptSection.objects.create(conversation=talk.conversation, name="weather", content="It rains.")
    context = load_context(talk, talk.say("Are dogs allowed?\n[File: dog.pdf]"))
    context.conversation.recovery, context.conversation.correction = "It drags on.", UNBACKED
    context.turn.origin = Origin.FOLLOW_UP
    return replace(context, summary="A table was booked.")


def _scenario() -> dict[str, Any]:
    return {"title": "Send the details", "steps": [{"text": "Send them.", "tools": ["send_sms_tool"]}]}


def forget(_: object) -> None:
    """Drop the response; only the request matters."""
