"""The lane of push messages: what waits for one browser is sent to it.

A message is sent again if its worker died or no answer came. That shows nothing twice: a browser and its push service
replace a message by the next one with the same tag. An outcome is written only with the job's token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import ngettext, override

from jobs.enqueue import JobRequest, enqueue
from jobs.failpoints import failpoint
from jobs.fence import job_tx, prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import State
from notices import slack
from notices.links import path_of
from notices.models import Notice, NoticeKind, PushMessage, PushSubscription, Send
from notices.preferences import STANDARD, Preferences, preferences_of
from notices.push.sending import DAY_SECONDS, Content, PushResult, Receiver, opened, send
from outbound.tenant import on_behalf_of
from projects.accounts.languages import language_of_user
from projects.common.crypto import WrongSecret
from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tenancy.threads import in_db

LANE = "notice_push"
# More than these, after quiet hours or a pause, are one message. Of a digest, more than one.
MOST_SINGLE, MOST_IN_DIGEST = 3, 1
SUMMARY = "notices"
LONGEST_TEXT = 160
LONGEST_ERROR = 300
# A customer waits for somebody, or a colleague for an answer. These are in no digest.
URGENT = frozenset({NoticeKind.WAITS, NoticeKind.ASSIGNED, NoticeKind.MENTIONED})
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
Due = tuple[PushMessage, Notice]
SentTogether = tuple[Content, Sequence[PushMessage]]

# A new id for a notice that is raised anew while its earlier message is on its way.
_OWE = Prepared("""
insert into notices_pushmessage (id, organization_id, subscription_id, notice_id)
select gen_random_uuid(), s.organization_id, s.id, %s from notices_pushsubscription s
where s.organization_id = %s and s.member_id = %s
on conflict (organization_id, subscription_id, notice_id) do update set id = excluded.id
returning id, subscription_id
""")


@dataclass(frozen=True)
class PushRun:
    """The messages to one browser, with the rows and notices that each settles."""

    receiver: Receiver
    language: str
    project_id: UUID
    messages: Sequence[SentTogether]


def queue(member_id: UUID, notice_id: UUID, *, project_id: UUID) -> None:
    """Queue a notice's messages to all browsers of a member in the current transaction."""
    owed = _OWE(notice_id, current_organization_id(), member_id)
    if owed:
        enqueue([_request(subscription_id, project_id, cause=str(row_id)) for row_id, subscription_id in owed])


def push_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(name=LANE, queue=Queue.WORK, mode=Mode.QUEUE, handler=run)


def content_of_test(path: str) -> Content:
    """The content of a test message. `path` is the page that it leads to."""
    return Content("test", "Makegood", str(slack.TEST), path, is_urgent=True)


async def run(job: ClaimedJob) -> None:
    """Send what waits for one browser, until it or its push service takes no more."""
    due = await in_db(_claim, job)
    if due is None:
        return
    failpoint(f"{LANE}.claimed_pre_send")
    results = []
    with on_behalf_of(job.organization_id), override(due.language):
        for content, _ in due.messages:
            results.append(await send(due.receiver, content))
            if results[-1].state is Send.DUE or results[-1].is_gone:
                break
    failpoint(f"{LANE}.sent_pre_commit")
    await in_db(_finish, job, due, results)


def _claim(job: ClaimedJob) -> PushRun | None:
    """Read what is to be sent now. Without anything, end the job."""
    with job_tx(job):
        found = PushSubscription.objects.select_related("member__user").annotate(now=Now())
        subscription = found.filter(pk=job.subject_id, member__user__is_active=True).first()
        wanted = preferences_of([subscription.member_id])[subscription.member_id] if subscription else STANDARD
        due = _ready(subscription, _due(subscription, wanted), wanted) if subscription else []
        receiver = _opened(subscription, job.organization_id) if subscription and due else None
        if subscription is None or receiver is None:
            prove(job, finish=State.DONE)
            return None
        language = language_of_user(subscription.member.user)
        with override(language):
            return PushRun(receiver, language, due[0][1].project_id, _contents(due, wanted))


def _due(subscription: PushSubscription, wanted: Preferences) -> list[Due]:
    """The messages that wait for the browser, oldest first.

    Those that were read are deleted, and those older than a day and the pause of a digest.
    """
    since = vars(subscription)["now"] - timedelta(seconds=DAY_SECONDS) - wanted.message_pause
    rows = {row.notice_id: row for row in PushMessage.objects.filter(subscription=subscription)}
    unread = Notice.objects.filter(Q(pk__in=rows), read_at=None, created_at__gt=since).select_related("project")
    due = [(rows.pop(notice.pk), notice) for notice in unread.order_by("created_at", "id")]
    PushMessage.objects.filter(pk__in=[row.pk for row in rows.values()]).delete()
    return due


