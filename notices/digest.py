"""E-mail digests: tell members about waiting items, with at most one e-mail per member in 15 minutes, an hour or a day.

A notice is stored before its e-mail is sent, so that a crash never sends twice. A follow-up job is queued with the
notices and skipped once the e-mails are out. After a crash in between, it sends them 15 minutes later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Manager
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.utils.translation import override

from jobs.enqueue import JobRequest, enqueue
from jobs.failpoints import failpoint
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import Job, State
from notices.models import Frequency, NoticeKind, Send, Way
from notices.preferences import Preferences, preferences_of
from projects.accounts.languages import language_of_user
from projects.common.mail import MailResult, deliver, has_server
from projects.models import Member, Project
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tenancy.threads import in_db

# A follow-up job waits this long.
PAUSE = timedelta(minutes=15)
# An item's time is the start of its transaction. An item that was committed late may look older than the last notice.
MARGIN = timedelta(seconds=2)
SHOWN = 5
LONGEST_LINE = 160

# A waiting job that no worker can claim before this transaction ends. A job that is already running would miss the new
# item.
_WAITING = Prepared("""
select 1 from jobs_job where organization_id = %s and lane = %s and subject_id = %s and state = 'queued'
and run_after <= clock_timestamp() limit 1 for share skip locked
""")

Item = TypeVar("Item")


class Undelivered(RuntimeError):
    """The mail server refused some e-mails of a digest. They are tried again."""


@dataclass(frozen=True)
class Digest(Generic[Item]):
    """A kind of digest: a lane whose jobs write to the members of a project.

    A member gets it at the frequency and outside of the quiet hours of their preferences, and not at all if they want no
    e-mail for its `kind`; without one, the items are wanted already.

    `notices` are rows with `project`, `member_id` and `sent_at`. A notice counts only if it also matches `holds`.
    `since` is the time an item started to wait, and `text` its line in the e-mail. The subject starts with
    `headline`, which gets the number of items. `note` ends the e-mail. `page` is the project's
    page with the items. `mark` stores the state of each item's sending, so that none is listed in two e-mails.
    """

    lane: str
    notices: Manager[Any]
    waiting: Callable[[Project], Sequence[Item]]
    is_for: Callable[[Item, Member], bool]
    since: Callable[[Item], datetime]
    text: Callable[[Item], str]
    headline: Callable[[int], str]
    note: str
    page: str
    kind: NoticeKind | None = None
    holds: Mapping[str, Any] = field(default_factory=dict)
    mark: Callable[[Sequence[Item], Send], None] | None = None

    def as_lane(self) -> Lane:
        """The lane as the workers know it."""
        return Lane(name=self.lane, queue=Queue.WORK, mode=Mode.QUEUE, handler=self.run)

    def queue(self, project_id: UUID, *, cause: str) -> None:
        """Queue a digest in the current transaction, unless one waits already or there is no mail server.

        `cause` becomes part of the job's key.
        """
        if has_server() and not _WAITING(current_organization_id(), self.lane, project_id):
            enqueue([self.request(project_id, key=f"{self.lane}:{cause}")])

    def request(self, project_id: UUID, *, key: str, run_after: datetime | None = None) -> JobRequest:
        """A request for a job of the lane."""
        return JobRequest(
            lane=self.lane, project_id=project_id, subject_id=project_id, ordinal=0, key=key, run_after=run_after
        )

    async def run(self, job: ClaimedJob) -> None:
        """Send an e-mail to each member who may get one now. Raises Undelivered."""
        due = await in_db(_note, self, job)
        failpoint(f"{self.lane}.noted_pre_send")
        failed = [email for email in due.emails if await asyncio.to_thread(_is_refused, self, email, due.project)]
        await in_db(_finish, self, job, due, failed)
        if failed:
            raise Undelivered(Undelivered.__doc__)


@dataclass(frozen=True)
class DigestEmail(Generic[Item]):
    """An e-mail to one member. `before` is the time of the previous notice, if it still counts."""

    member: Member
    items: Sequence[Item]
    before: datetime | None
    frequency: str = Frequency.AT_ONCE


@dataclass(frozen=True)
class DigestRun(Generic[Item]):
    """One pass over a project: the e-mails that are due, and the time when the next member may get one."""

    project: Project
    at: datetime
    emails: Sequence[DigestEmail[Item]]
    again_at: datetime | None


def _note(digest: Digest[Item], job: ClaimedJob) -> DigestRun[Item]:
    """Store the notices before the e-mails are sent."""
    with job_tx(job):
        project = Project.objects.annotate(now=Now()).get(pk=job.subject_id)
        now: datetime = vars(project)["now"]
        sent = dict(digest.notices.filter(project=project).values_list("member_id", "sent_at"))
        news = list(_news(digest, project, is_owed=job.key.startswith(_owed_key(digest, project))))
        wanted = preferences_of(email.member.pk for email in news)
        paused = {email.member.pk: _free_at(wanted[email.member.pk], sent.get(email.member.pk), now) for email in news}
        emails = [
            replace(email, frequency=wanted[email.member.pk].frequency)
            for email in news
            if paused[email.member.pk] <= now
        ]
        for email in emails:
            noted = {"sent_at": now, **digest.holds}
            digest.notices.update_or_create(project=project, member_id=email.member.pk, defaults=noted)
            _mark(digest, email, Send.SENDING)
        if emails:
            enqueue([digest.request(project.pk, key=_owed_key(digest, project, at=now), run_after=now + PAUSE)])
        again_at = min((at for at in paused.values() if at > now), default=None)
        return DigestRun(project=project, at=now, emails=emails, again_at=again_at)


def _news(digest: Digest[Item], project: Project, *, is_owed: bool) -> Iterator[DigestEmail[Item]]:
    """An e-mail for each member with items that no e-mail has listed, or with any items if this is a follow-up."""
    held = dict(digest.notices.filter(project=project, **digest.holds).values_list("member_id", "sent_at"))
    waiting = digest.waiting(project)
    for member in _members(digest):
        items = [item for item in waiting if digest.is_for(item, member)]
        before = None if is_owed else held.get(member.pk)
        if any(before is None or digest.since(item) > before - MARGIN for item in items):
            yield DigestEmail(member=member, items=items, before=held.get(member.pk))


def _members(digest: Digest[Item]) -> list[Member]:
    """The members who want e-mails of this kind."""
    members = list(Member.objects.select_related("user").filter(user__is_active=True))
    if digest.kind is None:
        return members
    wanted = preferences_of(member.pk for member in members)
    return [member for member in members if Way.EMAIL in wanted[member.pk].ways_for(digest.kind)]


def _free_at(wanted: Preferences, sent_at: datetime | None, now: datetime) -> datetime:
    """The time from which a member may get an e-mail."""
    ends = [sent_at + wanted.pause if sent_at else now, wanted.quiet_until(now) or now]
    return max(ends)


def _mark(digest: Digest[Item], email: DigestEmail[Item], state: Send) -> None:
    if digest.mark is not None:
        digest.mark(email.items, state)


def _is_refused(digest: Digest[Item], email: DigestEmail[Item], project: Project) -> bool:
    """Send the e-mail in the member's language. Returns True if the mail server refused it."""
    with override(language_of_user(email.member.user)):
        message = _message(digest, email, project)
    return deliver(message) is MailResult.FAILED


