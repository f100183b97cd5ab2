"""The limits that are checked where work begins: turns, open conversations and storage.

Each process keeps them for a few seconds, so a project without them costs no statement per message.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext

from projects.common.api_error import Conflict
from projects.models import Project
from projects.records.attributes import resolve_attributes
from tools.engine.limits.alerts import has_room
from tools.engine.limits.catalogue import MB, RULES, limit_of
from tools.engine.limits.counters import read_stored_bytes
from tools.engine.limits.organization import Ceiling, SetBy, read_organization_limits
from tools.models import Limit

QUOTAS: tuple[str, ...] = (Limit.TURNS, Limit.OPEN, Limit.STORAGE)
KEPT_SECONDS = 5.0
# An alert that was looked for isn't looked for again for this long by the same process.
NOTED_SECONDS = 60.0
MOST_KEPT = 10_000


@dataclass(frozen=True)
class Quotas:
    """The limits of a project, and those of its organization. A limit that isn't set is missing."""

    own: Mapping[str, Ceiling]
    shared: Mapping[str, Ceiling]

    def find(self, limit: str) -> Iterator[tuple[Ceiling, bool]]:
        """The limit of the project and that of its organization, which is marked with True."""
        for ceilings, of_organization in ((self.own, False), (self.shared, True)):
            if limit in ceilings:
                yield ceilings[limit], of_organization


_kept: dict[UUID, tuple[float, Quotas]] = {}
_noted_at: dict[tuple[UUID, str, bool, bool], float] = {}


class StorageFull(Conflict):
    """Nothing more can be stored."""

    def __init__(self, used: int, most: int, *, of_organization: bool) -> None:
        sentence = (
            gettext(
                "This organization stores %(used)s of at most %(most)s MB. Delete articles or files, or raise the limit."
            )
            if of_organization
            else gettext(
                "This project stores %(used)s of at most %(most)s MB. Delete articles or files, or raise the limit."
            )
        )
        super().__init__(sentence % {"used": f"{used / MB:,.1f}", "most": f"{most:,}"}, code="storage_full")


def quotas_of(project: Project) -> Quotas:
    """The quotas of a project. Runs in the tenant's transaction; a change may take KEPT_SECONDS to be seen."""
    read_at, quotas = _kept.get(project.pk, (0.0, None))
    if quotas is None or time.monotonic() - read_at > KEPT_SECONDS:
        quotas = _read(project)
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[project.pk] = time.monotonic(), quotas
    return quotas


def forget_quotas() -> None:
    """Read them again at the next use, because a limit was changed by this process."""
    _kept.clear()
    _noted_at.clear()


def note_use(project_id: UUID, limit: str, *, used: int, most: int, of_organization: bool) -> None:
    """Store an alert if the limit is reached or nearly is. Costs nothing while neither is so."""
    is_reached = used >= most
    key = (project_id, limit, of_organization, is_reached)
    if not is_reached and not RULES[limit].is_near(used, most):
        return
    if time.monotonic() - _noted_at.get(key, -NOTED_SECONDS) < NOTED_SECONDS:
        return
    if len(_noted_at) >= MOST_KEPT:
        _noted_at.clear()
    _noted_at[key] = time.monotonic()
    has_room(project_id, limit, used=used, most=most, of_organization=of_organization)


def admit_bytes(project: Project, size: int) -> None:
    """Admit contents of this size, or raise StorageFull. Concurrent ones may exceed the limit together."""
    found = list(quotas_of(project).find(Limit.STORAGE))
    if not found or size <= 0:
        return
    own, all = read_stored_bytes(project.pk)
    for ceiling, of_organization in found:
        used = all if of_organization else own
        if used + size > ceiling.most * MB:
            raise StorageFull(used, ceiling.most, of_organization=of_organization)
        note_use(
            project.pk,
            Limit.STORAGE,
            used=(used + size) // MB,
            most=ceiling.most,
            of_organization=of_organization,
        )


def _read(project: Project) -> Quotas:
    attributes, organization = resolve_attributes(project), read_organization_limits()
    own = {limit: most for limit in QUOTAS if (most := limit_of(limit, attributes)) is not None}
    shared = {limit: ceiling for limit in QUOTAS if (ceiling := organization.find(limit)) is not None}
    return Quotas({limit: Ceiling(most, SetBy.PROJECT) for limit, most in own.items()}, shared)
