"""Admin pages for messages, turns and what each turn left behind."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from conversations.models import (
    Analysis,
    ArchivedTranscript,
    Directives,
    Event,
    FollowUp,
    Message,
    MessageTranslation,
    PromptSection,
    Summary,
    Turn,
    TurnCall,
    TurnStep,
    Wait,
)
from projects.admin.tenant_admin import TenantAdmin


@admin.register(Message)
class MessageAdmin(TenantAdmin):
    list_display = ("conversation", "seq", "role", "author", "content", "created_at")
    list_filter = ("role",)
    list_select_related = ("conversation",)
    search_fields = ("=id", "=conversation__id", "content")
    date_hierarchy = "created_at"


@admin.register(MessageTranslation)
class MessageTranslationAdmin(TenantAdmin):
    list_display = ("message", "language", "created_at")
    list_filter = ("language",)
    list_select_related = ("message",)
    search_fields = ("=message__id",)


@admin.register(ArchivedTranscript)
class ArchivedTranscriptAdmin(TenantAdmin):
    list_display = ("conversation", "created_at")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id",)
    hidden = ("content", "text")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ArchivedTranscript]:
        """Without the contents, which are large."""
        return super().get_queryset(request).defer("content", "text")


@admin.register(Turn)
class TurnAdmin(TenantAdmin):
    list_display = ("conversation", "seq", "status", "freshness", "created_at", "finished_at", "error")
    list_filter = ("status", "freshness")
    list_select_related = ("conversation",)
    search_fields = ("=id", "=conversation__id")
    date_hierarchy = "created_at"


@admin.register(TurnStep)
class TurnStepAdmin(TenantAdmin):
    list_display = ("turn", "number", "content", "created_at")
    list_select_related = ("turn",)
    search_fields = ("=id", "=turn__id", "content")
    date_hierarchy = "created_at"


@admin.register(TurnCall)
class TurnCallAdmin(TenantAdmin):
    list_display = ("name", "step", "index", "effect", "is_error", "result", "finished_at")
    list_filter = ("is_error",)
    list_select_related = ("step", "effect")
    search_fields = ("=id", "=step__turn__id", "=effect__id", "=name")
    date_hierarchy = "created_at"


@admin.register(Analysis)
class AnalysisAdmin(TenantAdmin):
    list_display = ("conversation", "turn", "created_at", "finished_at")
    list_select_related = ("conversation", "turn")
    search_fields = ("=conversation__id", "=turn__id")
    date_hierarchy = "created_at"


@admin.register(Directives)
class DirectivesAdmin(TenantAdmin):
    list_display = ("conversation", "version", "turn", "created_at")
    list_select_related = ("conversation", "turn")
    search_fields = ("=id", "=conversation__id")
    date_hierarchy = "created_at"


@admin.register(PromptSection)
class PromptSectionAdmin(TenantAdmin):
    list_display = ("conversation", "name", "content", "updated_at")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "=name", "content")


@admin.register(Event)
class EventAdmin(TenantAdmin):
    list_display = ("conversation", "seq", "idn", "type", "created_at")
    list_filter = ("type",)
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "=idn")
    date_hierarchy = "created_at"


@admin.register(FollowUp)
class FollowUpAdmin(TenantAdmin):
    list_display = ("conversation", "generation", "state", "due_at", "created_at")
    list_filter = ("state",)
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id",)
    date_hierarchy = "due_at"


@admin.register(Summary)
class SummaryAdmin(TenantAdmin):
    list_display = ("conversation", "until_seq", "text", "created_at")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "text")
    date_hierarchy = "created_at"


@admin.register(Wait)
class WaitAdmin(TenantAdmin):
    list_display = ("conversation", "reason", "opened_at", "until", "ended_at", "outcome")
    list_filter = ("outcome",)
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "=effect_id", "reason")
    date_hierarchy = "opened_at"
