"""Limits at the door: turns a minute and open conversations, of a project and of its organization.

A conversation is open until it ends, staff closes it, or nobody has written for a day.
"""

from __future__ import annotations

from math import ceil
from uuid import UUID

from projects.api.throttling import take_tokens
from projects.common.api_error import ApiError, Conflict
from projects.models import Project
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tools.engine.limits.buckets import buckets_of
from tools.engine.limits.catalogue import amount_of
from tools.engine.limits.quotas import note_use, quotas_of
from tools.models import Limit

# Counts stop here.
MOST_COUNTED = 1_000_000
_OPEN = Prepared("""
select count(*) from (
    select 1 from projects_project p join conversations_conversation c
        on c.organization_id = p.organization_id and c.project_id = p.id
    where p.organization_id = %s and (%s::uuid is null or p.id = %s::uuid)
        and c.updated_at > statement_timestamp() - interval '1 day' and c.status = 'open' and c.closed_at is null
        and (c.metadata -> 'playground') is distinct from 'true'::jsonb
    limit %s
) open
""")


class TurnsExceeded(ApiError):
    """More messages than the project may answer in a minute."""

    def __init__(self, most: int, *, seconds: float, of_organization: bool) -> None:
        wait = max(1, ceil(seconds))
        whose = "organization" if of_organization else "project"
        super().__init__(
            "turn_limit_reached",
            f"This {whose} answers at most {amount_of(Limit.TURNS, most)}. Try again in {wait} s.",
            status=429,
            headers={"Retry-After": str(wait)},
        )


class TooManyOpen(Conflict):
    """No further conversation may be open."""

    def __init__(self, most: int, *, of_organization: bool) -> None:
        whose = "organization" if of_organization else "project"
        super().__init__(
            f"This {whose} has {amount_of(Limit.OPEN, most)}, which is its limit. Try again when some have ended.",
            code="open_conversations_reached",
        )


def admit_turn(project: Project) -> None:
    """Admit a customer's message, or raise TurnsExceeded. Every message is admitted while Redis is down.

    Call it before `post_message`, which locks the conversation. Runs in the tenant's transaction.
    """
    found = list(quotas_of(project).find(Limit.TURNS))
    if not found:
        return
    own, shared = (next((one.most for one, is_shared in found if is_shared is side), None) for side in (False, True))
    sizes = buckets_of(project, own=own, shared=shared)
    taken = take_tokens(sizes)
    if taken.seconds:
        _, of_organization = min(zip(taken.left, (is_shared for _, is_shared in found), strict=True))
        most = next(ceiling.most for ceiling, is_shared in found if is_shared is of_organization)
        raise TurnsExceeded(most, seconds=taken.seconds, of_organization=of_organization)
    for (ceiling, of_organization), left in zip(found, taken.left, strict=True):
        most = ceiling.most
        note_use(project.pk, Limit.TURNS, used=most - left, most=most, of_organization=of_organization)


def admit_conversation(project: Project) -> None:
    """Admit a new conversation, or raise TooManyOpen. Concurrent ones may exceed the limit together."""
    for ceiling, of_organization in quotas_of(project).find(Limit.OPEN):
        used = count_open(None if of_organization else project.pk, most=ceiling.most)
        if used >= ceiling.most:
            raise TooManyOpen(ceiling.most, of_organization=of_organization)
        note_use(project.pk, Limit.OPEN, used=used + 1, most=ceiling.most, of_organization=of_organization)


def count_open(project_id: UUID | None, *, most: int = MOST_COUNTED) -> int:
    """The open conversations of a project, or of all projects of the organization, at most `most`."""
    [(count,)] = _OPEN(current_organization_id(), project_id, project_id, most)
    return int(count)
