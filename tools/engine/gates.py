"""Gates shared by several tools. Each returns "" when open, otherwise the reason for staff.

Gates are pure functions of the business's state. A tool that needs several combines them with `all_of`. Vertical and
channel are not gates; see `capability` and `channels` of the tool.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext_noop

from projects.common.translation import in_english
from projects.connections.integration_types import KINDS
from projects.models.agent_config import EscalationAction
from tools.engine.builtin_tool import Adds, BusinessState, Gate

NO_CALENDAR = gettext_noop("no calendar is connected and no resources are set up for booking")
NO_RESOURCES = gettext_noop("a calendar is connected, but no bookable resource is active")
NO_ARTICLES = gettext_noop("no knowledge base article is published")
NO_RULES = {
    "transfer": gettext_noop("no escalation rule transfers calls"),
    "message": gettext_noop("no escalation rule sends a text"),
}
NO_NUMBERS = gettext_noop("no transfer number is set up")


def needs_calendar(state: BusinessState) -> str:
    """Open while something can be booked. Booking and verification tools share this gate."""
    if state.has_book:
        return ""
    return NO_RESOURCES if state.has_calendar else NO_CALENDAR


def needs_articles(state: BusinessState) -> str:
    """Open while an article is published."""
    return "" if state.has_articles else NO_ARTICLES


def needs_numbers(state: BusinessState) -> str:
    """Open while a transfer number is set up."""
    return "" if state.transfer_numbers else NO_NUMBERS


def needs_escalation(action: EscalationAction) -> Gate:
    """Open while an escalation rule has this action: `transfer` or `message`."""

    def gate(state: BusinessState) -> str:
        return "" if action in state.escalations else NO_RULES[action]

    return gate


def escalated_when(action: EscalationAction) -> Adds:
    """The escalation rules with this action, as lines of a tool's section."""

    def adds(state: BusinessState) -> Sequence[str]:
        return [f"- Use it when {' '.join(rule.when.split())}" for rule in state.rules if rule.action == action]

    return adds


def needs_source(kind: str) -> Gate:
    """Open while a source of this kind is connected and works."""

    def gate(state: BusinessState) -> str:
        if kind in state.connected:
            return ""
        title = in_english(KINDS[kind].title) if kind in KINDS else kind
        return f"{title} is not connected"

    return gate


def all_of(*gates: Gate) -> Gate:
    """Open while every gate is; otherwise the first closed gate's reason."""

    def gate(state: BusinessState) -> str:
        return next((reason for check in gates if (reason := check(state))), "")

    return gate
