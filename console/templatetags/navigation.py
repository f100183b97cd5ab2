"""The links of the side bar and of the bar at the bottom of a phone: `{% nav_links "agent" %}`, `{% tab_links %}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from console.sidebar_badges import Badge
from projects.common.translation import lazy, plazy

register = template.Library()


@dataclass(frozen=True, eq=False)
class Link:
    """A link to a page by the name of its URL, which is marked on the pages `also` as well. `waits` says what its badge
    counts.
    """

    view: str
    icon: str
    label: str
    also: frozenset[str] = frozenset()
    waits: str = ""

    def is_at(self, view: str) -> bool:
        return view == self.view or view in self.also


_IN_INBOX = frozenset({"conversation", "ticket", "new_ticket", "canned_replies"})
_IN_TODOS = frozenset({"todo", "edit_todo", "new_todo", "allow_todo"})
_IN_TOOLS = frozenset({"tool", "tool_history", "ability", "new_tool"})
_IN_AGENT = frozenset({"channel", "event_subscription", "stored_data"})
_RECONNECT = lazy("Reconnect under Integrations")
_WAITING = lazy("Waiting for your team")
_BROKEN = lazy("Broken in the last 7 days")
_NEED_ATTENTION = lazy("Need attention")
GROUPS: Mapping[str, tuple[Link, ...]] = {
    "work": (
        Link("dashboard", "home", lazy("Home")),
        Link("analytics", "trending-up", lazy("Analytics")),
        Link("inbox", "inbox", lazy("Inbox"), _IN_INBOX, _WAITING),
        Link("people", "user", lazy("People"), frozenset({"person", "merge_person"})),
        Link("calls", "phone", lazy("Calls")),
        Link("playground", "message-bolt", lazy("Playground")),
        Link("simulated_phone", "device-mobile-message", lazy("Simulated phone")),
        Link("bookings", "calendar-time", lazy("Bookings"), frozenset({"booking", "resources"})),
    ),
    "follow_through": (
        Link("promises", "writing-sign", lazy("Promises"), waits=_BROKEN),
        Link("todos", "checklist", lazy("Todos"), _IN_TODOS, _NEED_ATTENTION),
    ),
    "agent": (
        Link("agent", "adjustments-horizontal", lazy("Configuration"), _IN_AGENT, _RECONNECT),
        Link("knowledge", "book-2", lazy("Knowledge"), frozenset({"article", "new_article"})),
        Link("tools", "tool", lazy("Tools"), _IN_TOOLS),
        Link("regression_cases", "flask", lazy("Regression cases")),
        Link("widget", "message-2", lazy("Widget")),
    ),
    "settings": (
        Link("members", "users", lazy("Members"), frozenset({"member_history"})),
        Link("usage", "cpu", lazy("Usage")),
    ),
    "developers": (
        Link("api_keys", "key", lazy("API keys")),
        Link("effects", "bolt", lazy("Effects"), frozenset({"effect"}), lazy("Unknown outcome")),
        Link("failed_jobs", "alert-circle", lazy("Failures")),
    ),
}
TABS = (
    Link("dashboard", "home", lazy("Home")),
    Link("inbox", "inbox", plazy("short", "Inbox"), _IN_INBOX, _WAITING),
    Link("playground", "message-bolt", plazy("short", "Playground")),
    Link("todos", "checklist", lazy("Todos"), _IN_TODOS, _NEED_ATTENTION),
    Link("promises", "writing-sign", lazy("Promises"), waits=_BROKEN),
)
_NOTHING = Badge(0)


@register.simple_tag(takes_context=True)
def nav_links(context: Mapping[str, Any], group: str) -> SafeString:
    """The links of a group of the side bar."""
    return _joined("_nav_link.html", GROUPS[group], context)


@register.simple_tag(takes_context=True)
def tab_links(context: Mapping[str, Any]) -> SafeString:
    """The five pages of the day."""
    return _joined("_tab.html", TABS, context)


def _joined(name: str, links: Iterable[Link], context: Mapping[str, Any]) -> SafeString:
    return mark_safe("\n".join(_rendered(name, links, context)))  # noqa: S308  # joins what templates rendered


def _rendered(name: str, links: Iterable[Link], context: Mapping[str, Any]) -> Iterator[SafeString]:
    match = context["request"].resolver_match
    current = context.get("active_view") or (match.view_name if match else "")
    slug, badges, language = context["project"].slug, context["badges"], get_language()
    for link in links:
        if link.view == "simulated_phone" and not context["simulates_phone"]:
            continue
        yield _link(name, link, slug, badges.get(link.view, _NOTHING), link.is_at(current), language)


@lru_cache(maxsize=4096)
def _link(name: str, link: Link, slug: str, count: Badge, is_current: bool, language: str) -> SafeString:
    """A link, which depends on nothing else. A page has 26 of them, and few differ from those of the page before."""
    return render_to_string(name, {"link": link, "slug": slug, "count": count, "is_current": is_current})
