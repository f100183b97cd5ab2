"""Deletes old records of one kind, a bounded number in the running transaction.

A cursor is how far a kind has been worked through: the time and id of the last row, in the order of an index. What comes
later is found behind it, so that no night reads what earlier ones have read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection, connections, transaction
from django.db.models import Q

from conversations.live.archive import archive_transcript
from conversations.live.client import publish_deletion
from conversations.live.event_log import lock_conversation
from conversations.models import Conversation
from jobs.models import LIVE, Job, ModelCall, State
from privacy.erasure.rows import delete_rows, empty_calls, empty_effects, forget_notices
from privacy.registry import BY_MODEL
from privacy.subjects import SubjectIds, ids_of_conversations
from tenancy.personal_data import Kept
from tenancy.scope import current_organization_id
from todos.models import Todo, TodoStatus
from tools.models import Booking, Effect, EffectState, Escalation, EscalationState, Promise, PromiseState, Ticket

# Rows per transaction: a fraction of a second, and as little as autovacuum follows easily.
ROWS = 1_000
CONVERSATIONS = 20
OPEN_TODOS = (TodoStatus.PENDING_REVIEW, TodoStatus.APPROVED, TodoStatus.IN_PROGRESS, TodoStatus.NEEDS_ATTENTION)
OPEN_EFFECTS = (EffectState.PLANNED, EffectState.SENDING)
FINISHED_JOBS = (State.DONE, State.SUPERSEDED, State.SKIPPED)

_CALLS = """
select id, started_at from jobs_modelcall
where organization_id = %s and project_id = %s and started_at < %s and (started_at, id) > (%s, %s)
order by started_at, id limit %s
"""
_EFFECTS = """
select id, created_at from tools_effect
where organization_id = %s and project_id = %s and created_at < %s and (created_at, id) > (%s, %s)
order by created_at, id limit %s
"""
_CONVERSATIONS = """
select id, updated_at from conversations_conversation
where organization_id = %s and project_id = %s and updated_at < %s and (updated_at, id) > (%s, %s)
order by updated_at, id limit %s
"""
_JOBS = """
select id from jobs_job
where organization_id = %s and project_id = %s and id < %s and state = any(%s) and finished_at < %s
order by id limit %s
"""
# mg_app can't delete events.
_EVENTS = """
delete from conversations_event e using (
    select id from conversations_event where organization_id = %s and conversation_id = %s order by seq limit %s) old
