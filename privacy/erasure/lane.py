"""The lane that erases customers: one conversation, or one batch of other rows, per transaction.

Each transaction removes rows for good, so a job that dies goes on with the rest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import cast
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from conversations.handover.attachments import waiting_files
from conversations.live.client import publish_deletion
from conversations.live.event_log import lock_conversation
from conversations.models import Conversation, Persona
from jobs.errors import TryLater
from jobs.failpoints import failpoint
from jobs.fence import prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import State
from privacy.erasure import mentions
from privacy.erasure.calendar import settle_events
from privacy.erasure.request import LANE
from privacy.erasure.rows import EffectUnderWay, Removed, delete_rows, remove_rows
from privacy.models import Erasure, ErasureState
from privacy.registry import BY_MODEL
from privacy.subjects import SubjectIds, conversations_of, ids_of_conversations, ids_of_personas, ids_of_rows
from projects.models import AuditAction, Project
from projects.records.audit import record_change
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

# An attempt hands over to the next one after this long, so that it never meets its deadline.
LONGEST_RUN_SECONDS = 60
EFFECT_SECONDS, CALENDAR_SECONDS = 1.0, 5.0
WAITS_FOR_EFFECT = "An action for this customer is being carried out. The erasure goes on when its result is known."
WAITS_FOR_CALENDAR = "The connected calendar is being updated."
# Todos, tickets and bookings without a conversation that one transaction removes.
BATCH = 50


@dataclass
class Progress:
    """The state of one attempt. `waiting` are conversations with an effect that is being sent."""

    waiting: set[UUID] = field(default_factory=set)
    is_over: bool = False


def erasure_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(
        name=LANE,
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_erasure,
        deadline=timedelta(minutes=5),
        max_attempts=20,
        slots=4,
        lock=_lock_erasure,
        on_failed=_fail,
        on_run_again=_run_again,
    )


async def run_erasure(job: ClaimedJob) -> None:
    """Remove rows until none is left. Raises TryLater to wait for an effect or the calendar."""
    progress, ends_at = Progress(), time.monotonic() + LONGEST_RUN_SECONDS
    while not progress.is_over:
        await in_db(_step, job, progress)
        failpoint("erasure.step")
        if time.monotonic() > ends_at:
            raise TryLater("", delay_seconds=0)


def _step(job: ClaimedJob, progress: Progress) -> None:
    """Remove the next rows and commit."""
    with tenant_tx(job.organization_id):
        erasure = Erasure.objects.select_for_update(of=("self",)).select_related("project").get(pk=job.subject_id)
        prove(job)
        is_removed = erasure.state == ErasureState.CALENDAR
        wait = _finish_calendar(erasure) if is_removed else _remove_next(erasure, progress)
        if wait is None and Erasure.objects.filter(pk=erasure.pk, state=ErasureState.DONE).exists():
            prove(job, finish=State.DONE)
            progress.is_over = True
        failpoint("erasure.pre_commit")
    if wait is not None:
        raise wait


def _remove_next(erasure: Erasure, progress: Progress) -> TryLater | None:
    conversation = conversations_of(erasure.personas).exclude(pk__in=progress.waiting).first()
    if conversation is not None:
        if not _remove_conversation(erasure, conversation):
            progress.waiting.add(conversation.pk)
        return None
    if progress.waiting:
        return _wait(erasure, WAITS_FOR_EFFECT, seconds=EFFECT_SECONDS)
    ids = ids_of_personas(erasure.personas, most=BATCH)
    if not (ids.todos or ids.tickets or ids.bookings):
        contacts = mentions.contacts_of(erasure)
        ids = ids_of_rows(
            effects=mentions.unlinked_effects(erasure.project_id, contacts)[:BATCH],
            bookings=mentions.unlinked_bookings(erasure.project_id, contacts)[:BATCH],
        )
    if ids.effects or ids.todos or ids.tickets or ids.bookings:
        return _remove_others(erasure, ids)
    _remove_customer(erasure)
    return None


def _remove_conversation(erasure: Erasure, conversation: Conversation) -> bool:
    """Remove a conversation with everything that belongs to it. False if one of its effects is being sent."""
    lock_conversation(conversation.pk)
    ids = ids_of_conversations([conversation.pk])
    try:
        removed = remove_rows(ids)
    except EffectUnderWay:
        return False
    mentions.forget_responses(erasure.project_id, ids)
    deleted = delete_rows(Conversation, ids.conversations)
    _note(erasure, removed, conversations=deleted)
    transaction.on_commit(partial(publish_deletion, [conversation.pk]))
    return True


def _remove_others(erasure: Erasure, ids: SubjectIds) -> TryLater | None:
    """Remove rows without a conversation."""
    try:
        removed = remove_rows(ids)
    except EffectUnderWay:
        return _wait(erasure, WAITS_FOR_EFFECT, seconds=EFFECT_SECONDS)
    mentions.forget_responses(erasure.project_id, ids)
    _note(erasure, removed)
    return None


def _remove_customer(erasure: Erasure) -> None:
    """Remove what names the customer elsewhere, then the customer, and write the audit entry, which names nobody."""
    personas = list(erasure.personas)
    list(Persona.objects.filter(pk__in=personas).order_by("pk").select_for_update())
    if conversations_of(personas).exists():
        # One that was begun before the request has just been committed.
        return
    ids = ids_of_personas(personas, most=BATCH)
    files = waiting_files(erasure.project_id, erasure.external_ids)
    mentions.forget_responses(erasure.project_id, ids, files=files)
    _note(erasure, Removed({"attachments": files.delete()[0]}))
    mentions.forget_mentions(erasure.project_id, mentions.identifiers_of(erasure))
    delete_rows(Persona, personas)
    erasure.refresh_from_db(fields=["removed", "bookings"])
    state = ErasureState.CALENDAR if erasure.bookings else ErasureState.DONE
    emptied = BY_MODEL[Erasure].emptied
    Erasure.objects.filter(pk=erasure.pk).update(state=state, waits_for="", **emptied)
    if state is ErasureState.DONE:
        Erasure.objects.filter(pk=erasure.pk).update(finished_at=Now())
    _record(erasure, customers=len(personas))
    transaction.on_commit(partial(publish_deletion, personas))


def _record(erasure: Erasure, *, customers: int) -> None:
    record_change(
        AuditAction.CUSTOMER_ERASED,
        organization_id=cast(UUID, erasure.organization_id),
        by=None,
        actor=erasure.requested_by,
        subject="a customer",
        project=cast(Project, erasure.project),
        after={"erasure": str(erasure.pk), "records": {"customers": customers, **erasure.removed}},
    )


def _finish_calendar(erasure: Erasure) -> TryLater | None:
    if not settle_events(erasure):
        return _wait(erasure, WAITS_FOR_CALENDAR, seconds=CALENDAR_SECONDS)
    Erasure.objects.filter(pk=erasure.pk).update(state=ErasureState.DONE, waits_for="", finished_at=Now())
    return None


def _note(erasure: Erasure, removed: Removed, **more: int) -> None:
    counts = dict(erasure.removed)
    for name, number in {**removed.counts, **more}.items():
        if number:
            counts[name] = counts.get(name, 0) + number
    bookings = sorted({*erasure.bookings, *removed.bookings})
    Erasure.objects.filter(pk=erasure.pk).update(
        state=ErasureState.RUNNING, removed=counts, bookings=bookings, waits_for=""
    )


def _wait(erasure: Erasure, reason: str, *, seconds: float) -> TryLater:
    Erasure.objects.filter(pk=erasure.pk).update(waits_for=reason)
    return TryLater(reason, delay_seconds=seconds)


def _lock_erasure(erasure_id: UUID) -> None:
    Erasure.objects.select_for_update().filter(pk=erasure_id).first()


def _fail(job: ClaimedJob, reason: str) -> None:
    Erasure.objects.filter(pk=job.subject_id).update(state=ErasureState.FAILED, waits_for=reason[:300])


def _run_again(erasure_id: UUID, ordinal: int) -> None:
    found = Erasure.objects.get(pk=erasure_id)
    state = ErasureState.RUNNING if found.personas else ErasureState.CALENDAR
    Erasure.objects.filter(pk=erasure_id).update(state=state, waits_for="")
