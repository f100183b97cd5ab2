"""The move of contents to another place, while they are served, and what is where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models.functions import Now

from conversations.files.places import POSTGRESQL
from conversations.models import StoredObject
from tenancy.scope import tenant_tx

NIL = UUID(int=0)
# Planned at a time, so that new files and deletions don't wait behind a large move.
BATCH = 200
_ELSEWHERE = """
select a.organization_id, a.id from conversations_attachment a
left join conversations_storedobject o on o.organization_id = a.organization_id and o.id = a.object_id
where a.id > %s and coalesce(o.place, %s) <> %s and not exists (
    select 1 from conversations_storedobject p
    where p.organization_id = a.organization_id and p.attachment_id = a.id and p.state = 'planned')
order by a.id limit %s
"""
_PLANNED = "select count(*) from conversations_storedobject where state = 'planned'"
_FAILED = """
select error from conversations_storedobject where error <> '' and state <> 'kept' order by due_at desc limit 1
"""
_USAGE = """
select coalesce(o.place, %s), count(*), coalesce(sum(a.size), 0)::bigint from conversations_attachment a
left join conversations_storedobject o on o.organization_id = a.organization_id and o.id = a.object_id
group by 1 order by 1
"""
_WAITING = """
select place, state, count(*), min(created_at), coalesce(max(error), '') from conversations_storedobject
where due_at is not null group by 1, 2 order by 1, 2
"""


@dataclass(frozen=True)
class Usage:
    """The files in one place, and their bytes."""

    place: str
    files: int
    bytes: int


@dataclass(frozen=True)
class Waiting:
    """Objects of a place that are to be written or deleted. `error` is why one of them has failed."""

    place: str
    state: str
    number: int
    since: Any
    error: str


def plan_moves(place: str, *, after: UUID = NIL) -> UUID | None:
    """Plan the move of the next contents that are elsewhere. Returns the last file, or None if there are no more."""
    rows = _rows(_ELSEWHERE, after, POSTGRESQL, place, BATCH)
    for organization_id, found in groupby(sorted(rows), key=lambda row: row[0]):
        _plan(organization_id, [attachment_id for _, attachment_id in found], place)
    return max((attachment_id for _, attachment_id in rows), default=None)


def count_planned() -> int:
    """The number of contents that are still to be moved."""
    return int(_rows(_PLANNED)[0][0])


def last_error() -> str:
    """Why the last failure happened, or nothing."""
    return str(next((error for (error,) in _rows(_FAILED)), ""))


def read_usage() -> list[Usage]:
    """The files in each place. Reads every file's row, and no content."""
    return [Usage(*row) for row in _rows(_USAGE, POSTGRESQL)]


def read_waiting() -> list[Waiting]:
    """The objects that are to be written and deleted."""
    return [Waiting(*row) for row in _rows(_WAITING)]


def _plan(organization_id: UUID, attachment_ids: Sequence[UUID], place: str) -> None:
    with tenant_tx(organization_id):
        rows = [StoredObject(attachment_id=pk, place=place) for pk in attachment_ids]
        StoredObject.objects.bulk_create(rows)
        StoredObject.objects.filter(pk__in=[row.pk for row in rows]).update(due_at=Now())


def _rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connections["ops"].cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
