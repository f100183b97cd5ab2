"""The latest promises, as they are made, kept and broken."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from console.promises.figures import promises_of
from console.promises.rows import state_of
from console.timestamps import Timestamp, format_timestamp
from projects.models import Project
from tenancy.prepared_queries import PreparedQuery

SHOWN = 5
# The newest promises among which the latest changes are looked for.
NEWEST = 40


@dataclass(frozen=True)
class News:
    """One promise: its state and the time of its last change."""

    quote: str
    tone: str
    icon: str
    word: str
    url: str
    at: Timestamp


def just_now(project: Project, *, zone: str) -> list[News]:
    """The promises that changed last, among the newest. Call inside the tenant's transaction."""
    now = timezone.now()
    latest = sorted(_NEWEST(project.pk), key=lambda one: one.closed_at or one.created_at, reverse=True)
    found = []
    for promise in latest[:SHOWN]:
        tone, icon, word = state_of(promise)
        at = format_timestamp(promise.closed_at or promise.created_at, zone=zone, now=now)
        url = reverse("conversation", args=[project.slug, promise.conversation_id])
        found.append(News(promise.quote.strip(), tone, icon, word, url, at))
    return found


_NEWEST = PreparedQuery(
    lambda project: promises_of(Project(pk=project)).select_related("effect").order_by(F("id").desc())[:NEWEST],
    kinds=(UUID,),
)
