"""Verifications and verification codes in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from projects.admin.tenant_admin import TenantAdmin
from tools.models import Verification, VerificationCode


@admin.register(Verification)
class VerificationAdmin(TenantAdmin):
    list_display = ("method", "persona_id", "conversation_id", "verified_at")
    list_filter = ("method",)
    search_fields = ("=id", "=persona_id", "=conversation_id")
    date_hierarchy = "verified_at"


@admin.register(VerificationCode)
class VerificationCodeAdmin(TenantAdmin):
    list_display = ("sent_by", "tries", "persona_id", "conversation_id", "created_at", "expires_at", "used_at")
    list_filter = ("sent_by",)
    search_fields = ("=id", "=persona_id", "=conversation_id")
    date_hierarchy = "created_at"
    hidden = ("digest",)
