"""The upkeep of objects: writes the planned ones, and deletes those that nothing needs any more.

A content is stored in its row first. A worker then writes the object and lets the row point to it, so that an upload
never waits for a storage. If the worker dies, another one writes the same object again.
"""

from __future__ import annotations

import logging
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from uuid import UUID

from django.db import connections
from django.db.models import QuerySet
from django.db.models.functions import Now

from conversations.files.contents import content_of, digest_of
from conversations.files.places import (
    POSTGRESQL,
    FileGone,
    FilesUnavailable,
    delete_object,
    place_of_new_files,
    read_object,
    write_object,
)
from conversations.models import Attachment, ObjectState, StoredObject
from jobs import runner
from jobs.failpoints import failpoint
from jobs.lanes import Queue
from tenancy.scope import tenant_tx

log = logging.getLogger(__name__)

THREADS = 4
# A worker that stops waits for its passes.
SECONDS_PER_PASS = 2.0
# A moved content may still be read from its former place for this long.
READERS_END = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(minutes=10)
LONGEST_ERROR = 300
# Longer than a write may take, with every try.
_CLAIM = """
update conversations_storedobject set due_at = clock_timestamp() + interval '5 minutes', attempts = attempts + 1
where id = (
    select id from conversations_storedobject where due_at <= clock_timestamp()
    order by due_at limit 1 for update skip locked
) returning organization_id, id, attempts
"""
_IS_DUE = "select exists (select 1 from conversations_storedobject where due_at <= clock_timestamp())"
BROKEN = "An internal error; the log says which."


@dataclass(frozen=True)
class Claim:
    """An object that this thread may write or delete, until somebody else claims it."""

    organization_id: UUID
    object_id: UUID
    attempt: int


class ClaimLost(Exception):
    """The file, the object or the claim is gone. Nothing was changed."""


def plan_object(attachment: Attachment) -> None:
    """Plan the object of a new file, in the running transaction, if new contents are kept outside of PostgreSQL."""
    if (place := place_of_new_files()) != POSTGRESQL:
        StoredObject.objects.create(attachment_id=attachment.pk, place=place, due_at=Now())


def tend_objects() -> None:
    """Let threads of this worker write and delete what is due. A sweep hook; it waits for none of them."""
    if Queue.WORK in runner.queues() and _is_due():
        _passes.start()


def tend_due(*, seconds: float = math.inf) -> None:
    """Write and delete what is due, until nothing is left, a place fails or the time is over."""
    ends_at = time.monotonic() + seconds
    try:
        while time.monotonic() < ends_at and (claim := _claim()) is not None:
            if not tend(claim):
                return
    finally:
        connections.close_all()


def tend(claim: Claim) -> bool:
    """Write or delete an object. False if its place failed; it is tried again later."""
    try:
        _execute(claim)
    except ClaimLost:
        log.info("An object was needed no more, or was claimed by another worker.")
    except FileGone as gone:
        _postpone(claim, f"The content to be moved is gone from {gone}.")
    except FilesUnavailable as error:
        log.warning("A file could not be moved or deleted: %s", error)
        _postpone(claim, str(error))
        return False
    except Exception:  # the worker's boundary: an error must not stop the other objects
        log.exception("An object could not be written or deleted.")
        _postpone(claim, BROKEN)
    return True


def _execute(claim: Claim) -> None:
    with tenant_tx(claim.organization_id):
        row = _claimed(claim).first()
        found = Attachment.objects.select_related("object").filter(pk=row.attachment_id).first() if row else None
    connections.close_all()
    if row is None:
        raise ClaimLost
    if row.state == ObjectState.LEAVING:
        _delete(claim, row)
    elif found is None:
        _mark_unneeded(claim)
    else:
        _write(claim, row, found)


def _delete(claim: Claim, row: StoredObject) -> None:
    if row.place != POSTGRESQL:
        delete_object(row.place, row.name)
    failpoint("file.deleted_pre_commit")
    with tenant_tx(claim.organization_id):
        _claimed(claim).filter(state=ObjectState.LEAVING).delete()


def _write(claim: Claim, row: StoredObject, found: Attachment) -> None:
    failpoint("file.planned")
    source = content_of(found)
    content = source.inline if source.inline is not None else read_object(source.place, source.name)
    digest = digest_of(content)
    if found.sha256 not in ("", digest):
        raise FilesUnavailable(f"{source.place or POSTGRESQL} returns another content than was stored.")
    if row.place != POSTGRESQL:
        write_object(row.place, row.name, content)
    failpoint("file.written_pre_commit")
    try:
        _adopt(claim, row, found, content=content, digest=digest)
    except ClaimLost:
        _mark_unneeded(claim)
        raise
    failpoint("file.moved")


def _adopt(claim: Claim, row: StoredObject, found: Attachment, *, content: bytes, digest: str) -> None:
    """Let the attachment point to the object. Locks the attachment first, as its deletion does. Raises ClaimLost."""
    is_row = row.place == POSTGRESQL
    with tenant_tx(claim.organization_id):
        rows = Attachment.objects.filter(pk=found.pk, object_id=found.object_id)
        is_there = rows.update(content=content if is_row else None, object_id=None if is_row else row.pk, sha256=digest)
        planned = _claimed(claim).filter(state=ObjectState.PLANNED)
        is_mine = planned.delete()[0] if is_row else planned.update(state=ObjectState.KEPT, due_at=None, error="")
        if not is_there or not is_mine:
            raise ClaimLost
        if found.object is not None:
            former = StoredObject.objects.filter(pk=found.object.pk)
            former.update(state=ObjectState.LEAVING, due_at=Now() + READERS_END)


def _mark_unneeded(claim: Claim) -> None:
    """Have the object deleted that was written for nothing."""
    with tenant_tx(claim.organization_id):
        _claimed(claim).update(state=ObjectState.LEAVING, due_at=Now())


def _postpone(claim: Claim, reason: str) -> None:
    pause = min(timedelta(seconds=2 ** min(claim.attempt, 10)), LONGEST_PAUSE)
    with tenant_tx(claim.organization_id):
        _claimed(claim).update(due_at=Now() + pause, error=reason[:LONGEST_ERROR])


def _claimed(claim: Claim) -> QuerySet[StoredObject]:
    return StoredObject.objects.filter(pk=claim.object_id, attempts=claim.attempt)


def _claim() -> Claim | None:
    with connections["ops"].cursor() as cursor:
        cursor.execute(_CLAIM)
        row = cursor.fetchone()
    connections["ops"].close()
    return Claim(*row) if row else None


def _is_due() -> bool:
    with connections["ops"].cursor() as cursor:
        cursor.execute(_IS_DUE)
        return bool(cursor.fetchone()[0])


class _Passes:
    """The threads of this worker that tend objects, started when something is due."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="objects")
        self._running = 0
        self._lock = Lock()

    def start(self) -> None:
        """Start as many passes as there are free threads."""
        with self._lock:
            missing, self._running = THREADS - self._running, THREADS
        for _ in range(missing):
            self._pool.submit(self._run)

    def _run(self) -> None:
        try:
            tend_due(seconds=SECONDS_PER_PASS)
        except Exception:  # the thread's boundary: the next sweep starts another pass
            log.exception("A pass over the stored objects failed.")
        finally:
            with self._lock:
                self._running -= 1


_passes = _Passes()
