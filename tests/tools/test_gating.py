"""Gating: the tools offered to a model, as a pure function of the business's state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.utils.translation import override

from projects.common.verticals import VERTICALS, Capability
from projects.models.agent_config import EscalationRule
from projects.models.attribute import AttributeType
from projects.records.attributes import Origin, Resolved
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, define
from tools.engine.business_state import BusinessState
from tools.engine.catalogue import compile_builtin, is_called_by_model, why_not
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import offer_at
from tools.engine.gates import all_of, needs_articles, needs_calendar, needs_source
from tools.engine.platform import StoredDefinition
from tools.engine.registry import builtin_tools
from tools.engine.transfers import TRANSFER_NUMBERS

CALENDAR = {"check_availability", "book_appointment", "lookup_appointment", "cancel_appointment"}
VERIFICATION = {"verify_caller", "send_verification_code", "check_verification_code"}
PHONE = {"end_call", "flag_caller", "send_portal_link"}
NUMBERS = {
    TRANSFER_NUMBERS: Resolved(TRANSFER_NUMBERS, AttributeType.STRING, "kitchen: +39 06 555 0114", Origin.PROJECT)
}
CHAT, CALL = BusinessState(channel="chat"), BusinessState(channel="phone")
ALL = frozenset(Capability)


def offered(state: BusinessState, moment: Trigger = Trigger.TURN) -> set[str]:
    return set(offer_at(moment, state, None).tools)


def probe(**facts: Any) -> BuiltinTool:
    """A tool that models call, with only the gates a test sets."""
    given = {"gate": lambda state: "", **facts}
    return BuiltinTool(
        name="probe",
        kind="",
        delivery=RetryPolicy.IDEMPOTENT,
        keeps_promise=False,
        definition=define("Does nothing."),
        moments=(Trigger.TURN,),
        **given,
    )


# Verticals and the allowlist


@pytest.mark.requirement("W01")
@pytest.mark.parametrize("vertical", VERTICALS)
def test_a_tool_requires_its_capability(vertical: str) -> None:
    """A tool outside the agent's vertical isn't offered to the model."""
    state = replace(CHAT, has_articles=True, vertical=vertical, capabilities=VERTICALS[vertical].capabilities)
    names = offered(state)
    for tool in builtin_tools().values():
        if tool.capability and Trigger.TURN in tool.moments and not tool.channels:
            assert (tool.name in names) == (tool.capability in state.capabilities), tool.name


@pytest.mark.requirement("W03")
def test_why_a_tool_is_not_offered_is_the_same_for_readers_of_every_language() -> None:
    """They share it: what is compiled is cached."""
    shut = (probe(capability=Capability.TICKETING), replace(CHAT, vertical="bookings", capabilities=frozenset()))
    source = needs_source("twilio")
    with override("fr"):
        french = why_not(*shut), source(CHAT)
    assert french == (why_not(*shut), source(CHAT))


def test_every_vertical_offers_handover() -> None:
    assert all(Capability.TICKET_ESCALATION in vertical.capabilities for vertical in VERTICALS.values())


@pytest.mark.requirement("W02")
@pytest.mark.parametrize(
    "enabled", [frozenset(), frozenset({"end_call"}), frozenset({"send_sms", "lookup_order"}), None]
)
def test_the_allowlist_restricts_the_offer(enabled: frozenset[str] | None) -> None:
    """Capabilities, gates and the allowlist all apply."""
    state = replace(CALL, capabilities=ALL, escalations=frozenset({"message"}))
    everything = offered(state)
    allowed = everything if enabled is None else everything & (enabled | {"end_call"})
    assert offered(replace(state, enabled_tools=enabled)) == allowed


@pytest.mark.requirement("L04", "W02")
@pytest.mark.parametrize(("channel", "names"), [("phone", {"end_call"}), ("chat", set())])
def test_no_list_takes_away_the_end_of_a_call(channel: str, names: set[str]) -> None:
    """An agent that may use no tool can still hang up."""
    for moment in (Trigger.TURN, Trigger.LIVE):
        assert offered(BusinessState(channel=channel, enabled_tools=frozenset()), moment) == names


@pytest.mark.requirement("W02")
def test_the_allowlist_does_not_restrict_commitments() -> None:
    """Tools that fire on commitments have their own switches."""
    tool = builtin_tools()["end_conversation_tool"]
    assert why_not(tool, replace(CHAT, enabled_tools=frozenset())) == ""


# The state of the business


@pytest.mark.requirement("F07", "F08")
@pytest.mark.parametrize(
    ("state", "is_connected"),
    [
        (CHAT, False),
        (replace(CHAT, connected=frozenset({"twilio"})), False),
        (replace(CHAT, connected=frozenset({"google_calendar"})), False),
        (replace(CHAT, connected=frozenset({"caldav"})), False),
        (replace(CHAT, connected=frozenset({"caldav"}), has_book=True), True),
        (replace(CHAT, has_book=True), True),
    ],
)
def test_a_bookable_resource_opens_booking_and_verification_together(state: BusinessState, is_connected: bool) -> None:
    names = CALENDAR | VERIFICATION
    assert offered(state) & names == (names if is_connected else set())


@pytest.mark.requirement("F09", "F12", "L07")
@pytest.mark.parametrize(
    ("actions", "numbers", "names"),
    [
        (set(), NUMBERS, {"transfer_call"}),
        ({"transfer"}, NUMBERS, {"transfer_call"}),
        ({"transfer"}, {}, set()),
        ({"message"}, {}, {"send_sms"}),
        ({"message"}, NUMBERS, {"transfer_call", "send_sms"}),
        ({"message", "transfer"}, NUMBERS, {"transfer_call", "send_sms"}),
    ],
)
def test_numbers_open_transfers_and_a_rule_opens_texts(actions: set[str], numbers: Any, names: set[str]) -> None:
    """No call is transferred without a number; a rule says when."""
    state = replace(CALL, escalations=frozenset(actions), attributes=numbers)
    assert offered(state) & {"transfer_call", "send_sms"} == names


@pytest.mark.requirement("F10")
@pytest.mark.parametrize("channel", ["chat", "phone", "portal", "sms"])
@pytest.mark.parametrize("moment", [Trigger.TURN, Trigger.LIVE])
def test_knowledge_can_always_be_searched(channel: str, moment: Trigger) -> None:
    """In replies and in live sessions, with or without articles."""
    assert "search_knowledge" in offered(BusinessState(channel=channel), moment)


@pytest.mark.requirement("F11")
@pytest.mark.parametrize(("channel", "is_phone"), [("phone", True), ("chat", False), ("portal", False)])
def test_some_tools_are_for_the_phone_only(channel: str, is_phone: bool) -> None:
    assert offered(BusinessState(channel=channel)) & PHONE == (PHONE if is_phone else set())


@pytest.mark.requirement("F12")
def test_the_calendar_category_requires_a_calendar() -> None:
    """Also if only the platform's stored definition sets the category."""
    stored = {"probe": StoredDefinition("Does nothing.", "calendar", "", None)}
    assert compile_builtin(probe(), CHAT, stored).why_not
    assert not compile_builtin(probe(), replace(CHAT, has_book=True), stored).why_not
    assert why_not(probe(category="calendar"), CHAT)


