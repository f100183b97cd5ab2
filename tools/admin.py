"""Read-only admin of verdicts, effects, promises, event subscriptions and kept cases."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from projects.admin.tenant_admin import TenantAdmin
from projects.models import Organization
from tenancy.scope import is_platform
from tools.engine.custom import admin as custom_admin  # noqa: F401 - registers its pages
from tools.engine.limits.changes import forget
from tools.engine.platform import admin as platform_admin  # noqa: F401 - registers its pages
from tools.models import (
    AfterAction,
    CaseResult,
    Effect,
    EvaluationRun,
    EventSubscription,
    KeptCase,
    LimitAlert,
    LimitNotice,
    OperatorLimit,
    OrganizationLimit,
    Promise,
    Verdict,
)
from tools.services.bookings import admin as book_admin  # noqa: F401 - registers its pages
from tools.services.support import admin as desk_admin  # noqa: F401 - registers its pages
from tools.services.verification import admin as verification_admin  # noqa: F401 - registers its pages


@admin.register(Verdict)
class VerdictAdmin(TenantAdmin):
    list_display = ("tool", "fired", "rule", "reason", "created_at")
    list_filter = ("fired",)
    search_fields = ("=tool", "=conversation_id", "=turn_id")
    date_hierarchy = "created_at"


@admin.register(Effect)
class EffectAdmin(TenantAdmin):
    list_display = ("tool", "kind", "state", "delivery", "attempts", "recipient", "error", "created_at", "finished_at")
    list_filter = ("state", "delivery")
    search_fields = ("=id", "=tool", "=kind", "=conversation_id", "=turn_id", "=recipient")
    date_hierarchy = "created_at"


@admin.register(AfterAction)
class AfterActionAdmin(TenantAdmin):
    list_display = ("type", "effect", "index", "state", "value", "error", "finished_at")
    list_filter = ("state",)
    list_select_related = ("effect",)
    search_fields = ("=id", "=effect__id", "=type")


@admin.register(Promise)
class PromiseAdmin(TenantAdmin):
    list_display = ("quote", "tool", "state", "reason", "due_at", "closed_at")
    list_filter = ("state",)
    search_fields = ("=id", "=tool", "=conversation_id", "=turn_id", "quote")
    date_hierarchy = "created_at"


@admin.register(EventSubscription)
class EventSubscriptionAdmin(TenantAdmin):
    hidden = ("secrets",)
    list_display = ("target", "url", "events", "is_enabled", "last_state", "last_error", "last_attempt_at")
    list_filter = ("target", "is_enabled", "last_state")
    search_fields = ("=id", "url")


@admin.register(KeptCase)
class KeptCaseAdmin(TenantAdmin):
    list_display = ("name", "channel", "answer", "created_at", "created_by")
    list_filter = ("channel",)
    search_fields = ("=id", "name", "answer")
    date_hierarchy = "created_at"


@admin.register(EvaluationRun)
class EvaluationRunAdmin(TenantAdmin):
    list_display = ("number", "model", "state", "project", "created_at", "finished_at")
    list_filter = ("state", "project")
    list_select_related = ("project",)
    search_fields = ("=id", "model")
    date_hierarchy = "created_at"


@admin.register(CaseResult)
class CaseResultAdmin(TenantAdmin):
    list_display = ("case", "run", "state", "error", "finished_at")
    list_filter = ("state",)
    list_select_related = ("case", "run")
    search_fields = ("=id", "=run__id", "=case__id")


@admin.register(LimitAlert)
class LimitAlertAdmin(TenantAdmin):
    list_display = (
        *("limit", "of_organization", "is_reached", "used", "most", "project", "created_at", "lifted_at", "lifted_by"),
    )
    list_filter = ("limit", "is_reached", "project")
    list_select_related = ("project", "lifted_by")
    search_fields = ("=id", "lifted_by__email")
    date_hierarchy = "created_at"


@admin.register(LimitNotice)
class LimitNoticeAdmin(TenantAdmin):
    list_display = ("member", "project", "sent_at")
    list_filter = ("project",)
    list_select_related = ("member__user", "project")
    search_fields = ("member__user__email",)


@admin.register(OrganizationLimit)
class OrganizationLimitAdmin(TenantAdmin):
    """Limits that owners have set on the page *Limits*, read-only here."""

    list_display = ("limit", "most", "set_by", "set_at")
    list_filter = ("limit",)
    list_select_related = ("set_by",)
    search_fields = ("=id",)


class OperatorLimitForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """A new limit. The model's own reference isn't editable, because tenants' rows stay with their tenant."""

    limited: Any = forms.ModelChoiceField(queryset=None, label="organization")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Without a tenant, a row has no organization by itself.
        kwargs["instance"] = kwargs.get("instance") or OperatorLimit(organization=None)
        super().__init__(*args, **kwargs)
        self.fields["limited"].queryset = Organization.objects.order_by("name")  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        known = OperatorLimit.objects.filter(organization=found.get("limited"), limit=found.get("limit"))
        if known.exists():
            raise forms.ValidationError("This organization has such a limit already. Change that one.")
        return found


@admin.register(OperatorLimit)
class OperatorLimitAdmin(TenantAdmin):
    """Limits of organizations, which only the operator of the installation sets."""

    list_display = ("limit", "most", "set_at")
    list_filter = ("limit",)
    search_fields = ("=id",)
    writable = ("most",)
    addable = ("limited", "limit", "most")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_platform()

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_platform()

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return is_platform()

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **kwargs, **({} if obj else {"form": OperatorLimitForm}))

    def save_model(self, request: HttpRequest, obj: OperatorLimit, form: Any, change: bool) -> None:
        if not change:
            obj.organization = form.cleaned_data["limited"]
        super().save_model(request, obj, form, change)
        forget()
