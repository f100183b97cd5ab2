"""Users and second factors in the admin."""

from __future__ import annotations

from typing import cast

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from projects.admin.platform_admin import PlatformAdmin
from projects.common.translation import lazy
from projects.models import (
    AuditAction,
    User,
)
from projects.records.mfa_audit import record_factor_change
from tenancy.scope import is_platform

# Members' roles define permissions, so groups are not used.
admin.site.unregister(Group)
admin.site.unregister(Authenticator)


class NewUserForm(AdminUserCreationForm):  # type: ignore[type-arg]  # Django has no such type at run time
    class Meta:
        model = User
        fields = ("email",)


@admin.register(User)
class UserAdmin(PlatformAdmin, DjangoUserAdmin):  # type: ignore[type-arg]  # Django has no such type at run time
    """Everyone who signs in; platform staff only, because users belong to no tenant."""

    add_form = NewUserForm
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        (lazy("Person"), {"fields": ("first_name", "last_name")}),
        (lazy("Rights"), {"fields": ("is_active", "is_superuser")}),
        (lazy("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "usable_password", "password1", "password2")}),)
    list_display = ("email", "first_name", "last_name", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser")
    search_fields = ("email", "first_name", "last_name")
    readonly_fields = ("last_login", "date_joined")
    filter_horizontal = ()
    ordering = ("email",)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: users are deactivated, so that their history keeps its author."""
        return False


@admin.register(Authenticator)
class AuthenticatorAdmin(PlatformAdmin):
    """Second factors, without their secrets. Staff delete one for a user who lost both phone and recovery codes."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    list_select_related = ("user",)
    search_fields = ("user__email",)
    fields = readonly_fields = ("user", "type", "created_at", "last_used_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_platform()

    def delete_model(self, request: HttpRequest, obj: Authenticator) -> None:
        """Delete the factor, and record it in the audit logs of the user's organizations."""
        lost = {"factor": f"{obj.get_type_display()}: {obj}" if obj.type == obj.Type.WEBAUTHN else str(obj)}
        super().delete_model(request, obj)
        record_factor_change(AuditAction.FACTOR_TAKEN, user=obj.user, by=cast(User, request.user), before=lost)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Authenticator]) -> None:
        for one in queryset:
            self.delete_model(request, one)
