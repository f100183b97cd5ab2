"""URLs of the console's core pages."""

from __future__ import annotations

from django.urls import path

from console import jobs, playground, undo
from console.dashboard import views as dashboard
from console.effects import views as effects
from console.inbox import ticket_form, tickets
from console.inbox import views as inbox
from console.promises import views as promises
from console.tools import views as tools
from console.tools.history import tool_history

urlpatterns = [
    path("", playground.home, name="home"),
    path("p/<slug:project_slug>/", dashboard.dashboard, name="dashboard"),
    path("p/<slug:project_slug>/undo", undo.undo, name="undo"),
    path("p/<slug:project_slug>/playground", playground.playground, name="playground"),
    path("p/<slug:project_slug>/inbox", inbox.inbox, name="inbox"),
    path("p/<slug:project_slug>/inbox/<uuid:conversation_id>", inbox.conversation, name="conversation"),
    path("p/<slug:project_slug>/inbox/tickets/new", ticket_form.new_ticket, name="new_ticket"),
    path("p/<slug:project_slug>/inbox/tickets/<uuid:ticket_id>", tickets.ticket, name="ticket"),
    path("p/<slug:project_slug>/conversations", inbox.old_list, name="conversations"),
    path("p/<slug:project_slug>/conversations/<uuid:conversation_id>", inbox.old_page),
    path("p/<slug:project_slug>/escalations", inbox.old_list, name="escalations"),
    path("p/<slug:project_slug>/tickets", inbox.old_list, name="tickets"),
    path("p/<slug:project_slug>/tickets/<uuid:ticket_id>", inbox.old_page),
    path("p/<slug:project_slug>/jobs/failed", jobs.failed_jobs, name="failed_jobs"),
    path("p/<slug:project_slug>/promises", promises.promises, name="promises"),
    path("p/<slug:project_slug>/effects", effects.effects, name="effects"),
    path("p/<slug:project_slug>/effects/<uuid:effect_id>", effects.effect, name="effect"),
    path("p/<slug:project_slug>/tools", tools.tools, name="tools"),
    path("p/<slug:project_slug>/tools/custom/new", tools.new_tool, name="new_tool"),
    path("p/<slug:project_slug>/tools/<str:tool_name>", tools.tool, name="tool"),
    path("p/<slug:project_slug>/tools/<str:tool_name>/history", tool_history, name="tool_history"),
]