def _ready(subscription: PushSubscription, due: Sequence[Due], wanted: Preferences) -> Sequence[Due]:
    """The messages to send now: none in quiet hours and in the pause after a failure, and only the urgent ones between two
    digests. A later job is queued for the others.
    """
    now: datetime = vars(subscription)["now"]
    ends = (wanted.quiet_until(now), subscription.retry_at)
    later, ready = max((end for end in ends if end is not None and end > now), default=None), list[Due]()
    if later is None and subscription.digest_at is not None and wanted.message_pause:
        later, ready = subscription.digest_at + wanted.message_pause, [one for one in due if one[1].kind in URGENT]
    if later is None or later <= now:
        return due
    if len(ready) < len(due):
        _queue_later(subscription, due[0][1].project_id, later)
    return ready


def _contents(due: Sequence[Due], wanted: Preferences) -> list[SentTogether]:
    if not wanted.message_pause:
        return _grouped(due, most_single=MOST_SINGLE)
    digest, urgent = ([one for one in due if (one[1].kind in URGENT) is is_urgent] for is_urgent in (False, True))
    return [*_grouped(urgent, most_single=MOST_SINGLE), *_grouped(digest, most_single=MOST_IN_DIGEST)]


def _grouped(due: Sequence[Due], *, most_single: int) -> list[SentTogether]:
    if len(due) <= most_single:
        return [(_content(notice), [row]) for row, notice in due]
    newest = due[-1][1]
    headline = ngettext("%(count)s notification", "%(count)s notifications", len(due)) % {"count": len(due)}
    text = f"{newest.get_kind_display()}: {newest.text}"[:LONGEST_TEXT]
    is_urgent = any(notice.kind in URGENT for _, notice in due)
    content = Content(SUMMARY, headline, text, f"/p/{newest.project.slug}/notices", is_urgent)
    return [(content, [row for row, _ in due])]


def _content(notice: Notice) -> Content:
    """A notice, in the words of its e-mail."""
    is_urgent = notice.kind in URGENT
    return Content(
        notice.pk.hex, str(notice.get_kind_display()), notice.text[:LONGEST_TEXT], path_of(notice), is_urgent
    )


def _finish(job: ClaimedJob, due: PushRun, results: Sequence[PushResult]) -> None:
    """Record the outcome of each message, and queue another try of what wasn't taken."""
    with job_tx(job, finish=State.DONE):
        subscription = (
            PushSubscription.objects.select_for_update().annotate(now=Now()).filter(pk=job.subject_id).first()
        )
        if subscription is None:
            return
        for (_, rows), result in zip(due.messages, results, strict=False):
            _settle(rows, result)
        last = results[-1]
        if last.is_gone:
            subscription.delete()
            return
        is_digest = any(
            result.state is Send.SENT and not content.is_urgent
            for (content, _), result in zip(due.messages, results, strict=False)
        )
        _note(subscription, last, is_digest=is_digest)
        if subscription.retry_at is not None:
            _queue_later(subscription, due.project_id, subscription.retry_at)


def _settle(rows: Sequence[PushMessage], result: PushResult) -> None:
    """Delete what was sent or refused. A notice is sent if one browser got it."""
    if result.state is Send.DUE:
        return
    PushMessage.objects.filter(pk__in=[row.pk for row in rows]).delete()
    if not result.is_gone:
        states = [Send.DUE, Send.FAILED] if result.state is Send.SENT else [Send.DUE]
        notices = Notice.objects.filter(pk__in=[row.notice_id for row in rows], browser__in=states)
        notices.update(browser=result.state)


def _note(subscription: PushSubscription, result: PushResult, *, is_digest: bool) -> None:
    """Store the last outcome with the browser. After a failure, the pause grows unless the push service names one."""
    now: datetime = vars(subscription)["now"]
    subscription.error = result.error[:LONGEST_ERROR]
    if result.state is Send.DUE:
        grown = min(FIRST_PAUSE * 2 ** min(subscription.failures, 10), LONGEST_PAUSE)
        named = timedelta(seconds=min(result.retry_after_seconds or 0, DAY_SECONDS))
        subscription.retry_at = now + (named or grown)
        subscription.failures = min(subscription.failures + 1, 1_000)
    else:
        subscription.failures, subscription.retry_at = 0, None
    if result.state is Send.SENT:
        subscription.sent_at = now
    if is_digest:
        subscription.digest_at = now
    subscription.save(update_fields=["error", "sent_at", "digest_at", "failures", "retry_at"])


def _queue_later(subscription: PushSubscription, project_id: UUID, at: datetime) -> None:
    """Queue a job for then, unless one is queued already."""
    cause = f"{subscription.pk}:{at:%Y%m%d%H%M%S%f}"
    enqueue([_request(subscription.pk, project_id, cause=cause, run_after=at)])


def _request(subscription_id: UUID, project_id: UUID, *, cause: str, run_after: datetime | None = None) -> JobRequest:
    key = f"{LANE}:{cause}"
    return JobRequest(LANE, project_id, subject_id=subscription_id, ordinal=0, key=key, run_after=run_after)


def _opened(subscription: PushSubscription, organization_id: UUID) -> Receiver | None:
    try:
        return opened(subscription.secret, organization_id=organization_id)
    except WrongSecret as error:
        PushSubscription.objects.filter(pk=subscription.pk).update(error=str(error))
        PushMessage.objects.filter(subscription=subscription).delete()
        return None