def _message(digest: Digest[Item], email: DigestEmail[Item], project: Project) -> EmailMessage:
    name, count = " ".join(project.name.split()), len(email.items)
    headline = digest.headline(count)
    context = {
        "headline": headline,
        "project": name,
        "lines": [_line(digest.text(item)) for item in email.items[:SHOWN]],
        "more": max(0, count - SHOWN),
        "url": f"{settings.BASE_URL}/p/{project.slug}/{digest.page}",
        "note": digest.note,
        "frequency": email.frequency,
    }
    body = render_to_string("email/digest.txt", context)
    return EmailMessage(f"{headline}: {name}", body, to=[email.member.user.email])


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1]}…"


def _finish(digest: Digest[Item], job: ClaimedJob, due: DigestRun[Item], failed: Sequence[DigestEmail[Item]]) -> None:
    """End the job. If an e-mail was refused, undo its notice and leave the job to be retried."""
    with job_tx(job, finish=None if failed else State.DONE):
        owed = Job.objects.filter(key=_owed_key(digest, due.project, at=due.at), state=State.QUEUED)
        owed.update(state=State.SKIPPED, error="The e-mails went out, or are tried again.", finished_at=Now())
        for email in due.emails:
            _mark(digest, email, Send.DUE if email in failed else Send.SENT)
        for email in failed:
            rows = digest.notices.filter(project=due.project, member_id=email.member.pk)
            rows.delete() if email.before is None else rows.update(sent_at=email.before)
        if due.again_at is not None:
            key = f"{digest.lane}:{due.project.pk}:{due.again_at:%Y%m%d%H%M%S}"
            enqueue([digest.request(due.project.pk, key=key, run_after=due.again_at)])


def _owed_key(digest: Digest[Item], project: Project, *, at: datetime | None = None) -> str:
    """The key of the follow-up job of a pass. Without `at`, the common prefix of these keys."""
    return f"{digest.lane}:{project.pk}:owed:{f'{at:%Y%m%d%H%M%S%f}' if at else ''}"
