"""Conversations that wait for staff, and why.

A conversation waits while there is a reason for a person to look at it, unless it is snoozed or was closed after that
reason came up. The sidebar and the inbox count with `Waiting.count`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from conversations.models import IS_TEST, Conversation, Message, MessageRole
from projects.models import Project
from tenancy.postgresql.prepared import Prepared, as_text
from tenancy.scope import template_tenant
from todos.attention import failed_todos, todos_for_a_person, todos_to_check, todos_to_review
from tools.engine.attention import recently_broken_promises, unknown_effects
from tools.services.support.escalations import waiting_requests

# Counts stop here.
MOST_COUNTED = 999


class Reason(StrEnum):
    """Reasons to look at a conversation, most urgent first."""

    ASKED = "asked"
    UNANSWERED = "unanswered"
    UNKNOWN = "unknown"
    TO_REVIEW = "to_review"
    TODO_ATTENTION = "todo_attention"
    TODO_APPROVED = "todo_approved"
    TODO_FAILED = "todo_failed"
    BROKEN = "broken"
    RETURNED = "returned"
    FLAGGED = "flagged"


_PART = """
select {reason} as reason, conversation_id, max(since) as since, {asked_at} as asked_at
from ({sql}) one (conversation_id, since) group by conversation_id
"""
# A request is listed before everything else, the longest wait first; the rest follows by latest activity.
_WAITING = """
select c.id from (
    select conversation_id, max(since) as since, min(asked_at) as asked_at from ({sources}) reason group by conversation_id
) r
join conversations_conversation c on c.organization_id = %s and c.id = r.conversation_id
where c.project_id = %s and (c.closed_at is null or c.closed_at < r.since)
    and (c.snoozed_until is null or c.snoozed_until <= now())
order by r.asked_at, c.updated_at desc, c.id limit %s
"""
_REASONS = """
select conversation_id, reason from ({sources}) reason where conversation_id = any(%s) order by reason
"""


@dataclass(frozen=True)
class Waiting:
    """The conversations of a project that wait for staff. Read inside the tenant's transaction, and once per request."""

    project: Project

    @property
    def count(self) -> int:
        """The number of conversations that wait, at most MOST_COUNTED."""
        return len(self.ids)

    @cached_property
    def ids(self) -> list[UUID]:
        """The conversations that wait: open requests first, longest wait first; then the most recent."""
        own = (self.project.organization_id, self.project.pk, MOST_COUNTED)
        return [id for (id,) in _statement(_WAITING)(*self._values, *own)]

    def reasons_of(self, conversations: Collection[UUID]) -> Mapping[UUID, list[Reason]]:
        """Reasons by conversation, most urgent first; conversations without any are left out."""
        reasons: dict[UUID, list[Reason]] = defaultdict(list)
        rows = _statement(_REASONS)(*self._values, tuple(conversations)) if conversations else ()
        for conversation_id, place in rows:
            reasons[conversation_id].append(ORDER[place])
        return reasons

    @property
    def main_reasons(self) -> Mapping[Reason, list[UUID]]:
        """The conversations that wait, by their most urgent reason and in the inbox's order."""
        reasons, found = self.reasons_of(self.ids), defaultdict(list)
        for id in self.ids:
            if own := reasons.get(id):
                found[own[0]].append(id)
        return found

    @property
    def _values(self) -> list[Any]:
        """The values of the rows of all reasons."""
        own = {_ORGANIZATION: self.project.organization_id, _PROJECT: self.project.pk}
        return [own[one] for one in _compiled()[1]]


ORDER = tuple(Reason)
# They stand for the keys of a project and of its organization in the compiled statement.
_KEYS = _ORGANIZATION, _PROJECT = UUID(int=0xFFFF_2000), UUID(int=0xFFFF_2001)


@cache
def _compiled() -> tuple[str, Sequence[UUID]]:
    """The statement for the rows of all reasons, compiled once: that costs several times what running it does.

    Its constants are part of the text. As values, they would keep partial indexes from the one plan that PostgreSQL
    makes for all projects.
    """
    parts, values = list[str](), list[UUID]()
    with template_tenant(_ORGANIZATION):
        for reason, rows in _sources(Project(pk=_PROJECT, organization_id=_ORGANIZATION)):
            column = "pk" if rows.model is Conversation else "conversation_id"
            sql, own = rows.order_by().values_list(column, _SINCE[reason]).query.sql_with_params()
            asked_at = "min(since)" if reason is Reason.ASKED else "null::timestamptz"
            sql %= tuple("%s" if one in _KEYS else _literal(one) for one in own)
            parts.append(_PART.format(reason=ORDER.index(reason), sql=sql, asked_at=asked_at))
            values += [one for one in own if one in _KEYS]
    return " union all ".join(parts), values


def _literal(constant: Any) -> str:
    """A constant of a query above, in SQL."""
    return f"'{(as_text(constant) or b'').decode()}'"


@cache
def _statement(text: str) -> Prepared:
    """`_WAITING` or `_REASONS` with the rows of all reasons."""
    return Prepared(text.format(sources=_compiled()[0]))


def is_mine(user: int, mentioned: Collection[UUID]) -> Q:
    """Conversations that the member looks after or has taken over, neither closed nor snoozed, and those in which the
    member is mentioned (`mentioned_in`).
    """
    # By key: a subquery would keep the indexes of assignee and operator from being used.
    return (Q(assignee=user) | Q(operator=user)) & IS_AT_HAND | Q(pk__any=mentioned)


IS_SNOOZED = Q(snoozed_until__gt=Now())
IS_AT_HAND = Q(closed_at=None) & (Q(snoozed_until=None) | Q(snoozed_until__lte=Now()))


def _sources(project: Project) -> Iterator[tuple[Reason, QuerySet[Any]]]:
    """The rows of each reason: conversations, or rows with a `conversation_id`."""
    own = Conversation.objects.filter(project=project)
    tests = own.filter(IS_TEST).values("pk")
    said = Message.objects.filter(conversation=OuterRef("pk"), role__in=(MessageRole.USER, MessageRole.OPERATOR))
    last_role = Subquery(said.order_by("-seq").values("role")[:1])
    yield Reason.ASKED, waiting_requests(project)
    yield Reason.UNANSWERED, own.filter(operator__isnull=False).annotate(last=last_role).filter(last=MessageRole.USER)
    yield Reason.UNKNOWN, unknown_effects(project)
    yield Reason.TO_REVIEW, todos_to_review(project)
    yield Reason.TODO_ATTENTION, todos_to_check(project)
    yield Reason.TODO_APPROVED, todos_for_a_person(project)
    yield Reason.TODO_FAILED, failed_todos(project)
    yield Reason.BROKEN, recently_broken_promises(project).exclude(conversation_id__in=tests)
    yield Reason.RETURNED, own.filter(Q(returned_at__isnull=False) | Q(snoozed_until__lte=Now()))
    yield Reason.FLAGGED, own.exclude(flag="")


# When each reason came up, to compare with the closing.
_SINCE: Mapping[Reason, Any] = {
    Reason.ASKED: F("requested_at"),
    Reason.UNANSWERED: F("updated_at"),
    Reason.UNKNOWN: Coalesce("deadline_at", "started_at", "created_at"),
    Reason.TO_REVIEW: F("status_at"),
    Reason.TODO_ATTENTION: F("status_at"),
    Reason.TODO_APPROVED: F("status_at"),
    Reason.TODO_FAILED: F("status_at"),
    Reason.BROKEN: F("closed_at"),
    Reason.RETURNED: Coalesce("returned_at", "snoozed_until"),
    Reason.FLAGGED: F("updated_at"),
}
