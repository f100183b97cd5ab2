"""Escalations and tickets in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from projects.admin.tenant_admin import TenantAdmin
from tools.models import Escalation, OperatorNotice, Ticket, TicketAnswer, TicketChange


@admin.register(Escalation)
class EscalationAdmin(TenantAdmin):
    list_display = ("reason", "state", "project", "created_at", "requested_at", "claimed_by", "resolved_at")
    list_filter = ("state", "project")
    list_select_related = ("project", "claimed_by")
    search_fields = ("=id", "=conversation_id", "reason")
    date_hierarchy = "created_at"


@admin.register(Ticket)
class TicketAdmin(TenantAdmin):
    list_display = ("number", "subject", "state", "priority", "assignee", "project", "created_at", "updated_at")
    list_filter = ("state", "priority", "project")
    list_select_related = ("project", "assignee")
    search_fields = ("=id", "=number", "=conversation_id", "subject")
    date_hierarchy = "created_at"


@admin.register(TicketChange)
class TicketChangeAdmin(TenantAdmin):
    list_display = ("ticket", "actor", "before", "after", "created_at")
    list_select_related = ("ticket",)
    search_fields = ("=ticket__id", "actor")
    date_hierarchy = "created_at"


@admin.register(TicketAnswer)
class TicketAnswerAdmin(TenantAdmin):
    list_display = ("ticket", "actor", "channel", "content", "created_at")
    list_filter = ("channel",)
    list_select_related = ("ticket",)
    search_fields = ("=ticket__id", "actor")
    date_hierarchy = "created_at"


@admin.register(OperatorNotice)
class OperatorNoticeAdmin(TenantAdmin):
    list_display = ("member", "project", "sent_at")
    list_filter = ("project",)
    list_select_related = ("member__user", "project")
    search_fields = ("member__user__email",)
