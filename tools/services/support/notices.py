"""E-mail to operators: customers who wait for a person, at most once in a quarter of an hour each (W03)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from jobs.claimed import ClaimedJob
from jobs.enqueue import JobRequest, enqueue
from jobs.failpoints import crash_point
from jobs.fence import job_tx
from jobs.lanes import Lane, Mode, Queue, register
from jobs.models import State
from projects.common.mail import Delivery, deliver, has_server
from projects.models import Member, Project
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tenancy.threads import in_db
from tools.models import Escalation, OperatorNotice
from tools.services.support.escalations import waiting_requests

LANE = "operator_notice"
PAUSE = timedelta(minutes=15)
# A request's time is that of its transaction's beginning: one that was committed late is not overlooked.
MARGIN = timedelta(seconds=2)
SHOWN = 5
LONGEST_LINE = 160


class Undelivered(RuntimeError):
    """The mail server didn't take an e-mail to an operator; it is tried again."""


@dataclass(frozen=True)
class Letter:
    """An e-mail to one operator; `before` is when they were last written to, if it was delivered."""

    member: Member
    before: datetime | None


@dataclass(frozen=True)
class Round:
    """One look at a project: the letters that are due, and when somebody may be written to again."""

    project: Project
    waiting: Sequence[Escalation]
    letters: Sequence[Letter]
    again_at: datetime | None


def register_lane() -> None:
    """Make the lane known to the workers."""
    register(Lane(name=LANE, queue=Queue.WORK, mode=Mode.QUEUE, handler=run_operator_notice))


def tell_operators(escalation: Escalation) -> None:
    """A customer waits for a person: see soon who has to know. Nothing is queued where there is no mail server."""
    if has_server():
        enqueue([_request(escalation.project_id, key=f"{LANE}:{escalation.pk}")])


def tell_operators_again(escalation: Escalation) -> None:
    """A customer waits again, whom a colleague had claimed who is gone: what the others were told doesn't stand any more."""
    if has_server():
        OperatorNotice.objects.filter(project_id=escalation.project_id).update(is_delivered=False)
        enqueue([_request(escalation.project_id, key=f"{LANE}:{escalation.pk}:{uuid4()}")])


async def run_operator_notice(job: ClaimedJob) -> None:
    """Write to each operator who may be written to now. Who was noted is not written to again within the quarter of an hour."""
    due = await in_db(_note, job)
    crash_point("operator_notice.noted_pre_send")
    failed = [letter for letter in due.letters if await asyncio.to_thread(_send, letter, due)]
    await in_db(_finish, job, due, failed)
    if failed:
        raise Undelivered(Undelivered.__doc__)


def _note(job: ClaimedJob) -> Round:
    """Put down that they are written to, before they are: at most one e-mail at a time, also after a crash."""
    with job_tx(job):
        project = Project.objects.get(pk=job.subject_id)
        waiting = list(waiting_requests(project))
        now, again_at, letters = timezone.now(), list[datetime](), list[Letter]()
        noticed = {notice.member_id: notice for notice in OperatorNotice.objects.filter(project=project)}
        for member in Member.objects.select_related("user").filter(user__is_active=True):
            last = noticed.get(member.pk)
            if Scope.OPERATE not in VERBS[member.role] or not _is_news(waiting, last):
                continue
            if last is not None and last.sent_at + PAUSE > now:
                again_at.append(last.sent_at + PAUSE)
                continue
            noted = {"sent_at": now, "is_delivered": False}
            OperatorNotice.objects.update_or_create(project=project, member=member, defaults=noted)
            letters.append(Letter(member=member, before=last.sent_at if last and last.is_delivered else None))
        return Round(project=project, waiting=waiting, letters=letters, again_at=min(again_at, default=None))


def _is_news(waiting: Sequence[Escalation], last: OperatorNotice | None) -> bool:
    if last is None or not last.is_delivered:
        return bool(waiting)
    return any(row.requested_at and row.requested_at > last.sent_at - MARGIN for row in waiting)


def _send(letter: Letter, due: Round) -> bool:
    """Whether it failed."""
    name = " ".join(due.project.name.split())
    count = len(due.waiting)
    context = {
        "project": name,
        "count": count,
        "lines": [_line(row) for row in due.waiting[:SHOWN]],
        "more": max(0, count - SHOWN),
        "url": f"{settings.BASE_URL}/p/{due.project.slug}/escalations",
    }
    subject = f"{f'{count} customers wait' if count > 1 else 'A customer waits'} for a person: {name}"
    message = EmailMessage(subject, render_to_string("desk/email/waiting.txt", context), to=[letter.member.user.email])
    return deliver(message) is Delivery.FAILED


def _line(row: Escalation) -> str:
    words = " ".join(row.reason.split())
    return words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1]}…"


def _finish(job: ClaimedJob, due: Round, failed: Sequence[Letter]) -> None:
    """The end of the job; what was not delivered counts as not written, and the job is tried again."""
    with job_tx(job, finish=None if failed else State.DONE):
        for letter in due.letters:
            rows = OperatorNotice.objects.filter(project=due.project, member=letter.member)
            if letter not in failed:
                rows.update(is_delivered=True)
            elif letter.before is None:
                rows.delete()
            else:
                rows.update(sent_at=letter.before, is_delivered=True)
        if due.again_at is not None:
            key = f"{LANE}:{due.project.pk}:{due.again_at:%Y%m%d%H%M%S}"
            enqueue([_request(due.project.pk, key=key, run_after=due.again_at)])


def _request(project_id: UUID, *, key: str, run_after: datetime | None = None) -> JobRequest:
    return JobRequest(lane=LANE, project_id=project_id, subject_id=project_id, ordinal=0, key=key, run_after=run_after)
