"""The reply skill: everything the agent knows when it answers (T03-T08)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from django.utils import timezone

from conversations.hours import working_status
from conversations.models import Directives, Event, Message, MessageRole
from conversations.scene import Scene, as_line
from conversations.skills.context import Action, DirectivesView, Fact, Intent, Line, Procedure, Scenario
from llm.prompts import neutralise
from llm.requests import reply_request
from llm.types import ChatRequest
from projects.model_choice import model_for


@dataclass(frozen=True)
class ReplyContext:
    """The variables of templates/prompts/reply. The first block is stable from turn to turn, so that providers can cache it."""

    agent_name: str
    business_name: str
    channel: str
    style: str
    business_context: str
    scenarios: list[Scenario]
    procedures: list[Procedure]
    hours_variant: str
    intents: list[Intent]

    now: str
    hours_status: str
    directives: DirectivesView | None
    awaiting: str
    customer: list[Fact]
    actions: list[Action]
    knowledge: list[str]
    urgent: list[str]
    latest: list[Line]


# The longest reply; longer than any channel bears.
MAX_OUTPUT_TOKENS = 1500


def build_request(scene: Scene) -> ChatRequest:
    """The request for a turn's reply: stable prompt, transcript, then what changes from turn to turn."""
    split = _first_unanswered(scene.messages)
    return reply_request(
        _context(scene, latest=scene.messages[split:]),
        history=[_as_chat(message) for message in scene.messages[:split]],
        model=model_for(scene.project, scene.config, "reply"),
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )


def _context(scene: Scene, *, latest: Sequence[Message]) -> ReplyContext:
    config, conversation = scene.config, scene.conversation
    status = working_status(config, at=timezone.now())
    return ReplyContext(
        agent_name=config.agent_name,
        business_name=config.business_name,
        channel=conversation.channel,
        style=config.style,
        business_context=config.business_context,
        scenarios=scene.scenarios,
        procedures=scene.procedures,
        hours_variant=status.variant,
        intents=[
            Intent(name=intent.name, instruction=getattr(intent, f"{status.variant}_hours"))
            for intent in config.intents
        ],
        now=status.clock,
        hours_status=status.line,
        directives=view_of(conversation.directives),
        awaiting="",
        customer=scene.facts,
        actions=scene.actions,
        knowledge=[],
        urgent=_urgent(scene, latest=latest),
        latest=[as_line(message) for message in latest],
    )


def view_of(directives: Directives | None) -> DirectivesView | None:
    """Directives as prompts show them."""
    if directives is None:
        return None
    shown = {field.name for field in fields(DirectivesView)} - {"version"}
    return DirectivesView(version=directives.version, **{name: directives.document[name] for name in shown})


def _first_unanswered(messages: Sequence[Message]) -> int:
    """Where the customer's messages begin that no reply has answered."""
    for index in range(len(messages), 0, -1):
        if messages[index - 1].role != MessageRole.USER:
            return index
    return 0


def _urgent(scene: Scene, *, latest: Sequence[Message]) -> list[str]:
    """Urgent messages that came in since the last reply."""
    newest = scene.messages[-1:] if not latest else latest[:1]
    since = newest[0].created_at if newest else scene.conversation.created_at
    found = Event.objects.filter(conversation=scene.conversation, idn="urgent_message", created_at__gte=since)
    return [str(event.payload.get("text", "")) for event in found if event.payload.get("text")]


def _as_chat(message: Message) -> dict[str, str]:
    role = "user" if message.role == MessageRole.USER else "assistant"
    return {"role": role, "content": neutralise(message.content)}
