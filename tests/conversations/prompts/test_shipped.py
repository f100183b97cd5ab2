"""The prompts of every business the product ships: a step never announces what the agent can call itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.utils import timezone

from conversations.context.turn_context import TurnContext
from conversations.models import Conversation, Turn
from conversations.prompts.reply import NO_OFFER, build_prompt
from projects.agents.model_choice import operator_endpoint
from projects.agents.templates_catalogue import NAMES, Locale, business_templates
from projects.demo.shop import business
from projects.models.agent_config import AgentConfig, ScenarioStep
from tests.conftest import Tenant
from tools.engine.business_state import build_state
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import Offer, offer_at

DEMOS = ("demo restaurant", "demo shop")
CHANNELS = ("chat", "phone")
# Everything that opens a gate of the tools called during a reply.
FACTS = {"has_book": True, "has_articles": True, "connected": ["woocommerce_products", "client_lookup"]}
HERE = Locale(timezone="Europe/Rome", region="IT")
SENTENCE = re.compile(r"(?<=[.!?])\s+")
ANNOUNCES = re.compile(r"\bsay (?:that you will|“(?:Let me|I[’']ll))", re.IGNORECASE)
LOOKS_UP = re.compile(r"\b(?:check|look|find out|see whether)\b", re.IGNORECASE)
ONLY_WITHOUT_A_CALL = re.compile(r"\bwhere you can't (?:look (?:it|that) up|do (?:it|that)) yourself\b", re.IGNORECASE)
MAY_PROMISE = re.compile(r"\(may promise: ([^)]*)\)")

shipped = pytest.mark.parametrize("name", [*DEMOS, *NAMES])
on_channels = pytest.mark.parametrize("channel", CHANNELS)


def config_of(name: str) -> AgentConfig:
    if name not in DEMOS:
        return business_templates()[name].config_for("Da Nello", locale=HERE)
    document = business(name.removeprefix("demo "))
    return AgentConfig.model_validate({key: document[key] for key in AgentConfig.model_fields if key in document})


def offer_of(config: AgentConfig, channel: str) -> Offer:
    """The calls offered to a business with everything connected."""
    return offer_at(Trigger.TURN, build_state(config, {}, channel=channel, facts=FACTS), None)


def steps_of(config: AgentConfig) -> Iterator[ScenarioStep]:
    return (step for scenario in config.scenarios for step in scenario.steps)


def announcements(text: str) -> list[str]:
    """The sentences that have the agent announce something."""
    return [sentence for sentence in SENTENCE.split(text) if ANNOUNCES.search(sentence)]


def system_prompt(tenant: Tenant, config: AgentConfig, offer: Offer, *, channel: str) -> str:
    with tenant.tx():
        conversation = Conversation(project=tenant.project, channel=channel)
        context = TurnContext(
            conversation=conversation,
            turn=Turn(conversation=conversation, seq=1),
            project=tenant.project,
            config=config,
            at=timezone.now(),
            summary="",
            messages=(),
            fields=(),
            effects=(),
            endpoint=operator_endpoint(),
        )
        return str(build_prompt(context, offer).request.messages[0]["content"])


@shipped
@on_channels
def test_no_step_announces_a_call(name: str, channel: str) -> None:
    """Where an action can be called, its step says so only for an agent that can't."""
    config = config_of(name)
    offer = offer_of(config, channel)
    callable_steps = [step.text for step in steps_of(config) if {*step.tools} & {*offer.replaced, *offer.tools}]
    told = [sentence for text in callable_steps for sentence in announcements(text)]
    assert [sentence for sentence in told if not ONLY_WITHOUT_A_CALL.search(sentence)] == []


@shipped
@on_channels
def test_no_text_announces_a_look_up_that_belongs_to_no_tool(name: str, channel: str) -> None:
    config = config_of(name)
    intents = [text for one in config.intents for text in (one.working_hours, one.non_working_hours)]
    texts = [
        *intents,
        *(one.text for one in config.procedures),
        *(one.text for one in steps_of(config) if not one.tools),
    ]
    told = [sentence for text in texts for sentence in announcements(text) if LOOKS_UP.search(sentence)]
    assert [sentence for sentence in told if not ONLY_WITHOUT_A_CALL.search(sentence)] == []


@shipped
@on_channels
def test_a_prompt_lets_nothing_be_promised_that_it_offers_to_call(tenant: Tenant, name: str, channel: str) -> None:
    config = config_of(name)
    offer = offer_of(config, channel)
    prompt = system_prompt(tenant, config, offer, channel=channel)
    promised = {tool for listed in MAY_PROMISE.findall(prompt) for tool in listed.split(", ")}
    assert not promised & {*offer.replaced, *offer.tools}


def test_the_demo_offers_the_calls_that_its_steps_would_announce() -> None:
    """So the tests above compare something."""
    config = config_of("demo restaurant")
    offer = offer_of(config, "chat")
    assert offer.replaced >= {"check_availability_tool", "create_booking_tool", "search_booking_tool"}
    assert sum(bool(announcements(step.text)) for step in steps_of(config) if {*step.tools} & offer.replaced) >= 3


@pytest.mark.requirement("T27")
def test_without_the_call_a_step_still_promises(tenant: Tenant) -> None:
    """The trigger phrase and the tool behind it stay in the prompt."""
    prompt = system_prompt(tenant, config_of("demo restaurant"), NO_OFFER, channel="chat")
    [step] = [line for line in prompt.splitlines() if "Let me check availability" in line]
    assert step.endswith("(may promise: check_availability_tool)")


def test_two_offers_with_the_same_sections_have_their_own_prompt(tenant: Tenant) -> None:
    """The cached system prompt depends on what can be called."""
    config = config_of("demo restaurant")
    offer = offer_of(config, "chat")
    silent = Offer({name: tool for name, tool in offer.tools.items() if name != "lookup_appointment"})
    assert silent.addendum == offer.addendum
    prompts = [system_prompt(tenant, config, one, channel="chat") for one in (offer, silent)]
    assert ["search_booking_tool" in prompt for prompt in prompts] == [False, True]
