"""Admin pages of erasures."""

from __future__ import annotations

from django.contrib import admin

from privacy.models import Erasure, OrganizationDeletion, RetentionRun
from projects.admin.tenant_admin import TenantAdmin


@admin.register(Erasure)
class ErasureAdmin(TenantAdmin):
    list_display = ("created_at", "project", "state", "requested_by", "waits_for", "finished_at")
    list_filter = ("state",)
    list_select_related = ("project",)
    search_fields = ("=id",)
    date_hierarchy = "created_at"


@admin.register(RetentionRun)
class RetentionRunAdmin(TenantAdmin):
    list_display = ("project", "due_at", "stage", "started_at", "finished_at", "error")
    list_select_related = ("project",)
    search_fields = ("=id", "=project__id")


@admin.register(OrganizationDeletion)
class OrganizationDeletionAdmin(TenantAdmin):
    list_display = ("due_at", "requested_by", "created_at")
    search_fields = ("=id",)
