"""The palette's fixed entries: pages, sections of the settings, actions and projects that a member may open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext

from console.agent.page import DEVELOPER_TABS, tab_url
from console.agent.sections import OTHER_TABS, SECTIONS
from console.layout import may_administer, projects_of
from conversations.channels.simulated import is_available
from projects.common.translation import lazy
from projects.models.key import Scope
from projects.models.permissions import Entry


@dataclass(frozen=True)
class PaletteEntry:
    """An entry. `words` are found as well as the title. `act` names an action of the browser's, which has no `url`."""

    group: str
    title: str
    icon: str
    url: str = ""
    hint: str = ""
    words: str = ""
    act: str = ""


@dataclass(frozen=True)
class PageEntry:
    """A page by the name of its URL, for members with the scope and, if `is_developer`, with developer tools."""

    view: str
    title: str
    icon: str
    words: str = ""
    query: str = ""
    scope: Scope = Scope.READ
    is_developer: bool = False


PAGES = (
    PageEntry("dashboard", lazy("Home"), "home", lazy("dashboard start figures")),
    PageEntry("analytics", lazy("Analytics"), "trending-up", lazy("figures reports channels topics")),
    PageEntry("inbox", lazy("Inbox"), "inbox", lazy("conversations waiting")),
    PageEntry("inbox", lazy("Tickets"), "inbox", lazy("requests support"), query="?view=tickets"),
    PageEntry("calls", lazy("Calls"), "phone", lazy("phone telephone live hang up")),
    PageEntry("people", lazy("People"), "user", lazy("customers contacts persons")),
    PageEntry("playground", lazy("Playground"), "message-bolt", lazy("test try chat")),
    PageEntry("simulated_phone", lazy("Simulated phone"), "device-mobile-message", lazy("sms whatsapp telegram demo")),
    PageEntry("bookings", lazy("Bookings"), "calendar-time", lazy("reservations calendar")),
    PageEntry("resources", lazy("Resources"), "calendar-time", lazy("tables rooms staff")),
    PageEntry("promises", lazy("Promises"), "writing-sign", lazy("kept broken")),
    PageEntry("todos", lazy("Todos"), "checklist", lazy("tasks approve review")),
    PageEntry("knowledge", lazy("Knowledge"), "book-2", lazy("articles answers")),
    PageEntry("tools", lazy("Tools"), "tool", lazy("abilities actions switch on off")),
    PageEntry("regression_cases", lazy("Regression cases"), "flask", lazy("evaluation tests quality")),
    PageEntry("widget", lazy("Widget"), "message-2", lazy("website chat")),
    PageEntry("usage", lazy("Usage"), "cpu", lazy("cost tokens billing budget month storage")),
    PageEntry("members", lazy("Members"), "users", lazy("team roles invite")),
    PageEntry("member_history", lazy("Audit log"), "history", lazy("changes who"), scope=Scope.CONFIGURE),
    PageEntry("api_keys", lazy("API keys"), "key", lazy("token secret"), is_developer=True),
    PageEntry("effects", lazy("Effects"), "bolt", lazy("ledger outbox"), is_developer=True),
    PageEntry("failed_jobs", lazy("Failures"), "alert-circle", lazy("failed jobs errors"), is_developer=True),
)
ACTIONS = (
    PageEntry("new_todo", lazy("New todo"), "plus", lazy("create task"), scope=Scope.OPERATE),
    PageEntry(
        "bookings", lazy("New booking"), "plus", lazy("create reservation"), query="?new=1#new", scope=Scope.OPERATE
    ),
    PageEntry("new_ticket", lazy("New ticket"), "plus", lazy("create request"), scope=Scope.OPERATE),
    PageEntry("new_article", lazy("New article"), "plus", lazy("write knowledge"), scope=Scope.CONFIGURE),
    PageEntry("new_tool", lazy("New custom tool"), "plus", lazy("create ability"), scope=Scope.CONFIGURE),
    PageEntry("members", lazy("Invite a teammate"), "users", lazy("member add"), scope=Scope.CONFIGURE),
)
SECTION_ICON = "adjustments-horizontal"
# Words under which a section of the settings is looked for, apart from its title.
SECTION_WORDS = {
    "hours": lazy("opening holidays time zone"),
    "models": lazy("provider api key openai"),
    "integrations": lazy("sms e-mail twilio smtp connect messages"),
    "escalation": lazy("handover transfer verification"),
    "publish": lazy("draft changes live"),
    "limits": lazy("budget quota cost money tokens storage organization"),
    "privacy": lazy("retention erase delete export"),
    "history": lazy("versions restore"),
    "attributes": lazy("variables secrets"),
}


