"""Read-only admin of verdicts, effects, promises, event subscriptions and kept cases."""

from __future__ import annotations

from django.contrib import admin

from projects.admin.tenant_admin import TenantAdmin
from tools.engine.custom import admin as custom_admin  # noqa: F401 - registers its pages
from tools.engine.platform import admin as platform_admin  # noqa: F401 - registers its pages
from tools.models import AfterAction, Effect, EventSubscription, KeptCase, LimitAlert, LimitNotice, Promise, Verdict
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


@admin.register(LimitAlert)
class LimitAlertAdmin(TenantAdmin):
    list_display = ("limit", "is_reached", "used", "most", "project", "created_at", "lifted_at", "lifted_by")
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
