"""Validation of tool names."""

from __future__ import annotations

from typing import Any

import pytest

from tools.engine.registry import builtin_tools
from tools.engine.validation.names import name_problems


def refusal(name: Any, *, others: tuple[str, ...] = ()) -> str:
    return "".join(problem.message for problem in name_problems(name, others=others))


@pytest.mark.parametrize("name", ["send_quote_tool", "a", "Quote-2", "x" * 64])
def test_a_plain_name_is_accepted(name: str) -> None:
    assert refusal(name) == ""


@pytest.mark.parametrize(
    "name", ["send quote", "x" * 65, "x" * 200, "__proto__", "", "2fast", "sénd_quote", "a.b", 7, None]
)
def test_an_invalid_name_is_refused(name: Any) -> None:
    assert "A name is a letter, then letters, digits, _ or -, at most 64 characters" in refusal(name)


@pytest.mark.parametrize("name", sorted(builtin_tools()))
def test_the_exact_name_of_a_built_in_tool_is_accepted(name: str) -> None:
    assert refusal(name) == ""


@pytest.mark.parametrize(
    "name",
    [
        "Send_SMS_tool",
        "SEND_SMS_TOOL",
        "send-sms-tool",
        "send_sms_t00l",
        "send_sms_too1",
        "send_sms_tooI",
        "send_sms_to\u043el",  # Cyrillic o
        "s\u0435nd_sms_tool",  # Cyrillic e
        "send_sms_t\u03bfol",  # Greek omicron
        "send_s\u200bms_tool",  # a zero-width space
        "\uff53end_sms_tool",  # a full-width s
        "send_srns_tool",
    ],
)
def test_a_look_alike_of_a_built_in_name_is_refused(name: str) -> None:
    assert "looks like send_sms_tool. Use that exact name to replace it" in refusal(name)


def test_a_built_in_name_in_capitals_is_refused() -> None:
    """Also names with confusable letters."""
    taken = {name: refusal(name.upper()) for name in builtin_tools()}
    assert all(f"looks like {name}." in said for name, said in taken.items())


def test_look_alikes_within_a_project_are_refused() -> None:
    assert "looks like quote_tool" in refusal("Quote_Tool", others=("quote_tool",))
    assert refusal("quote_tool", others=("quote_tool",)) == ""


@pytest.mark.requirement("N44")
@pytest.mark.parametrize("name", ["urgent_message", "user_message", "convoagent_activate_waiting_mode"])
def test_a_reserved_event_name_is_refused(name: str) -> None:
    """A tool's event carries its name and would be mistaken for the system's."""
    assert "is reserved for a system event" in refusal(name)
