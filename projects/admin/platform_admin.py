"""The base class of admin pages for data that belongs to no tenant."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from tenancy.scope import is_platform


class PlatformAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django has no such type at run time
    """Rows that belong to no tenant; platform staff only."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_platform()

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_platform()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_platform()

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_platform()
