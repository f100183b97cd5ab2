"""E-mail to those who may approve: what waits for them, at most once in a quarter of an hour each.

They are noted as written to before they are, so that no crash writes twice. A job that is queued with the note writes to them
when the quarter of an hour is over, unless the letters went out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.utils import timezone

from jobs.claimed import ClaimedJob
from jobs.enqueue import JobRequest, enqueue
from jobs.failpoints import crash_point
from jobs.fence import job_tx
from jobs.models import Job, State
from projects.common.mail import Delivery, deliver, has_server
from projects.models import Member, Project
from tenancy.postgresql.prepared import Prepared
from tenancy.threads import in_db
from todos.approvals.permissions import may_approve
from todos.models import ApproverNotice, Todo, TodoStatus

LANE = "todo_notice"
PAUSE = timedelta(minutes=15)
# A todo's time is that of its transaction's beginning: one that was committed late is not overlooked.
MARGIN = timedelta(seconds=2)
SHOWN = 5
LONGEST_LINE = 160


# A job that waits, which no worker takes before this transaction ends: one that read the todos already would not see this one.
_WAITING = Prepared("""
select 1 from jobs_job where organization_id = %s and lane = %s and subject_id = %s and state = 'queued'
and run_after <= clock_timestamp() limit 1 for share skip locked
""")


class Undelivered(RuntimeError):
    """The mail server didn't take an e-mail to an approver; it is tried again."""


@dataclass(frozen=True)
class Letter:
    """An e-mail to one approver about what waits for them; `before` is when they were last written to."""

    member: Member
    todos: Sequence[Todo]
    before: datetime | None


@dataclass(frozen=True)
class Round:
    """One look at a project at a moment: the letters that are due, and when somebody may be written to again."""

    project: Project
    at: datetime
    letters: Sequence[Letter]
    again_at: datetime | None


def hear_of_todo(sender: Any, todo: Todo, what: str, **_: Any) -> None:
    """A todo is to be reviewed: see soon who has to know. Nothing is queued while the operator has named no mail server."""
    if todo.status != TodoStatus.PENDING_REVIEW or not has_server():
        return
    if not _WAITING(todo.organization_id, LANE, todo.project_id):
        enqueue([_request(todo.project, key=f"{LANE}:{todo.pk}:{what}:{todo.version}")])


async def run_todo_notice(job: ClaimedJob) -> None:
    """Write to each approver who may be written to now. Who was noted is not written to again within the quarter of an hour."""
    due = await in_db(_note, job)
    crash_point("todo_notice.noted_pre_send")
    failed = [letter for letter in due.letters if await asyncio.to_thread(_send, letter, due.project)]
    await in_db(_finish, job, due, failed)
    if failed:
        raise Undelivered(Undelivered.__doc__)


def _note(job: ClaimedJob) -> Round:
    """Put down that they are written to, before they are: at most one e-mail at a time, also after a crash."""
    with job_tx(job):
        project = Project.objects.get(pk=job.subject_id)
        now, again_at, letters = timezone.now(), list[datetime](), list[Letter]()
        is_owed = job.key.startswith(_key_of_owed(project))
        noticed = dict(ApproverNotice.objects.filter(project=project).values_list("member_id", "sent_at"))
        todos = list(Todo.objects.select_related("type").filter(project=project, status=TodoStatus.PENDING_REVIEW))
        for member in Member.objects.select_related("user").filter(user__is_active=True):
            before = noticed.get(member.pk)
            theirs = [todo for todo in todos if may_approve(todo, member.role)]
            if not any(is_owed or before is None or todo.status_at > before - MARGIN for todo in theirs):
                continue
            if before is not None and before + PAUSE > now:
                again_at.append(before + PAUSE)
                continue
            ApproverNotice.objects.update_or_create(project=project, member_id=member.pk, defaults={"sent_at": now})
            letters.append(Letter(member=member, todos=theirs, before=before))
        if letters:
            enqueue([_request(project, key=_key_of_owed(project, at=now), run_after=now + PAUSE)])
        return Round(project=project, at=now, letters=letters, again_at=min(again_at, default=None))


def _send(letter: Letter, project: Project) -> bool:
    """Whether it failed."""
    name = " ".join(project.name.split())
    count = len(letter.todos)
    context = {
        "project": name,
        "count": count,
        "lines": [_line(todo.description) for todo in letter.todos[:SHOWN]],
        "more": max(0, count - SHOWN),
        "url": f"{settings.BASE_URL}/p/{project.slug}/todos",
    }
    subject = f"{f'{count} todos wait' if count > 1 else 'A todo waits'} for your yes: {name}"
    message = EmailMessage(subject, render_to_string("todos/email/waiting.txt", context), to=[letter.member.user.email])
    return deliver(message) is Delivery.FAILED


def _finish(job: ClaimedJob, due: Round, failed: Sequence[Letter]) -> None:
    """The end of the job; what was not delivered counts as not written, and the job is tried again."""
    with job_tx(job, finish=None if failed else State.DONE):
        owed = Job.objects.filter(key=_key_of_owed(due.project, at=due.at), state=State.QUEUED)
        owed.update(state=State.SKIPPED, error="The letters went out, or are tried again.", finished_at=Now())
        for letter in failed:
            rows = ApproverNotice.objects.filter(project=due.project, member_id=letter.member.pk)
            rows.delete() if letter.before is None else rows.update(sent_at=letter.before)
        if due.again_at is not None:
            key = f"{LANE}:{due.project.pk}:{due.again_at:%Y%m%d%H%M%S}"
            enqueue([_request(due.project, key=key, run_after=due.again_at)])


def _key_of_owed(project: Project, *, at: datetime | None = None) -> str:
    """The job that writes once more, should the letters of a moment not have gone out; without one, how all such keys begin."""
    return f"{LANE}:{project.pk}:owed:{f'{at:%Y%m%d%H%M%S%f}' if at else ''}"


def _request(project: Project, *, key: str, run_after: datetime | None = None) -> JobRequest:
    return JobRequest(lane=LANE, project_id=project.pk, subject_id=project.pk, ordinal=0, key=key, run_after=run_after)


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1]}…"
