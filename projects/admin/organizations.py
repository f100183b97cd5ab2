"""Organizations, members, invitations and the audit log in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from projects.accounts.members import MemberRefused, add_member, remove_member, set_role
from projects.admin.forms import MemberForm, NewMemberForm, OrganizationForm
from projects.admin.tenant_admin import TenantAdmin, actor_role, current_actor, own_organization
from projects.agents.services import create_organization
from projects.models import (
    AuditEntry,
    Invitation,
    Member,
    Organization,
    Role,
)
from tenancy.scope import is_platform


@admin.register(Organization)
class OrganizationAdmin(TenantAdmin):
    list_display = ("name", "created_at")
    search_fields = ("name",)
    writable = ("name",)
    addable = ("name", "owner")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_platform()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        organizations: QuerySet[Organization] = super().get_queryset(request)
        return organizations if is_platform() else organizations.filter(pk=own_organization().pk)

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **kwargs, **({} if obj else {"form": OrganizationForm}))

    def save_model(self, request: HttpRequest, obj: Organization, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
        else:
            obj.pk = create_organization(obj.name, owner=form.cleaned_data["owner"]).pk


@admin.register(Member)
class MemberAdmin(TenantAdmin):
    list_display = ("user", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("user",)
    search_fields = ("user__email", "user__first_name", "user__last_name")
    writable = ("role",)
    addable = ("email", "role")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        is_owner = isinstance(obj, Member) and obj.role == Role.OWNER
        return not is_owner or actor_role(request) == Role.OWNER

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs, form=MemberForm if obj else NewMemberForm)
        form.by = actor_role(request)
        return form

    def save_model(self, request: HttpRequest, obj: Member, form: Any, change: bool) -> None:
        role, by = Role(form.cleaned_data["role"]), current_actor(request)
        if change:
            set_role(obj, role=role, by=by)
        else:
            obj.user = form.cleaned_data["email"]
            obj.pk = add_member(obj.user, role=role, by=by).pk

    def delete_model(self, request: HttpRequest, obj: Member) -> None:
        try:
            remove_member(obj, by=current_actor(request))
        except MemberRefused as error:
            raise PermissionDenied(error.message) from error


@admin.register(Invitation)
class InvitationAdmin(TenantAdmin):
    """Invitations, read-only: they are sent and revoked on the members page."""

    list_display = ("email", "role", "invited_by", "created_at", "expires_at", "accepted_at", "revoked_at")
    list_filter = ("role",)
    list_select_related = ("invited_by",)
    search_fields = ("email",)
    hidden = ("digest",)


@admin.register(AuditEntry)
class AuditEntryAdmin(TenantAdmin):
    """The audit log, read-only: entries are written with the changes they describe."""

    list_display = ("at", "actor", "action", "subject", "project_name")
    list_filter = ("action",)
    search_fields = ("actor", "subject")
