"""Projects, their settings, connections and API keys in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from projects.admin.forms import ApiKeyForm, AttributeForm
from projects.admin.tenant_admin import MASK, TenantAdmin, actor_role, current_user, own_organization
from projects.agents.services import create_key, create_project, revoke_key
from projects.common.translation import lazy, plazy
from projects.models import (
    AgentVersion,
    ApiKey,
    Attribute,
    AuditAction,
    IdempotentRequest,
    Project,
    Source,
    StoredBytes,
    Widget,
)
from projects.models.agent_config import AgentConfig
from projects.models.attribute import AttributeType
from projects.models.key import Scope
from projects.records.attributes import fill_row
from projects.records.audit import key_facts, record_key_change


@admin.register(Project)
class ProjectAdmin(TenantAdmin):
    list_display = ("name", "slug", "agent_version", "created_at")
    list_select_related = ("agent_version",)
    search_fields = ("name", "slug")
    writable = ("name",)
    addable = ("name",)

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        config = AgentConfig(agent_name=obj.name[:80], business_name=own_organization().name)
        obj.pk = create_project(obj.name, config=config, author=current_user(request)).pk


@admin.register(AgentVersion)
class AgentVersionAdmin(TenantAdmin):
    """Agent versions, read-only: new ones are made on the agent's page."""

    list_display = ("project", "number", "author", "note", "created_at")
    list_filter = ("project",)
    list_select_related = ("project", "author")
    search_fields = ("note",)


@admin.register(Attribute)
class AttributeAdmin(TenantAdmin):
    form = AttributeForm
    list_display = ("key", "project", "type", "shown_value", "updated_at")
    list_filter = ("type", "project")
    list_select_related = ("project",)
    search_fields = ("key",)
    ordering = ("key",)
    writable = ("type", "text")
    addable = ("project", "key", "type", "text")
    hidden = ("value", "secret")
    shown = ("text",)
    is_deletable = True

    @admin.display(description=plazy("field", "value"))
    def shown_value(self, row: Attribute) -> str:
        return MASK if row.type == AttributeType.SECRET else str(row.value)[:120]

    def save_model(self, request: HttpRequest, obj: Attribute, form: Any, change: bool) -> None:
        if not form.keeps_secret:
            fill_row(obj, form.cleaned_data["value"])
        super().save_model(request, obj, form, change)


@admin.register(Source)
class SourceAdmin(TenantAdmin):
    """Connections, read-only: they are changed on the integrations page. The secret is never shown."""

    list_display = ("kind", "project", "is_enabled", "needs_reauth", "updated_at")
    list_filter = ("needs_reauth", "project")
    list_select_related = ("project",)
    search_fields = ("=kind",)
    hidden = ("secret",)


@admin.register(Widget)
class WidgetAdmin(TenantAdmin):
    """Widgets, read-only: they are set up on the widget page. The secret is never shown."""

    list_display = ("public_key", "project", "is_enabled", "origins", "updated_at")
    list_filter = ("is_enabled", "project")
    list_select_related = ("project",)
    search_fields = ("=public_key",)
    hidden = ("shopper_secret",)


@admin.register(ApiKey)
class ApiKeyAdmin(TenantAdmin):
    form = ApiKeyForm
    list_display = ("name", "prefix", "project", "scopes", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("name", "prefix")
    actions = ("revoke",)
    writable = ("name", "scopes", "expires_at")
    addable = ("project", "name", "scopes", "expires_at")
    hidden = ("digest",)

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.by = actor_role(request)
        return form

    @admin.action(description=lazy("Revoke the selected keys"))
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        user = current_user(request)
        revoked = sum(revoke_key(key, by=user) for key in keys)
        messages.success(
            request,
            gettext("%(revoked)s of %(keys)s keys revoked. They stop working at the next request.")
            % {"revoked": revoked, "keys": len(keys)},
        )

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            before = key_facts(ApiKey.objects.get(pk=obj.pk))
            super().save_model(request, obj, form, change)
            record_key_change(AuditAction.KEY_CHANGED, obj, by=current_user(request), before=before)
            return
        scopes = [Scope(scope) for scope in obj.scopes]
        user = current_user(request)
        new = create_key(obj.project, name=obj.name, scopes=scopes, expires_at=obj.expires_at, created_by=user)
        obj.pk, obj.prefix = new.key.pk, new.key.prefix
        messages.warning(
            request, gettext("Copy the key now. It won’t be shown again: %(secret)s") % {"secret": new.secret}
        )


@admin.register(IdempotentRequest)
class IdempotentRequestAdmin(TenantAdmin):
    list_display = ("key", "project", "status", "created_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("key",)


@admin.register(StoredBytes)
class StoredBytesAdmin(TenantAdmin):
    """The bytes that projects store, read-only: triggers count them."""

    list_display = ("kind", "bytes", "project")
    list_filter = ("kind", "project")
    list_select_related = ("project",)
    search_fields = ("=id",)
