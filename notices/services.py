"""Notices: raised in the transaction of what happened, and settled when it needs nobody any more.

`notify` can be called by every room above this one. It stores one row per member and subject, so that a repeat says
nothing new, and queues what has to be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from notices import emails, slack
from notices.models import Notice, NoticeKind, PushSubscription, Send, Way
from notices.preferences import Preferences, preferences_of
from notices.push import lane as push
from projects.models import Member, Role
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tenancy.ids import uuid7
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedValues
from tenancy.scope import current_organization_id

LONGEST_TEXT = 200
# Counts stop here.
MOST_COUNTED = 99
# Given to a browser at once.
MOST_SHOWN = 20
# Kinds whose e-mails are sent from what is waiting, each by a digest of its own.
DIGESTED = frozenset({NoticeKind.WAITS, NoticeKind.TO_REVIEW, NoticeKind.LIMIT})
# A notice that was read is raised anew; one that is unread stays as it is, and nothing is sent twice.
_RAISE = Prepared("""
insert into notices_notice (id, organization_id, project_id, member_id, kind, subject, object_id, text, in_bell, browser,
                            email, slack, created_at)
values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, statement_timestamp())
on conflict (organization_id, member_id, kind, subject) do update
set text = excluded.text, object_id = excluded.object_id, in_bell = excluded.in_bell, browser = excluded.browser,
    email = excluded.email, slack = excluded.slack, created_at = excluded.created_at, read_at = null
where notices_notice.read_at is not null
returning id
""")


def notify(
    project_id: UUID,
    *,
    kind: NoticeKind,
    subject: str | UUID,
    text: str,
    object_id: UUID | None = None,
    is_for: Callable[[Role], bool] | None = None,
    to: Collection[int] | None = None,
) -> None:
    """Notify members about a subject, in the current transaction. A subject that a member hasn't read yet is not raised
    again.

    `object_id` is the conversation, todo or effect that the notice leads to. Without `to`, the keys of users, everybody
    whose role `is_for` accepts is notified: by default those who may operate.
    """
    members = _members(is_for or _operates) if to is None else _chosen(to)
    wanted = preferences_of(member.pk for member in members)
    raised = set[str]()
    for member in members:
        raised |= _raise(project_id, member, wanted[member.pk], kind, str(subject), object_id, _line(text))
    if Way.EMAIL in raised:
        emails.queue(project_id, cause=f"{kind}:{subject}:{uuid7()}")


def settle(kind: NoticeKind, subject: str | UUID, *, by: Iterable[UUID] | None = None) -> None:
    """Mark the notices of a subject as read, because it needs nobody any more. What is still due is not sent."""
    rows = Notice.objects.filter(kind=kind, subject=str(subject), read_at=None)
    (rows if by is None else rows.filter(member_id__in=list(by))).update(read_at=Now())


def in_bell(member: Member, project_id: UUID) -> QuerySet[Notice]:
    """A member's notices in a project, newest first, as the bell lists them."""
    return Notice.objects.filter(member=member, project_id=project_id, in_bell=True)


_UNREAD = PreparedValues(
    lambda member, project: (
        in_bell(Member(pk=member), project).filter(read_at=None).order_by().values_list("pk")[:MOST_COUNTED]
    ),
    kinds=(UUID, UUID),
)


def unread_count(member: Member, project_id: UUID) -> int:
    """The number on the bell, at most MOST_COUNTED."""
    return len(_UNREAD(member.pk, project_id))


def mark_read(member: Member, project_id: UUID, notices: Collection[UUID] | None = None) -> int:
    """Mark some of a member's notices in a project as read, or all without `notices`. Returns how many were unread."""
    rows = Notice.objects.filter(member=member, project_id=project_id, read_at=None)
    return (rows if notices is None else rows.filter(pk__in=notices)).update(read_at=Now())


def claim_for_browser(member: Member, project_id: UUID) -> list[Notice]:
    """The notices of a project that this browser shows now, each given out once. None in quiet hours, and none to a member
    whose browsers are sent them.
    """
    [now] = Member.objects.filter(pk=member.pk).values_list(Now(), flat=True)
    is_quiet = preferences_of([member.pk])[member.pk].quiet_until(now) is not None
    if is_quiet or PushSubscription.objects.filter(member=member).exists():
        return []
    rows = Notice.objects.filter(member=member, project_id=project_id, browser=Send.DUE, read_at=None)
    due = list(rows.select_for_update(of=("self",)).select_related("project").order_by("created_at")[:MOST_SHOWN])
    Notice.objects.filter(pk__in=[one.pk for one in due]).update(browser=Send.SENT)
    return due


def _raise(
    project_id: UUID,
    member: Member,
    wanted: Preferences,
    kind: NoticeKind,
    subject: str,
    object_id: UUID | None,
    text: str,
) -> set[str]:
    """Store the notice of one member. Returns the ways that need a job."""
    ways = wanted.ways_for(kind)
    is_emailed = Way.EMAIL in ways and kind not in DIGESTED
    if not ways - {Way.EMAIL} and not is_emailed:
        return set()
    states = [
        Send.DUE if is_wanted else Send.NONE for is_wanted in (Way.BROWSER in ways, is_emailed, Way.SLACK in ways)
    ]
    rows = _RAISE(
        *(uuid7(), current_organization_id(), project_id, member.pk, kind.value, subject, object_id, text),
        *(Way.BELL in ways, *(state.value for state in states)),
    )
    if rows and Way.BROWSER in ways:
        push.queue(member.pk, rows[0][0], project_id=project_id)
    if rows and Way.SLACK in ways:
        slack.queue(member.pk, project_id=project_id, cause=str(uuid7()))
    return {Way.EMAIL} if rows and is_emailed else set()


def _members(is_for: Callable[[Role], bool]) -> list[Member]:
    roles = [role for role in Role if is_for(role)]
    return list(Member.objects.filter(role__in=roles, user__is_active=True).order_by("pk"))


def _chosen(users: Collection[int]) -> list[Member]:
    return list(Member.objects.filter(user_id__in=users, user__is_active=True).order_by("pk"))


def _operates(role: Role) -> bool:
    return Scope.OPERATE in VERBS[role]


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_TEXT else f"{words[: LONGEST_TEXT - 1]}…"
