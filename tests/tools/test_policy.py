"""The policy table: a kind's rules hold for each of its tools, at whichever moment it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from projects.common.verticals import Capability
from projects.models.attribute import AttributeType
from projects.records.attributes import Origin, Resolved
from tools.engine.business_state import BusinessState
from tools.engine.catalogue import approval_setting, compile_builtin
from tools.engine.definition import Trigger
from tools.engine.policy import CANCELLATION_TYPE, POLICIES, policy_of
from tools.engine.registry import builtin_tools

GATE, APPROVAL, CONSENT, VERIFICATION = "gate", "approval", "consent", "verification"
# The rules of each kind beside those of all: its tool's own gate, the limits, and repeats. A new kind needs a row.
TABLE: Mapping[str, set[str]] = {
    "availability": {GATE, APPROVAL},
    "booking": {GATE, APPROVAL},
    "booking_cancel": {GATE, APPROVAL, VERIFICATION},
    "booking_search": {GATE, APPROVAL, VERIFICATION},
    "caller_lookup": set(),
    "caller_verification": set(),
    "email": {APPROVAL, CONSENT},
    "end": set(),
    "escalation": set(),
    "flag": set(),
    "meeting": {APPROVAL},
    "order_lookup": set(),
    "product_availability": {APPROVAL},
    "sms": {GATE, APPROVAL, CONSENT},
    "ticket": set(),
    "transfer": set(),
    "verification_code": set(),
    "zip_code": {APPROVAL},
}
KINDS = sorted({tool.kind for tool in builtin_tools().values() if tool.kind})
OPEN = BusinessState(
    channel="phone",
    capabilities=frozenset(Capability),
    has_book=True,
    has_articles=True,
    connected=frozenset({"google_calendar", "caldav"}),
    escalations=frozenset({"transfer"}),
)


def attribute(key: str, value: object) -> Resolved:
    return Resolved(key, AttributeType.BOOL, value, Origin.PROJECT)


def of_kind(kind: str, state: BusinessState) -> dict[str, bool]:
    """The tools of a kind, and whether each is offered."""
    tools = [tool for tool in builtin_tools().values() if tool.kind == kind]
    compiled = [compile_builtin(tool, replace(state, channel=(tool.channels or ("chat",))[0]), None) for tool in tools]
    return {tool.name: tool.is_offered for tool in compiled}


def test_every_kind_of_tool_has_a_row() -> None:
    assert set(TABLE) == set(KINDS)
    # The messages of a conversation are no tool's.
    assert set(POLICIES) - {"channel_message"} <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_switched_off_kind_closes_all_its_tools(kind: str) -> None:
    """Also those with a gate of their own that stays open."""
    switches = policy_of(kind).switches
    off = replace(OPEN, attributes={key: attribute(key, False) for key in switches})
    assert bool(switches) == (GATE in TABLE[kind])
    if switches:
        assert not any(of_kind(kind, off).values())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if GATE in TABLE[kind]])
def test_a_kind_that_was_never_switched_leaves_the_gates_to_its_tools(kind: str) -> None:
    called = {tool.name for tool in builtin_tools().values() if tool.kind == kind and Trigger.TURN in tool.moments}
    offered = of_kind(kind, replace(OPEN, escalations=frozenset({"message"})))
    assert all(offered[name] for name in called)


def test_the_agent_cancels_by_no_tool_where_a_person_does() -> None:
    key = CANCELLATION_TYPE
    manual = replace(OPEN, attributes={key: Resolved(key, AttributeType.ENUM, "manual", Origin.PROJECT)})
    assert not any(of_kind("booking_cancel", manual).values())


@pytest.mark.parametrize("kind", KINDS)
def test_approval_of_one_tool_is_approval_of_its_kind(kind: str) -> None:
    tools = [tool for tool in builtin_tools().values() if tool.kind == kind]
    settable = [tool for tool in tools if Trigger.TASK in tool.moments]
    assert bool(settable) == (APPROVAL in TABLE[kind])
    for one in settable:
        key = approval_setting(one.name)
        state = replace(OPEN, attributes={key: attribute(key, True)})
        assert {compile_builtin(tool, state, None).definition.requires_approval for tool in tools} == {True}


@pytest.mark.parametrize("kind", KINDS)
def test_a_custom_tool_that_requires_approval_of_a_kind_binds_the_kind(kind: str) -> None:
    tools = [tool for tool in builtin_tools().values() if tool.kind == kind]
    state = replace(OPEN, approved_tools=frozenset({tools[0].name}))
    assert {compile_builtin(tool, state, None).definition.requires_approval for tool in tools} == {True}


@pytest.mark.parametrize("kind", KINDS)
def test_consent_and_verification_belong_to_the_kind(kind: str) -> None:
    policy = policy_of(kind)
    assert (policy.consent is not None) == (CONSENT in TABLE[kind])
    assert policy.needs_verification == (VERIFICATION in TABLE[kind])
