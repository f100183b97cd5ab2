"""Objects that no row names, as they are left in a storage by a restore of an older backup.

A row is stored before its object is written, so every object that is listed has a row by then, or none at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db import connections

from conversations.files.listed import ListedObject
from conversations.files.places import list_objects

# Younger ones are never orphans, whatever the rows say: they may be a probe, or on their way.
YOUNGEST = timedelta(days=1)
OBJECT = re.compile(r"(?P<organization>[0-9a-f]{32})/(?P<id>[0-9a-f]{32})(?:\.new)?", re.ASCII)
PROBE = re.compile(r"probe-[0-9a-f]{32}", re.ASCII)
_ROWS = "select id from conversations_storedobject where id = any(%s)"
_ORGANIZATIONS = "select id from projects_organization where id = any(%s)"


@dataclass(frozen=True)
class Page:
    """A page of a storage. `foreign` counts the objects that aren't ours to judge: with other names, or of organizations
    that this database doesn't have.
    """

    read: int
    orphans: Sequence[ListedObject]
    foreign: int


def find_orphans(place: str) -> Iterator[Page]:
    """Read a place page by page. Raises FilesUnavailable."""
    for page in list_objects(place):
        found = [(one, OBJECT.fullmatch(one.name)) for one in page]
        ours = [(one, UUID(match["organization"]), UUID(match["id"])) for one, match in found if match]
        rows = _known(_ROWS, {id for _, _, id in ours})
        here = _known(_ORGANIZATIONS, {organization for _, organization, _ in ours})
        probes = [one for one in page if PROBE.fullmatch(one.name)]
        unnamed = [one for one, organization, id in ours if organization in here and id not in rows]
        foreign = len(page) - len(probes) - sum(organization in here for _, organization, _ in ours)
        yield Page(len(page), [one for one in (*unnamed, *probes) if _is_old(one)], foreign)


def _is_old(one: ListedObject) -> bool:
    return datetime.now(UTC) - one.written_at > YOUNGEST


def _known(sql: str, ids: Collection[UUID]) -> set[UUID]:
    with connections["ops"].cursor() as cursor:
        cursor.execute(sql, [list(ids)])
        return {id for (id,) in cursor.fetchall()}
