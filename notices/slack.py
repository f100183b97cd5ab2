"""Slack messages to members, by an incoming webhook of their own.

A notice is marked as `sending` before its message leaves. If the worker dies in between, or no answer comes, the message
may have arrived: it is `unknown` and never sent again. A message that surely didn't leave is due again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now
from django.utils.translation import gettext, override

from jobs.enqueue import JobRequest, enqueue
from jobs.errors import TryLater
from jobs.failpoints import failpoint
from jobs.fence import age_of, job_tx, prove
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import State
from notices.links import url_of
from notices.models import Notice, NoticeSettings, Send
from notices.preferences import preferences_of
from outbound.errors import BlockedAddress, InvalidRequest, NotSent, OutboundError, Unreadable
from outbound.guard import Guard
from outbound.headers import retry_after_seconds
from outbound.tenant import on_behalf_of
from projects.accounts.languages import language_of_user
from projects.common.api_error import ApiError
from projects.common.crypto import WrongSecret, decrypt, encrypt
from projects.common.translation import lazy
from projects.models import Member
from tenancy.threads import in_db

LANE = "notice_slack"
FIELD = "notice_settings.slack_url"
MOST_LISTED = 20
LONGEST_ERROR = 300
# A limit of Slack's delays messages for so long at most, even if it asks for more.
LONGEST_PAUSE_SECONDS = 3_600
MOST_PATIENCE = timedelta(days=1)
TEST = lazy("This is a test notification from Makegood.")


class NotDelivered(RuntimeError):
    """Slack could not be reached. The message is tried again."""


@dataclass(frozen=True)
class SlackMessage:
    """The message to one member, and the notices that it lists."""

    url: str = field(repr=False)
    text: str
    notices: Sequence[UUID]


@dataclass(frozen=True)
class SlackResult:
    """The outcome of a message. `error` is a sentence for its member. `pause_seconds` is the pause that Slack asks for."""

    state: Send
    error: str = ""
    pause_seconds: float | None = None


def checked_url(url: str) -> str:
    """The address of an incoming webhook, without surrounding spaces. Raises ApiError that names the field."""
    address = url.strip()
    guard = _guard()
    try:
        target = guard.check_url(address)
    except OutboundError as error:
        raise ApiError("invalid_slack_url", str(error), field="slack_url") from error
    if not address.startswith("https://") and not guard.is_opened(target):
        raise ApiError(
            "invalid_slack_url", gettext("Enter the https address of an incoming webhook."), field="slack_url"
        )
    return address


def encrypt_url(url: str, *, organization_id: UUID) -> str:
    return encrypt(url, organization_id=organization_id, field=FIELD) if url else ""


def decrypt_url(stored: str, *, organization_id: UUID) -> str:
    """The address of a member's webhook. Raises WrongSecret."""
    return decrypt(stored, organization_id=organization_id, field=FIELD)


async def send(url: str, text: str) -> SlackResult:
    """Post one message. No transaction may be open, because it can take 10 seconds."""
    body = json.dumps({"text": str(text)}).encode()
    try:
        response = await _guard().request("POST", url, headers={"Content-Type": "application/json"}, body=body)
    except (BlockedAddress, InvalidRequest) as error:
        return SlackResult(Send.FAILED, str(error))
    except NotSent as error:
        return SlackResult(Send.DUE, str(error))
    except Unreadable as error:
        return _result(error.status, {})
    except OutboundError as error:
        return SlackResult(Send.UNKNOWN, str(error))
    return _result(response.status, response.headers)


def queue(member_id: UUID, *, project_id: UUID, cause: str, run_after: datetime | None = None) -> None:
    """Queue a member's Slack messages in the current transaction."""
    key = f"{LANE}:{cause}"
    enqueue([JobRequest(LANE, project_id, subject_id=member_id, ordinal=0, key=key, run_after=run_after)])


def slack_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(name=LANE, queue=Queue.WORK, mode=Mode.QUEUE, handler=run)


async def run(job: ClaimedJob) -> None:
    """Send what is due to one member, in one message. Raises NotDelivered."""
    message = await in_db(_claim, job)
    if message is None:
        return
    failpoint(f"{LANE}.claimed_pre_send")
    with on_behalf_of(job.organization_id):
        result = await send(message.url, message.text)
    failpoint(f"{LANE}.sent_pre_commit")
    await in_db(_finish, job, message, result)
    if result.state is Send.DUE and result.pause_seconds and await in_db(age_of, job) < MOST_PATIENCE:
        raise TryLater(result.error, delay_seconds=min(result.pause_seconds, LONGEST_PAUSE_SECONDS))
    if result.state is Send.DUE:
        raise NotDelivered(NotDelivered.__doc__)


