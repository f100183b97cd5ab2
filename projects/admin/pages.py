"""Organizations, their members, projects, settings and keys in the admin."""

from __future__ import annotations

from typing import Any, cast

from allauth.mfa.models import Authenticator
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from projects.accounts.members import MemberRefused, add_member, remove_member, set_role
from projects.admin.forms import ApiKeyForm, AttributeForm, MemberForm, NewMemberForm, OrganizationForm
from projects.admin.tenant_admin import MASK, TenantAdmin, actor_role, own_organization
from projects.agents.services import create_key, create_organization, create_project, revoke_key
from projects.models import (
    AgentVersion,
    ApiKey,
    Article,
    ArticleWord,
    Attribute,
    AuditAction,
    AuditEntry,
    IdempotentRequest,
    Invitation,
    Member,
    Organization,
    Project,
    Role,
    Source,
    User,
    Widget,
)
from projects.models.agent_config import AgentConfig
from projects.models.attribute import AttributeType
from projects.models.key import Scope
from projects.records.attributes import MODEL_KEY, fill
from projects.records.audit import Actor, key_facts, note_key
from projects.records.mfa_audit import note_factor
from tenancy.scope import is_platform

# Members' roles define permissions, so groups are not used.
admin.site.unregister(Group)
admin.site.unregister(Authenticator)


class NewUserForm(AdminUserCreationForm):  # type: ignore[type-arg]  # Django has no such type at run time
    class Meta:
        model = User
        fields = ("email",)


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


@admin.register(User)
class UserAdmin(PlatformAdmin, DjangoUserAdmin):  # type: ignore[type-arg]  # Django has no such type at run time
    """Everyone who signs in; platform staff only, because users belong to no tenant."""

    add_form = NewUserForm
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        ("Person", {"fields": ("first_name", "last_name")}),
        ("Rights", {"fields": ("is_active", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
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
        note_factor(AuditAction.FACTOR_TAKEN, user=obj.user, by=cast(User, request.user), before=lost)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Authenticator]) -> None:
        for one in queryset:
            self.delete_model(request, one)


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
        role, by = Role(form.cleaned_data["role"]), _actor(request)
        if change:
            set_role(obj, role=role, by=by)
        else:
            obj.user = form.cleaned_data["email"]
            obj.pk = add_member(obj.user, role=role, by=by).pk

    def delete_model(self, request: HttpRequest, obj: Member) -> None:
        try:
            remove_member(obj, by=_actor(request))
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
        obj.pk = create_project(obj.name, config=config, author=_user_of(request)).pk


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

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False for the project's model key: the models page removes it, and checks that no other key goes to
        its server.
        """
        is_key = isinstance(obj, Attribute) and obj.key == MODEL_KEY and obj.project_id is not None
        return not is_key and super().has_delete_permission(request, obj)

    @admin.display(description="value")
    def shown_value(self, row: Attribute) -> str:
        return MASK if row.type == AttributeType.SECRET else str(row.value)[:120]

    def save_model(self, request: HttpRequest, obj: Attribute, form: Any, change: bool) -> None:
        if not form.keeps_secret:
            fill(obj, form.cleaned_data["value"])
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


@admin.register(Article)
class ArticleAdmin(TenantAdmin):
    """Articles, read-only: they are written on the pages of the knowledge base."""

    list_display = ("title", "slug", "project", "language", "version", "published_at", "updated_at")
    list_filter = ("language", "project")
    list_select_related = ("project",)
    search_fields = ("=slug", "title")


@admin.register(ArticleWord)
class ArticleWordAdmin(TenantAdmin):
    """The search index of articles, rebuilt whenever an article changes."""

    list_display = ("word", "article", "weight")
    ordering = ("-weight",)
    list_select_related = ("article",)
    search_fields = ("=word",)


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

    @admin.action(description="Revoke the selected keys")
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        user = _user_of(request)
        revoked = sum(revoke_key(key, by=user) for key in keys)
        messages.success(request, f"{revoked} of {len(keys)} keys revoked. They stop working at the next request.")

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if change:
            before = key_facts(ApiKey.objects.get(pk=obj.pk))
            super().save_model(request, obj, form, change)
            note_key(AuditAction.KEY_CHANGED, obj, by=_user_of(request), before=before)
            return
        scopes = [Scope(scope) for scope in obj.scopes]
        user = _user_of(request)
        new = create_key(obj.project, name=obj.name, scopes=scopes, expires_at=obj.expires_at, created_by=user)
        obj.pk, obj.prefix = new.key.pk, new.key.prefix
        messages.warning(request, f"Copy the key now, it won't be shown again: {new.secret}")


@admin.register(IdempotentRequest)
class IdempotentRequestAdmin(TenantAdmin):
    list_display = ("key", "project", "status", "created_at")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("key",)


@admin.register(AuditEntry)
class AuditEntryAdmin(TenantAdmin):
    """The audit log, read-only: entries are written with the changes they describe."""

    list_display = ("at", "actor", "action", "subject", "project_name")
    list_filter = ("action",)
    search_fields = ("actor", "subject")


def _actor(request: HttpRequest) -> Actor:
    return Actor(_user_of(request), actor_role(request))


def _user_of(request: HttpRequest) -> User:
    return User.objects.get(pk=cast(int, request.user.pk))