where e.id = old.id and e.organization_id = %s
"""
BEGINNING = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
FIRST = UUID(int=0)


@dataclass(frozen=True)
class Cursor:
    """The last row that was worked through."""

    at: datetime = BEGINNING
    id: UUID = FIRST

    @classmethod
    def read(cls, stored: Any) -> Cursor:
        """The cursor as JSON holds it; the beginning without one."""
        return cls(datetime.fromisoformat(stored["at"]), UUID(stored["id"])) if stored else cls()

    def as_json(self) -> dict[str, str]:
        return {"at": self.at.isoformat(), "id": str(self.id)}


@dataclass(frozen=True)
class Batch:
    """The work of one transaction: the records removed, where to go on, and whether any may be left.

    `skipped` is the place before the first record that was left for another night.
    """

    removed: int
    cursor: Cursor
    is_last: bool
    skipped: Cursor | None = None


Delete = Callable[[UUID, datetime, Cursor], Batch]


def delete_transcripts(project_id: UUID, before: datetime, cursor: Cursor) -> Batch:
    """Delete conversations without activity since `before`, unless something in them is still open.

    Their bookings, tickets and todos stay with the customer, and their effects and model calls as proof and as figures.
    """
    removed, done = 0, cursor
    rows = _rows(_CONVERSATIONS, project_id, before, cursor, most=CONVERSATIONS)
    for pk, at in rows:
        ids = _lock_deletable(pk, before)
        if ids is not None:
            if _delete_events_of(pk, most=ROWS) >= ROWS:
                # This one may have more, and goes in the next transactions.
                return Batch(removed, done, is_last=False)
            _delete_conversation(pk, ids)
            removed += 1
        done = Cursor(at, pk)
    return Batch(removed, done, is_last=len(rows) < CONVERSATIONS)


def archive_transcripts(project_id: UUID, before: datetime, cursor: Cursor) -> Batch:
    """Archive conversations without activity since `before`, unless something in them is still open.

    Their events are in the archive, and are deleted in the transactions after the one that stores it.
    """
    moved, messages, done, skipped = 0, 0, cursor, None
    rows = _rows(_CONVERSATIONS, project_id, before, cursor, most=CONVERSATIONS)
    for pk, at in rows:
        if _lock_deletable(pk, before) is None:
            skipped = skipped or done
        elif Conversation.objects.filter(pk=pk, archived_at=None).exists():
            messages += archive_transcript(pk)
            moved += 1
        elif not moved and _delete_events_of(pk, most=ROWS) >= ROWS:
            return Batch(0, done, is_last=False, skipped=skipped)
        if messages >= ROWS:
            break
        done = done if moved else Cursor(at, pk)
    return Batch(moved, done, is_last=not moved and len(rows) < CONVERSATIONS, skipped=skipped)


def delete_events(project_id: UUID, before: datetime, cursor: Cursor) -> Batch:
    """Delete the event log of conversations without activity since `before`. Later events go on with the next number."""
    removed, done = 0, cursor
    rows = _rows(_CONVERSATIONS, project_id, before, cursor, most=CONVERSATIONS)
    for pk, at in rows:
        number = _delete_events_of(pk, most=ROWS - removed)
        removed += number
        if removed >= ROWS:
            # This one may have more.
            return Batch(removed, done, is_last=False)
        done = Cursor(at, pk)
    return Batch(removed, done, is_last=len(rows) < CONVERSATIONS)


def empty_prompts(project_id: UUID, before: datetime, cursor: Cursor) -> Batch:
    """Empty model calls that are older: what was asked and answered. Tokens, cost and times stay."""
    rows = _rows(_CALLS, project_id, before, cursor, most=ROWS)
    content = {name: BY_MODEL[ModelCall].emptied[name] for name in BY_MODEL[ModelCall].customer}
    removed = ModelCall.objects.filter(pk__in=[pk for pk, _ in rows]).exclude(**content).update(**content)
    return _batch(rows, removed, cursor, most=ROWS)


def empty_old_effects(project_id: UUID, before: datetime, cursor: Cursor) -> Batch:
    """Empty effects that are older and over: what happened when stays, without recipient and content."""
    rows = _rows(_EFFECTS, project_id, before, cursor, most=ROWS)
    over = Effect.objects.filter(pk__in=[pk for pk, _ in rows], erased_at=None).exclude(state__in=OPEN_EFFECTS)
    return _batch(rows, empty_effects(over, keeps_place=True), cursor, most=ROWS)


def delete_jobs(project_id: UUID, before: datetime, cursor: Cursor) -> Batch:
    """Delete jobs that ended well before. Failed ones stay for staff."""
    newest = UUID(int=int(before.timestamp() * 1000) << 80)
    states = [state.value for state in FINISHED_JOBS]
    with connection.cursor() as database:
        database.execute(_JOBS, [current_organization_id(), project_id, newest, states, before, ROWS])
        ids = [pk for (pk,) in database.fetchall()]
    # Deleting a job would delete its model calls.
    ModelCall.objects.filter(job_id__in=ids).update(job=None)
    removed = delete_rows(Job, ids)
    return Batch(removed, cursor, is_last=len(ids) < ROWS)


DELETIONS: Mapping[Kept, Delete] = {
    Kept.TRANSCRIPTS: delete_transcripts,
    Kept.ARCHIVE: archive_transcripts,
    Kept.EVENTS: delete_events,
    Kept.PROMPTS: empty_prompts,
    Kept.EFFECTS: empty_old_effects,
    Kept.JOBS: delete_jobs,
}


def _lock_deletable(conversation_id: UUID, before: datetime) -> SubjectIds | None:
    """Lock an inactive conversation, and return the ids in it; None for an active one."""
    lock_conversation(conversation_id)
    if not Conversation.objects.filter(pk=conversation_id, updated_at__lt=before, operator=None).exists():
        return None
    ids = ids_of_conversations([conversation_id])
    return None if _is_open(ids) else ids


def _delete_conversation(conversation_id: UUID, ids: SubjectIds) -> None:
    _keep_with_customer(ids)
    empty_calls(ids.model_calls)
    empty_effects(Effect.objects.filter(pk__in=ids.effects))
    forget_notices(ids.conversations | ids.others)
    delete_rows(Job, Job.objects.filter(subject_id__in=ids.conversations | ids.others).values_list("pk", flat=True))
    delete_rows(Conversation, [conversation_id])
    transaction.on_commit(partial(publish_deletion, [conversation_id]))


def _is_open(ids: SubjectIds) -> bool:
    """True if the agent, a person or a job still has something to do in the conversation."""
    inside = {"conversation_id__in": ids.conversations}
    return (
        Job.objects.filter(subject_id__in=ids.jobs, state__in=LIVE).exists()
        or Effect.objects.filter(pk__in=ids.effects, state__in=OPEN_EFFECTS).exists()
        or Promise.objects.filter(**inside, state=PromiseState.OPEN).exists()
        or Escalation.objects.filter(**inside, state__in=(EscalationState.WAITING, EscalationState.CLAIMED)).exists()
        or Todo.objects.filter(**inside, status__in=OPEN_TODOS).exists()
    )


def _keep_with_customer(ids: SubjectIds) -> None:
    """Detach what outlives the conversation."""
    inside = Q(conversation_id__in=ids.conversations)
    Booking.objects.filter(inside).update(conversation_id=None)
    Ticket.objects.filter(inside).update(conversation_id=None)
    Todo.objects.filter(inside).update(conversation_id=None, turn_id=None, promise=None)


def _delete_events_of(conversation_id: UUID, *, most: int) -> int:
    organization_id = current_organization_id()
    with connections["ops"].cursor() as database:
        database.execute(_EVENTS, [organization_id, conversation_id, most, organization_id])
        return int(database.rowcount)


def _rows(sql: str, project_id: UUID, before: datetime, cursor: Cursor, *, most: int) -> list[tuple[UUID, datetime]]:
    with connection.cursor() as database:
        database.execute(sql, [current_organization_id(), project_id, before, cursor.at, cursor.id, most])
        found: list[tuple[UUID, datetime]] = database.fetchall()
        return found


def _batch(rows: list[tuple[UUID, datetime]], removed: int, cursor: Cursor, *, most: int) -> Batch:
    last = Cursor(rows[-1][1], rows[-1][0]) if rows else cursor
    return Batch(removed, last, is_last=len(rows) < most)