def _claim(job: ClaimedJob) -> SlackMessage | None:
    """Mark what is due as sending. Without anything to send now, end the job."""
    with job_tx(job):
        stored = NoticeSettings.objects.select_for_update().annotate(now=Now()).filter(member_id=job.subject_id).first()
        rows = Notice.objects.filter(member_id=job.subject_id)
        # The worker that had marked them died: they may have been sent.
        rows.filter(slack=Send.SENDING).update(slack=Send.UNKNOWN)
        due = list(rows.filter(slack=Send.DUE, read_at=None).select_related("project").order_by("created_at", "id"))
        url = _open(stored, job.organization_id) if stored else ""
        if not due or not url or stored is None or _is_postponed(stored, due):
            prove(job, finish=State.DONE)
            return None
        shown = due[-MOST_LISTED:]
        rows.filter(pk__in=[one.pk for one in due]).update(slack=Send.SENDING)
        NoticeSettings.objects.filter(pk=stored.pk).update(slack_sent_at=vars(stored)["now"])
        user = Member.objects.select_related("user").get(pk=job.subject_id).user
        with override(language_of_user(user)):
            text = _text(shown, left_out=len(due) - len(shown))
        return SlackMessage(url, text, [one.pk for one in due])


def _is_postponed(stored: NoticeSettings, due: Sequence[Notice]) -> bool:
    """True in quiet hours and during the pause after the last message; a later job is then queued."""
    now: datetime = vars(stored)["now"]
    wanted = preferences_of([stored.member_id])[stored.member_id]
    ends = [wanted.quiet_until(now), stored.slack_sent_at + wanted.message_pause if stored.slack_sent_at else None]
    later = max((end for end in ends if end is not None and end > now), default=None)
    if later is None:
        return False
    cause = f"{stored.member_id}:{later:%Y%m%d%H%M%S}"
    queue(stored.member_id, project_id=due[0].project_id, cause=cause, run_after=later)
    return True


def _finish(job: ClaimedJob, message: SlackMessage, result: SlackResult) -> None:
    """Record the outcome. A message that didn't leave stays due, and its job is retried."""
    with job_tx(job, finish=None if result.state is Send.DUE else State.DONE):
        Notice.objects.filter(pk__in=message.notices, slack=Send.SENDING).update(slack=result.state)
        NoticeSettings.objects.filter(member_id=job.subject_id).update(slack_error=result.error[:LONGEST_ERROR])


def _open(stored: NoticeSettings, organization_id: UUID) -> str:
    try:
        return decrypt_url(stored.slack_url, organization_id=organization_id) if stored.slack_url else ""
    except WrongSecret as error:
        NoticeSettings.objects.filter(pk=stored.pk).update(slack_error=str(error))
        return ""


def _text(notices: Sequence[Notice], *, left_out: int) -> str:
    """One line for each notice, as Slack formats links."""
    lines = [f"{notice.get_kind_display()}: <{url_of(notice)}|{_escaped(notice.text)}>" for notice in notices]
    return "\n".join([*lines, *([gettext("and %(number)s more") % {"number": left_out}] if left_out else [])])


def _escaped(text: str) -> str:
    """Text that can't begin a link or a mention in Slack."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "¦")


def _result(status: int, headers: Mapping[str, str]) -> SlackResult:
    if 200 <= status < 300:
        return SlackResult(Send.SENT)
    if status == 429:
        sentence = gettext("Slack accepts no more messages at the moment (429).")
        return SlackResult(Send.DUE, sentence, retry_after_seconds(headers))
    if status >= 500:
        return SlackResult(
            Send.UNKNOWN,
            gettext("Slack answered %(status)s. We don’t know whether the message arrived.") % {"status": status},
        )
    return SlackResult(
        Send.FAILED,
        gettext("Slack refused the message (%(status)s). Check the webhook’s address.") % {"status": status},
    )


def _guard() -> Guard:
    return Guard(allow=settings.OUTBOUND_ALLOW)