def palette_entries(entry: Entry) -> list[PaletteEntry]:
    """Every fixed entry that the member may open. Call outside of a tenant's transaction."""
    return [*_pages(entry, PAGES, group=gettext("Pages")), *_sections(entry), *_actions(entry), *_projects(entry)]


def _pages(entry: Entry, pages: tuple[PageEntry, ...], *, group: str) -> Iterator[PaletteEntry]:
    for page in pages:
        if page.view == "simulated_phone" and not is_available():
            continue
        if entry.may(page.scope) and (entry.member.developer_tools or not page.is_developer):
            url = reverse(page.view, args=[entry.project.slug]) + page.query
            yield PaletteEntry(group, page.title, page.icon, url, words=page.words)


def _sections(entry: Entry) -> Iterator[PaletteEntry]:
    tabs = [*((section.slug, section.title) for section in SECTIONS), *OTHER_TABS, ("publish", gettext("Publish"))]
    for slug, title in tabs:
        if entry.member.developer_tools or slug not in DEVELOPER_TABS:
            words = gettext("configuration settings") + f" {SECTION_WORDS.get(slug, '')}"
            url = tab_url(entry.project.slug, slug)
            yield PaletteEntry(
                gettext("Settings"), title, SECTION_ICON, url, hint=gettext("Configuration"), words=words
            )


def _actions(entry: Entry) -> Iterator[PaletteEntry]:
    yield from _pages(entry, ACTIONS, group=gettext("Actions"))
    yield PaletteEntry(
        gettext("Actions"), gettext("Switch theme"), "moon", act="theme", words=gettext("dark light mode")
    )
    yield PaletteEntry(
        gettext("Actions"), gettext("Keyboard shortcuts"), "keyboard", act="keys", words=gettext("keys help")
    )
    here = f"?project={entry.project.slug}"
    yield PaletteEntry(
        gettext("Actions"),
        gettext("Your account"),
        "user",
        reverse("account") + here,
        words=gettext("profile password passkey name language"),
    )
    yield PaletteEntry(
        gettext("Actions"),
        gettext("Notification settings"),
        "bell",
        f"{reverse('notice_settings')}{here}&organization={entry.project.organization.pk}",
        words=gettext("notices quiet hours e-mail slack browser push digest"),
    )
    if may_administer(entry):
        yield PaletteEntry(
            gettext("Actions"),
            gettext("Administration"),
            "shield-check",
            reverse("admin:enter", args=[entry.project.organization.pk]),
            words=gettext("django admin tables records import"),
        )
    if entry.member.developer_tools:
        yield PaletteEntry(
            gettext("Actions"),
            gettext("API docs"),
            "code",
            reverse("api_docs") + here,
            words=gettext("reference openapi"),
        )


def _projects(entry: Entry) -> Iterator[PaletteEntry]:
    for project in projects_of(entry.member.user):
        if project["slug"] != entry.project.slug:
            title, hint = gettext("Switch to %(project)s") % {"project": project["name"]}, project["organization"]
            yield PaletteEntry(gettext("Projects"), title, "selector", project["url"], hint=hint, words="project")
