"""URLs of conversations under /api/v1/."""

from __future__ import annotations

from django.urls import path

from conversations.api import (
    effects,
    evaluate,
    events,
    inbox,
    inbox_bulk,
    live,
    live_tools,
    operators,
    rehearse,
    tags,
    tickets,
    views,
    voice,
)

urlpatterns = [
    path("conversations", views.Conversations.as_view()),
    path("conversations/bulk", inbox_bulk.bulk),
    path("conversations/<uuid:conversation_id>", views.ConversationDetail.as_view()),
    path("conversations/<uuid:conversation_id>/messages", live.messages),
    path("conversations/<uuid:conversation_id>/turns", views.Turns.as_view()),
    path("conversations/<uuid:conversation_id>/turns/<uuid:turn_id>", views.TurnDetail.as_view()),
    path("conversations/<uuid:conversation_id>/events", live.events),
    path("conversations/<uuid:conversation_id>/session", live_tools.LiveSession.as_view()),
    path("conversations/<uuid:conversation_id>/session/reports", voice.SessionReports.as_view()),
    path("conversations/<uuid:conversation_id>/session/updates", voice.updates),
    path("conversations/<uuid:conversation_id>/tool-calls", live_tools.live_calls),
    path("conversations/<uuid:conversation_id>/log", events.SystemEvents.as_view()),
    path("conversations/<uuid:conversation_id>/take-over", operators.TakeOver.as_view()),
    path("conversations/<uuid:conversation_id>/operator-messages", operators.OperatorMessages.as_view()),
    path("conversations/<uuid:conversation_id>/hand-back", operators.HandBack.as_view()),
    path("conversations/<uuid:conversation_id>/inbox", inbox.Inbox.as_view()),
    path("conversations/<uuid:conversation_id>/assignee", inbox.Assignee.as_view()),
    path("conversations/<uuid:conversation_id>/tags", inbox.ConversationTags.as_view()),
    path("conversations/<uuid:conversation_id>/snooze", inbox.Snooze.as_view()),
    path("conversations/<uuid:conversation_id>/close", inbox.Close.as_view()),
    path("conversations/<uuid:conversation_id>/reopen", inbox.Reopen.as_view()),
    path("tags", tags.Tags.as_view()),
    path("tags/<uuid:tag_id>", tags.TagDetail.as_view()),
    path("tickets", tickets.Tickets.as_view()),
    path("tickets/<uuid:ticket_id>", tickets.TicketDetail.as_view()),
    path("tickets/<uuid:ticket_id>/answers", tickets.TicketAnswers.as_view()),
    path("tools/evaluate", evaluate.evaluate),
    path("tools/rehearse", rehearse.rehearse_tools),
    path("effects/<uuid:effect_id>/resolve", effects.ResolveEffect.as_view()),
    path("effects/<uuid:effect_id>/release", effects.ReleaseEffect.as_view()),
    path("effects/<uuid:effect_id>/acknowledge", effects.AcknowledgeEffect.as_view()),
    path("tool-results/<str:token>", effects.ToolResult.as_view()),
    path("personas/<uuid:persona_id>", views.PersonaDetail.as_view()),
]
