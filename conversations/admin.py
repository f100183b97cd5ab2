"""Admin pages for customers and conversations."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from conversations.models import (
    Analysis,
    ArchivedTranscript,
    Attachment,
    Call,
    CannedReply,
    ChannelLink,
    Chat,
    ConsentChange,
    Conversation,
    ConversationTag,
    Delivery,
    Directives,
    Event,
    FollowUp,
    Mention,
    Message,
    MessageTranslation,
    Note,
    Persona,
    PersonaField,
    PromptSection,
    Receipt,
    StoredObject,
    Summary,
    Tag,
    Turn,
    TurnCall,
    TurnStep,
    VoiceSession,
    Wait,
)
from projects.admin.tenant_admin import TenantAdmin


@admin.register(Persona)
class PersonaAdmin(TenantAdmin):
    list_display = ("external_id", "project", "flagged", "flag_reason", "created_at")
    list_filter = ("flagged", "project")
    list_select_related = ("project",)
    search_fields = ("external_id",)


@admin.register(PersonaField)
class PersonaFieldAdmin(TenantAdmin):
    list_display = ("persona", "key", "value", "strength", "updated_at")
    list_filter = ("strength",)
    list_select_related = ("persona",)
    search_fields = ("persona__external_id", "=key", "value")


@admin.register(ConsentChange)
class ConsentChangeAdmin(TenantAdmin):
    list_display = ("persona", "kind", "is_given", "source", "recipient", "created_at")
    list_filter = ("kind", "is_given", "source")
    list_select_related = ("persona",)
    search_fields = ("persona__external_id", "=recipient")
    date_hierarchy = "created_at"


@admin.register(Conversation)
class ConversationAdmin(TenantAdmin):
    list_display = ("created_at", "channel", "status", "operator", "persona", "project", "flag", "updated_at")
    list_filter = ("status", "channel", "project")
    list_select_related = ("persona", "project", "operator")
    search_fields = ("=id", "persona__external_id", "flag")
    date_hierarchy = "created_at"


@admin.register(Tag)
class TagAdmin(TenantAdmin):
    list_display = ("name", "color", "project", "created_at")
    list_filter = ("color", "project")
    list_select_related = ("project",)
    search_fields = ("name",)


@admin.register(ConversationTag)
class ConversationTagAdmin(TenantAdmin):
    list_display = ("conversation", "tag", "created_at")
    list_filter = ("tag",)
    list_select_related = ("conversation", "tag")
    search_fields = ("=conversation__id",)


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


@admin.register(Attachment)
class AttachmentAdmin(TenantAdmin):
    list_display = ("name", "conversation", "content_type", "size", "created_at")
    list_filter = ("content_type",)
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "name")
    hidden = ("content", "object")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attachment]:
        """Without the contents, which may be large."""
        return super().get_queryset(request).defer("content")


@admin.register(StoredObject)
class StoredObjectAdmin(TenantAdmin):
    list_display = ("id", "place", "state", "due_at", "attempts", "error", "created_at")
    list_filter = ("state",)
    search_fields = ("=id", "=attachment_id")


@admin.register(Call)
class CallAdmin(TenantAdmin):
    list_display = ("conversation", "caller", "called", "state", "created_at", "ended_at")
    list_filter = ("state", "provider")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "=external_id")


@admin.register(CannedReply)
class CannedReplyAdmin(TenantAdmin):
    list_display = ("name", "project", "deleted_at", "updated_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("name", "content")


@admin.register(Note)
class NoteAdmin(TenantAdmin):
    list_display = ("conversation", "author_name", "created_at")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "author_name")
    date_hierarchy = "created_at"


@admin.register(Mention)
class MentionAdmin(TenantAdmin):
    list_display = ("user", "conversation", "read_at", "created_at")
    list_select_related = ("user", "conversation")
    search_fields = ("=conversation__id", "user__email")


@admin.register(Turn)
class TurnAdmin(TenantAdmin):
    list_display = ("conversation", "seq", "status", "freshness", "created_at", "finished_at", "error")
    list_filter = ("status", "freshness")
    list_select_related = ("conversation",)
    search_fields = ("=id", "=conversation__id")
    date_hierarchy = "created_at"


@admin.register(Message)
class MessageAdmin(TenantAdmin):
    list_display = ("conversation", "seq", "role", "author", "content", "created_at")
    list_filter = ("role",)
    list_select_related = ("conversation",)
    search_fields = ("=id", "=conversation__id", "content")
    date_hierarchy = "created_at"


@admin.register(Directives)
class DirectivesAdmin(TenantAdmin):
    list_display = ("conversation", "version", "turn", "created_at")
    list_select_related = ("conversation", "turn")
    search_fields = ("=id", "=conversation__id")
    date_hierarchy = "created_at"


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


@admin.register(VoiceSession)
class VoiceSessionAdmin(TenantAdmin):
    list_display = ("conversation", "created_at", "heard_at", "speaking_since", "ended_at", "applied")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id",)
    date_hierarchy = "created_at"


@admin.register(PromptSection)
class PromptSectionAdmin(TenantAdmin):
    list_display = ("conversation", "name", "content", "updated_at")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "=name", "content")


@admin.register(Analysis)
class AnalysisAdmin(TenantAdmin):
    list_display = ("conversation", "turn", "created_at", "finished_at")
    list_select_related = ("conversation", "turn")
    search_fields = ("=conversation__id", "=turn__id")
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


@admin.register(Chat)
class ChatAdmin(TenantAdmin):
    list_display = ("kind", "account", "external_id", "conversation", "opted_out_at", "created_at")
    list_filter = ("kind",)
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "=external_id")
    date_hierarchy = "created_at"


@admin.register(Delivery)
class DeliveryAdmin(TenantAdmin):
    list_display = ("kind", "account", "external_id", "result", "detail", "received_at")
    list_filter = ("kind", "result")
    search_fields = ("=conversation__id", "=external_id")
    date_hierarchy = "received_at"


@admin.register(Receipt)
class ReceiptAdmin(TenantAdmin):
    list_display = ("message", "part", "state", "reason", "accepted_at", "sent_at", "delivered_at", "read_at")
    list_filter = ("state",)
    list_select_related = ("message",)
    search_fields = ("=conversation__id", "=effect__id", "=external_id")
    date_hierarchy = "accepted_at"


@admin.register(ChannelLink)
class ChannelLinkAdmin(TenantAdmin):
    list_display = ("kind", "account", "name", "problem", "connected_at")
    list_filter = ("kind",)
    search_fields = ("=account", "=name")
    date_hierarchy = "tried_at"
