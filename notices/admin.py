"""Admin pages of notices."""

from __future__ import annotations

from django.contrib import admin

from notices.models import Notice, NoticeEmail, NoticeSettings, PushMessage, PushSubscription
from projects.admin.tenant_admin import TenantAdmin


@admin.register(Notice)
class NoticeAdmin(TenantAdmin):
    list_display = ("text", "kind", "member", "project", "browser", "email", "slack", "created_at", "read_at")
    list_filter = ("kind",)
    list_select_related = ("member", "project")
    search_fields = ("=id", "=member__id", "=object_id", "=subject")
    date_hierarchy = "created_at"


@admin.register(NoticeSettings)
class NoticeSettingsAdmin(TenantAdmin):
    list_display = ("member", "frequency", "quiet_from", "quiet_to", "timezone", "slack_sent_at", "slack_error")
    list_filter = ("frequency",)
    list_select_related = ("member",)
    search_fields = ("=id", "=member__id")
    hidden = ("slack_url",)


@admin.register(NoticeEmail)
class NoticeEmailAdmin(TenantAdmin):
    list_display = ("member_id", "project", "sent_at")
    list_select_related = ("project",)
    search_fields = ("=id", "=member__id")
    date_hierarchy = "sent_at"


@admin.register(PushSubscription)
class PushSubscriptionAdmin(TenantAdmin):
    list_display = ("name", "member", "created_at", "sent_at", "retry_at", "error")
    list_select_related = ("member",)
    search_fields = ("=id", "=member__id", "name")
    hidden = ("secret",)
    date_hierarchy = "created_at"


@admin.register(PushMessage)
class PushMessageAdmin(TenantAdmin):
    list_display = ("subscription", "notice_id")
    list_select_related = ("subscription",)
    search_fields = ("=id", "=notice_id", "=subscription__id")
