"""Makes a tenant and gives it much to do, written by the product itself: `python -m bench.pressing WORK --count N`.

Started by `bench.neighbours` as a process of its own. Prints the tenant's id before it begins.
"""

from __future__ import annotations

import argparse
import asyncio
import uuid
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import UUID

import django

if TYPE_CHECKING:
    from conversations.models import Conversation
    from projects.models import Project
    from tools.engine.catalogue import CompiledTool

# Stands in every prompt of the tenant, so that the bench can script its answers
BUSINESS = "The Pressing Company"
WORDS = "Do you have a table for four on Friday evening?"
EFFECTS_PER_CONVERSATION = 5
TOOLS = 40
AT_ONCE = 4


@dataclass(frozen=True)
class Pressing:
    """The tenant under whose load the others should not suffer."""

    organization: UUID
    project: Project

    def begin(self) -> Conversation:
        from conversations.models import Channel
        from conversations.turns.services import start_conversation

        name = f"pressing {uuid.uuid4()}"
        return start_conversation(self.project, channel=Channel.CHAT, external_id=name, known={}, metadata={})

    def write(self) -> None:
        """A message in a conversation of its own."""
        from conversations.turns.services import post_message
        from tenancy.scope import tenant_tx

        with tenant_tx(self.organization):
            post_message(self.begin().pk, WORDS)

    def plan_webhooks(self, tool: CompiledTool, *, count: int) -> None:
        """Effects of a tool in a new conversation, planned as the tool caller does."""
        from conversations.live.event_log import open_log
        from conversations.models import Turn, TurnStatus
        from jobs.enqueue import enqueue
        from tenancy.scope import tenant_tx
        from tools.engine.ledger import job_for
        from tools.models import Effect

        with tenant_tx(self.organization):
            conversation = self.begin()
            with open_log(conversation.pk) as log:
                turn = log.add_turn()
            Turn.objects.filter(pk=turn.pk).update(status=TurnStatus.DONE)
            planned = [_effect(conversation, turn.pk, tool, number=number) for number in range(count)]
            enqueue([job_for(effect) for effect in Effect.objects.bulk_create(planned)])

    def save_tools(self, url: str) -> list[CompiledTool]:
        """Tools whose webhooks call the address, each with a number in it."""
        from tenancy.scope import tenant_tx
        from tools.engine.catalogue import compile_tools
        from tools.engine.custom.service import save

        names = [f"notify_crew_{number}" for number in range(TOOLS)]
        with tenant_tx(self.organization):
            for number, name in enumerate(names):
                save(self.project, name=name, document=_webhook(url.format(number=number)))
            return [tool for tool in compile_tools(self.project, channel="chat") if tool.name in names]


def make_tenant(*, model_base_url: str) -> Pressing:
    from projects.agents.services import create_organization, create_project
    from projects.models import User
    from projects.models.agent_config import AgentConfig
    from tenancy.scope import tenant_tx

    owner = User.objects.create_user(f"{uuid.uuid4()}@pressing.example")
    organization = create_organization(BUSINESS, developer_tools=True, owner=owner)
    config = AgentConfig(
        agent_name="Ada", business_name=BUSINESS, timezone="Europe/Rome", model_base_url=model_base_url
    )
    with tenant_tx(organization.pk):
        return Pressing(organization.pk, create_project(BUSINESS, config=config, author=owner))


def _webhook(url: str) -> dict[str, Any]:
    promised = {"type": "boolean", "description": "The agent commits to notify the crew now."}
    return {
        "description": "Notifies the delivery crew about the customer's problem.",
        "conditions": {"agentPromised": promised},
        "useConversationHistory": False,
        "action": {"type": "send_webhook", "options": {"url": url, "delivery": "idempotent"}},
        "after_actions": [],
    }


def _effect(conversation: Conversation, turn: UUID, tool: CompiledTool, *, number: int) -> Any:
    from django.utils import timezone

    from tools.engine.execution.plan import effect_key
    from tools.models import Effect

    return Effect(
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        turn_id=turn,
        effect_key=effect_key(origin=turn, tool=tool.name, step=0, index=number),
        tool=tool.name,
        tool_origin=tool.origin,
        tool_version=tool.version,
        kind=tool.kind,
        delivery=tool.delivery,
        definition=tool.definition.model_dump(mode="json", by_alias=True),
        quote="I'll notify the crew.",
        arguments={"body": {"number": number}},
        arranged_at=timezone.now(),
    )


async def press(pressing: Pressing, options: argparse.Namespace) -> None:
    """Queue the work, a few transactions at a time."""
    in_db = import_module("tenancy.threads").in_db
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(work: Any, *args: Any) -> None:
        async with gate:
            await in_db(work, *args)

    if options.work == "messages":
        await asyncio.gather(*(one(pressing.write) for _ in range(options.count)))
        return
    tools = await in_db(pressing.save_tools, options.url)
    conversations = options.count // EFFECTS_PER_CONVERSATION
    plan = partial(pressing.plan_webhooks, count=EFFECTS_PER_CONVERSATION)
    await asyncio.gather(*(one(plan, tools[number % len(tools)]) for number in range(conversations)))


def main() -> None:
    options = _options()
    django.setup()
    pressing = make_tenant(model_base_url=options.model)
    print(pressing.organization, flush=True)
    asyncio.run(press(pressing, options))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.pressing", description=__doc__)
    parser.add_argument("work", choices=("messages", "webhooks"))
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--url", default="", help="the webhooks' address; {number} is replaced")
    parser.add_argument("--model", default="", help="the base URL of a model of the tenant's own")
    return parser.parse_args()


if __name__ == "__main__":
    main()
