"""URLs of the console's core pages."""

from __future__ import annotations

from django.urls import path

from console import jobs, manifest, playground, undo
from console.analytics import views as analytics
from console.csv_export import csv_view
from console.dashboard import views as dashboard
from console.effects import views as effects
from console.effects.export import EFFECTS
from console.evaluation.views import VIEW, regression_cases
from console.inbox import replies, ticket_form, tickets
from console.inbox import views as inbox
from console.inbox.export import CONVERSATIONS, inbox_csv
from console.inbox.ticket_export import TICKETS
from console.notices import views as notices
from console.palette import views as palette
from console.promises import views as promises
from console.promises.export import PROMISES
from console.tools import views as tools
from console.tools.abilities import ability, old_settings
from console.tools.history import tool_history
from console.usage import views as usage
from console.usage.export import USAGE
from conversations.portal.catalog import CONSOLE, javascript_catalog

urlpatterns = [
    path("", playground.home, name="home"),
    path("manifest.webmanifest", manifest.manifest, name="manifest"),
    path("favicon.ico", manifest.icon, {"name": "icon-192"}, name="favicon"),
    path("apple-touch-icon.png", manifest.icon, {"name": "apple-touch-icon"}, name="touch_icon"),
    path("apple-touch-icon-precomposed.png", manifest.icon, {"name": "apple-touch-icon"}, name="old_touch_icon"),
    path("i18n/console/<str:language>.js", javascript_catalog, {"app": CONSOLE}, name="console_catalog"),
    path("p/<slug:project_slug>/", dashboard.dashboard, name="dashboard"),
    path("p/<slug:project_slug>/notices", notices.notices, name="notices"),
    path("p/<slug:project_slug>/notices/read", notices.read, name="read_notices"),
    path("p/<slug:project_slug>/notices/news", notices.news, name="notice_news"),
    path("p/<slug:project_slug>/notices/browser", notices.browser, name="notice_browser"),
    path("p/<slug:project_slug>/analytics", analytics.analytics, name="analytics"),
    path("p/<slug:project_slug>/usage", usage.usage, name="usage"),
    path("p/<slug:project_slug>/usage.csv", csv_view(USAGE), name="usage_csv"),
    path("p/<slug:project_slug>/palette", palette.palette, name="palette"),
    path("p/<slug:project_slug>/undo", undo.undo, name="undo"),
    path("p/<slug:project_slug>/playground", playground.playground, name="playground"),
    path("p/<slug:project_slug>/inbox", inbox.inbox, name="inbox"),
    path("p/<slug:project_slug>/inbox.csv", inbox_csv, name="inbox_csv"),
    path("p/<slug:project_slug>/conversations.csv", csv_view(CONVERSATIONS), name="conversations_csv"),
    path("p/<slug:project_slug>/tickets.csv", csv_view(TICKETS), name="tickets_csv"),
    path("p/<slug:project_slug>/inbox/<uuid:conversation_id>", inbox.conversation, name="conversation"),
    path("p/<slug:project_slug>/inbox/replies", replies.replies, name="canned_replies"),
    path("p/<slug:project_slug>/inbox/tickets/new", ticket_form.new_ticket, name="new_ticket"),
    path("p/<slug:project_slug>/inbox/tickets/<uuid:ticket_id>", tickets.ticket, name="ticket"),
    path("p/<slug:project_slug>/conversations", inbox.old_list, name="conversations"),
    path("p/<slug:project_slug>/conversations/<uuid:conversation_id>", inbox.old_page),
    path("p/<slug:project_slug>/escalations", inbox.old_list, name="escalations"),
    path("p/<slug:project_slug>/tickets", inbox.old_list, name="tickets"),
    path("p/<slug:project_slug>/tickets/<uuid:ticket_id>", inbox.old_page),
    path("p/<slug:project_slug>/jobs/failed", jobs.failed_jobs, name="failed_jobs"),
    path("p/<slug:project_slug>/promises", promises.promises, name="promises"),
    path("p/<slug:project_slug>/promises.csv", csv_view(PROMISES), name="promises_csv"),
    path("p/<slug:project_slug>/effects", effects.effects, name="effects"),
    path("p/<slug:project_slug>/effects.csv", csv_view(EFFECTS), name="effects_csv"),
    path("p/<slug:project_slug>/effects/<uuid:effect_id>", effects.effect, name="effect"),
    path("p/<slug:project_slug>/regression-cases", regression_cases, name=VIEW),
    path("p/<slug:project_slug>/tools", tools.tools, name="tools"),
    path("p/<slug:project_slug>/tools/abilities/<slug:ability_key>", ability, name="ability"),
    path("p/<slug:project_slug>/tools/custom/new", tools.new_tool, name="new_tool"),
    path("p/<slug:project_slug>/agent/abilities", old_settings),
    path("p/<slug:project_slug>/tools/<str:tool_name>", tools.tool, name="tool"),
    path("p/<slug:project_slug>/tools/<str:tool_name>/history", tool_history, name="tool_history"),
]
