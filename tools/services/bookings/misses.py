"""Missed searches for bookings: guesses of names and codes end after a few, per conversation and per phone number."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now

from projects.models import Project
from tools.engine.execution.handler import ToolContext
from tools.models import Effect, EffectState

KINDS = ("booking_search", "booking_cancel")
# The result's key that marks a miss; its value is the phone number that was named, or "".
MISSED = "missed"
PER_CONVERSATION, PER_NUMBER, WITHIN = 5, 10, timedelta(hours=1)
TOO_OFTEN = "No booking was found by any of these details, so no more can be tried now. A colleague can look into it."


def has_missed_too_often(project: Project, context: ToolContext, *, phone: str) -> bool:
    """True after five misses within an hour in this conversation, or ten with this phone number in any.

    Concurrent attempts in the conversation count, so that a model can't try many at once.
    """
    recent = Effect.objects.filter(kind__in=KINDS, created_at__gt=Now() - WITHIN).exclude(pk=context.effect_id)
    if context.conversation_id:
        here = Q(**{f"result__{MISSED}__isnull": False}) | Q(state=EffectState.SENDING)
        if recent.filter(here, conversation_id=context.conversation_id).count() >= PER_CONVERSATION:
            return True
    named = recent.filter(project_id=project.pk, **{f"result__{MISSED}": phone})
    return bool(phone) and named.count() >= PER_NUMBER
