"""Verdicts and effects in the admin: facts."""

from __future__ import annotations

from django.contrib import admin

from projects.tenant_admin import TenantAdmin
from tools.models import Effect, Verdict


@admin.register(Verdict)
class VerdictAdmin(TenantAdmin):
    list_display = ("tool", "fired", "rule", "reason", "created_at")
    list_filter = ("fired",)
    search_fields = ("=tool", "=conversation_id", "=turn_id")
    date_hierarchy = "created_at"


@admin.register(Effect)
class EffectAdmin(TenantAdmin):
    list_display = ("tool", "kind", "state", "attempts", "error", "created_at", "finished_at")
    list_filter = ("state",)
    search_fields = ("=id", "=tool", "=kind", "=conversation_id", "=turn_id")
    date_hierarchy = "created_at"
