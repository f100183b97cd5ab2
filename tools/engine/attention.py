"""What of the tools' work waits for a person: effects of unknown outcome, and promises that broke of late."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from projects.models import Project
from tools.models import Effect, EffectState, Promise, PromiseState

# A broken promise is news for so long; after that it is history.
NEWS = timedelta(days=7)


def unanswered_effects(project: Project) -> QuerySet[Effect]:
    """Effects of which nobody has said yet whether they happened, the newest first."""
    return Effect.objects.filter(project_id=project.pk, state=EffectState.UNKNOWN).order_by("-created_at")


def broken_of_late(project: Project) -> QuerySet[Promise]:
    """Promises that broke within NEWS and that nobody has made good since, the newest first."""
    rows = Promise.objects.filter(project_id=project.pk, state=PromiseState.BROKEN)
    return rows.filter(closed_at__gt=timezone.now() - NEWS).order_by("-closed_at")
