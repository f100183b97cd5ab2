"""Effects and promises that need a person's attention."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import DurationField, QuerySet, Value
from django.db.models.functions import Cast, Now

from projects.models import Project
from tools.models import NOT_SENT, Effect, EffectState, Promise, PromiseState

# A broken promise needs attention for this long.
ATTENTION_WINDOW = timedelta(days=7)


def unknown_effects(project: Project) -> QuerySet[Effect]:
    """Effects with an unknown outcome, newest first, without those of erased customers: nobody could say any more."""
    rows = Effect.objects.filter(project_id=project.pk, state=EffectState.UNKNOWN, erased_at=None)
    return rows.order_by("-created_at")


def recently_broken_promises(project: Project) -> QuerySet[Promise]:
    """Promises broken within ATTENTION_WINDOW and not closed since, newest first, without those that were not sent."""
    rows = Promise.objects.filter(project_id=project.pk, state=PromiseState.BROKEN).exclude(NOT_SENT)
    return rows.filter(closed_at__gt=Now() - Cast(Value(ATTENTION_WINDOW), DurationField())).order_by("-closed_at")


def recently_unsent_promises(project: Project) -> QuerySet[Promise]:
    """Promises of messages that stayed in the outbox within ATTENTION_WINDOW, newest first."""
    rows = Promise.objects.filter(NOT_SENT, project_id=project.pk)
    return rows.filter(created_at__gt=Now() - Cast(Value(ATTENTION_WINDOW), DurationField())).order_by("-created_at")
