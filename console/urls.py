"""URLs of the console's core pages."""

from __future__ import annotations

from django.urls import path

from console import jobs, playground, undo
from console.conversations import views as conversations
from console.dashboard import views as dashboard
from console.effects import views as effects
from console.inbox import escalations, ticket_form, tickets
from console.promises import views as promises
from console.tools import views as tools
from console.tools.history import tool_history

urlpatterns = [
    path("", playground.home, name="home"),
    path("p/<slug:project_slug>/", dashboard.dashboard, name="dashboard"),
    path("p/<slug:project_slug>/undo", undo.undo, name="undo"),
    path("p/<slug:project_slug>/playground", playground.playground, name="playground"),
    path("p/<slug:project_slug>/conversations", conversations.conversations, name="conversations"),
    path("p/<slug:project_slug>/conversations/<uuid:conversation_id>", conversations.conversation, name="conversation"),
    path("p/<slug:project_slug>/escalations", escalations.escalations, name="escalations"),
    path("p/<slug:project_slug>/escalations/<uuid:escalation_id>", escalations.escalation, name="escalation"),
    path("p/<slug:project_slug>/tickets", tickets.tickets, name="tickets"),
    path("p/<slug:project_slug>/tickets/new", ticket_form.new_ticket, name="new_ticket"),
    path("p/<slug:project_slug>/tickets/<uuid:ticket_id>", tickets.ticket, name="ticket"),
    path("p/<slug:project_slug>/jobs/failed", jobs.failed_jobs, name="failed_jobs"),
    path("p/<slug:project_slug>/promises", promises.promises, name="promises"),
    path("p/<slug:project_slug>/effects", effects.effects, name="effects"),
    path("p/<slug:project_slug>/effects/<uuid:effect_id>", effects.effect, name="effect"),
    path("p/<slug:project_slug>/tools", tools.tools, name="tools"),
    path("p/<slug:project_slug>/tools/custom/new", tools.new_tool, name="new_tool"),
    path("p/<slug:project_slug>/tools/<str:tool_name>", tools.tool, name="tool"),
    path("p/<slug:project_slug>/tools/<str:tool_name>/history", tool_history, name="tool_history"),
]