@pytest.mark.requirement("L06")
def test_a_tool_can_require_a_source() -> None:
    gate = needs_source("client_lookup")
    assert gate(CHAT)
    assert gate(replace(CHAT, connected=frozenset({"client_lookup"}))) == ""


@pytest.mark.requirement("L05")
def test_a_tool_can_require_articles() -> None:
    assert needs_articles(CHAT)
    assert needs_articles(replace(CHAT, has_articles=True)) == ""


def test_the_first_closed_gate_gives_the_reason() -> None:
    gate = all_of(needs_calendar, needs_articles)
    assert gate(CHAT) == needs_calendar(CHAT)
    assert gate(replace(CHAT, has_book=True)) == needs_articles(CHAT)
    assert gate(replace(CHAT, has_book=True, has_articles=True)) == ""


# The catalogue of the code


@pytest.mark.requirement("W17", "L16")
@pytest.mark.parametrize("name", [name for name, tool in builtin_tools().items() if is_called_by_model(tool)])
def test_descriptions_for_models_are_short(name: str) -> None:
    """One or two sentences, a section with one heading, and every argument described."""
    tool = builtin_tools()[name]
    assert 10 < len(tool.definition.description) <= 200
    assert not tool.section or (tool.section.startswith("### ") and tool.section.count("\n#") == 0)
    assert len(tool.section) <= 700
    assert tool.handler is not None
    for argument in tool.handler.schema["properties"].values():
        assert argument["description"]
        assert "title" not in argument


@pytest.mark.requirement("F06")
def test_every_closed_tool_gives_a_reason() -> None:
    for tool in builtin_tools().values():
        compiled = compile_builtin(tool, CHAT, None)
        assert compiled.is_offered or len(compiled.why_not) > 10


@pytest.mark.requirement("F09")
def test_escalation_rules_are_listed_in_the_tools_section() -> None:
    """Braces in a business's rule are not interpolated."""
    rules = [
        EscalationRule(when="they ask for\nthe chef of {{business}}", action="transfer"),
        EscalationRule(when="they want it in writing", action="message"),
    ]
    state = replace(CALL, rules=rules, escalations=frozenset({"transfer", "message"}), attributes=NUMBERS)
    sections = {name: tool.section for name, tool in offer_at(Trigger.LIVE, state, None).tools.items()}
    assert sections["transfer_call"].endswith("\n- Use it when they ask for the chef of {{business}}")
    assert sections["send_sms"].endswith("\n- Use it when they want it in writing")
