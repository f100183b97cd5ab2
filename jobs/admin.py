"""The admin of jobs and model calls. Both are read-only; failed jobs can be run again."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from jobs.errors import WrongState
from jobs.lanes import UnknownLane
from jobs.models import Job, ModelCall, ModelUsage
from jobs.services import run_again
from projects.admin.tenant_admin import TenantAdmin
from projects.common.translation import lazy
from projects.models import Project
from tenancy.scope import tenant_tx


@admin.register(Job)
class JobAdmin(TenantAdmin):
    list_display = ("lane", "ordinal", "state", "attempts", "project", "error", "created_at", "finished_at")
    list_filter = ("state", "project")
    list_select_related = ("project",)
    search_fields = ("=id", "=subject_id", "error")
    date_hierarchy = "created_at"
    actions = ("run_again",)

    @admin.action(description=lazy("Run the selected jobs again"))
    def run_again(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        """Requeue each job in a transaction of its tenant, so that a refused one doesn't stop the others."""
        refused = [reason for job in jobs if (reason := _refusal(job))]
        messages.success(
            request,
            gettext("%(count)s of %(all)s jobs queued again.") % {"count": len(jobs) - len(refused), "all": len(jobs)},
        )
        for reason in sorted(set(refused)):
            messages.warning(
                request, gettext("%(count)s refused: %(reason)s") % {"count": refused.count(reason), "reason": reason}
            )


@admin.register(ModelCall)
class ModelCallAdmin(TenantAdmin):
    list_display = ("skill", "model", "project", "started_at", "total_ms", "input_tokens", "output_tokens", "error")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("=id", "=turn_id", "=skill", "=error")
    date_hierarchy = "started_at"


@admin.register(ModelUsage)
class ModelUsageAdmin(TenantAdmin):
    list_display = ("day", "project", "model", "skill", "calls", "input_tokens", "output_tokens", "cost")
    list_filter = ("project",)
    list_select_related = ("project",)
    search_fields = ("=id", "=model", "=skill")
    date_hierarchy = "day"


def _refusal(job: Job) -> str:
    """The reason why the job can't run again, or an empty string."""
    try:
        with tenant_tx(cast(UUID, job.organization_id)):
            run_again(Project.objects.get(pk=job.project_id), job.pk)
    except WrongState as error:
        return error.message
    except UnknownLane as error:
        return str(error.args[0])
    return ""
