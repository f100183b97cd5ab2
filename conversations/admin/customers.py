"""Admin pages for customers and for what staff keeps about conversations."""

from __future__ import annotations

from django.contrib import admin

from conversations.models import (
    CannedReply,
    ConsentChange,
    Conversation,
    ConversationTag,
    Mention,
    Note,
    Persona,
    PersonaField,
    Tag,
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
