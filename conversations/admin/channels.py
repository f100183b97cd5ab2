"""Admin pages for calls, messengers and files."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from conversations.models import (
    Attachment,
    Call,
    ChannelLink,
    Chat,
    DeliveredFile,
    Delivery,
    Receipt,
    StoredObject,
    VoiceSession,
)
from projects.admin.tenant_admin import TenantAdmin


@admin.register(Call)
class CallAdmin(TenantAdmin):
    list_display = ("conversation", "caller", "called", "state", "created_at", "ended_at")
    list_filter = ("state", "provider")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id", "=external_id")


@admin.register(VoiceSession)
class VoiceSessionAdmin(TenantAdmin):
    list_display = ("conversation", "created_at", "heard_at", "speaking_since", "ended_at", "applied")
    list_select_related = ("conversation",)
    search_fields = ("=conversation__id",)
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


@admin.register(DeliveredFile)
class DeliveredFileAdmin(TenantAdmin):
    list_display = ("message", "number")
    list_select_related = ("message",)
    search_fields = ("=message__id",)
    hidden = ("content",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeliveredFile]:
        """Without the contents, which may be large."""
        return super().get_queryset(request).defer("content")


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
