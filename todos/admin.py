"""Admin pages of todos, their approvals and their runs. History is read-only."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from jobs.errors import WrongState
from projects.admin.tenant_admin import TenantAdmin
from projects.common.translation import lazy
from projects.models import User
from tenancy.scope import tenant_tx
from todos.content.lifecycle import Actor
from todos.models import Approval, ApproverNotice, StandingRule, Todo, TodoCall, TodoEvent, TodoStep, TodoType
from todos.services import cancel_todo


@admin.register(TodoType)
class TodoTypeAdmin(TenantAdmin):
    list_display = ("name", "project", "approver_role", "second_approver", "is_extracted", "is_removed", "updated_at")
    list_filter = ("approver_role", "second_approver", "is_extracted", "is_removed")
    list_select_related = ("project",)
    search_fields = ("=id", "name", "description")


@admin.register(Todo)
class TodoAdmin(TenantAdmin):
    list_display = ("description", "status", "type", "source", "taker", "version", "reason", "created_at", "status_at")
    list_filter = ("status", "source")
    list_select_related = ("type",)
    search_fields = ("=id", "=conversation_id", "=turn_id", "=source_key", "=tool", "=taken_by", "taker", "description")
    date_hierarchy = "created_at"
    actions = ("cancel",)

    @admin.action(description=lazy("Cancel the selected todos (running ones stop before their next effect)"))
    def cancel(self, request: HttpRequest, todos: QuerySet[Todo]) -> None:
        """Cancel each todo in its own tenant's transaction, so that one that has already ended doesn't block the
        others.
        """
        actor = Actor(cast(User, request.user).name)
        refused = [reason for todo in todos if (reason := _refusal(todo, actor))]
        messages.success(
            request,
            gettext("%(count)s of %(all)s todos canceled.") % {"count": len(todos) - len(refused), "all": len(todos)},
        )
        for reason in sorted(set(refused)):
            messages.warning(
                request, gettext("%(count)s refused: %(reason)s") % {"count": refused.count(reason), "reason": reason}
            )


@admin.register(TodoEvent)
class TodoEventAdmin(TenantAdmin):
    list_display = ("todo", "what", "from_status", "to_status", "version", "actor", "at")
    list_filter = ("to_status",)
    list_select_related = ("todo",)
    search_fields = ("=todo__id", "=what", "actor")
    date_hierarchy = "at"


@admin.register(Approval)
class ApprovalAdmin(TenantAdmin):
    list_display = ("todo", "version", "approver", "second_approver", "created_at", "expires_at", "ended_at")
    list_filter = ("needs_second",)
    list_select_related = ("todo",)
    search_fields = ("=id", "=todo__id", "=content_hash", "approver")
    date_hierarchy = "created_at"


@admin.register(StandingRule)
class StandingRuleAdmin(TenantAdmin):
    list_display = ("tool", "type", "most_per_day", "project", "created_at", "ended_at")
    list_select_related = ("type", "project")
    search_fields = ("=id", "=tool")
    date_hierarchy = "created_at"


@admin.register(TodoStep)
class TodoStepAdmin(TenantAdmin):
    list_display = ("todo", "number", "model", "total_ms", "cost", "started_at", "finished_at")
    list_select_related = ("todo",)
    search_fields = ("=id", "=todo__id", "=approval__id", "content")
    date_hierarchy = "started_at"


@admin.register(TodoCall)
class TodoCallAdmin(TenantAdmin):
    list_display = ("name", "step", "index", "effect", "is_error", "result", "finished_at")
    list_filter = ("is_error",)
    list_select_related = ("step", "effect")
    search_fields = ("=id", "=step__todo__id", "=effect__id", "=name")


@admin.register(ApproverNotice)
class ApproverNoticeAdmin(TenantAdmin):
    list_display = ("member_id", "project", "sent_at")
    list_select_related = ("project",)
    search_fields = ("=id", "=member_id")
    date_hierarchy = "sent_at"


def _refusal(todo: Todo, actor: Actor) -> str:
    """The reason why the todo was not cancelled; an empty string if it was."""
    try:
        with tenant_tx(cast(UUID, todo.organization_id)):
            cancel_todo(todo.pk, actor=actor, reason="Cancelled in the admin.")
    except WrongState as error:
        return error.message
    return ""
