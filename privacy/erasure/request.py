"""Requests to erase a customer."""

from __future__ import annotations

import hashlib
from uuid import UUID

from django.db.models import F, Value
from django.db.models.functions import Concat, Now
from django.http import Http404

from conversations.common.merged import find_persona
from conversations.models import Persona
from jobs.enqueue import JobRequest, enqueue
from privacy.models import Erasure
from projects.models import Project, User
from projects.records.audit import SERVER, person

LANE = "erasure"
_ERASED = "erased-"


def request_erasure(project: Project, persona_id: UUID, *, by: User | None = None, actor: str = "") -> Erasure:
    """Hide a customer and those merged into them, and queue the removal of everything about them.

    `actor` names the API key. From the commit on nobody finds the customer, and a new conversation with the same
    `external_id` begins with a new one. Raises Http404 for a customer that the project doesn't have, or that is being
    erased.
    """
    found = find_persona(project.pk, persona_id)
    if found is None:
        raise Http404
    # The lock waits for a conversation that is being started, and for a merge.
    rows = Persona.objects.filter(pk=found.pk) | Persona.objects.filter(merged_into=found)
    locked = list(rows.order_by("pk").select_for_update())
    if not any(row.pk == found.pk and row.erased_at is None and row.merged_into_id is None for row in locked):
        raise Http404
    erasure = Erasure.objects.create(
        project=project,
        personas=[row.pk for row in locked],
        external_ids=[row.external_id for row in locked],
        digests=[digest_of(row.pk) for row in locked],
        requested_by=(person(by) if by else actor or SERVER)[:400],
    )
    # An id of its own frees the identifier.
    Persona.objects.filter(pk__in=erasure.personas).update(
        external_id=Concat(Value(_ERASED), F("id")), erased_at=Now(), flag_reason=""
    )
    enqueue([_job(erasure)])
    return erasure


def digest_of(persona_id: UUID) -> str:
    """The digest by which an erased customer is recognized in an older backup. It doesn't tell the id."""
    return hashlib.sha256(str(persona_id).encode()).hexdigest()


def _job(erasure: Erasure) -> JobRequest:
    key = f"{LANE}:{erasure.pk}"
    return JobRequest(lane=LANE, project_id=erasure.project_id, subject_id=erasure.pk, ordinal=0, key=key)
