"""The lane that looks into mailboxes by IMAP. A mailbox has one job, which is put off from look to look.

No transaction is open while the server is asked. An e-mail is stored by its Message-ID before the cursor moves past it, so
that a worker that dies reads it again and stores nothing twice.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from conversations.channels.email import LANE, Email, mail_settings, mailbox_of
from conversations.channels.incoming import Account, store_item
from conversations.channels.mail.imap import Cursor, MailboxFailed, NewMails
from conversations.channels.mail.message import item_of
from conversations.channels.registry import PROVIDERS
from conversations.models import ChannelLink
from jobs.errors import Skip, TryLater
from jobs.failpoints import failpoint
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from projects.common.api_error import ApiError
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, clear_needs_reauth, mark_needs_reauth, open_source
from tenancy.tenant_lookup import ProjectRef
from tenancy.threads import in_db

log = logging.getLogger(__name__)

FAILED_DELAY_S = 300.0
REJECTED_DELAY_S = 1_800.0
OVER = "The mailbox isn't read by IMAP any more."


@dataclass(frozen=True)
class Look:
    """One look into a mailbox: the connection, and where the last look ended."""

    account: Account
    cursor: Cursor

    @property
    def connection(self) -> Connection:
        return self.account.connection


def mailbox_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(name=LANE, queue=Queue.WORK, mode=Mode.QUEUE, handler=run_mailbox, slots=16, on_failed=fail_mailbox)


async def run_mailbox(job: ClaimedJob) -> None:
    """Look into a mailbox once, store what is new, and put the job off to the next look."""
    look = await in_db(_begin, job)
    try:
        new = await mailbox_of(look.connection).look(look.cursor)
    except MailboxFailed as error:
        await in_db(_record, job, look, str(error), is_refused=error.is_refused)
        raise TryLater(str(error), delay_seconds=REJECTED_DELAY_S if error.is_refused else FAILED_DELAY_S) from None
    try:
        await in_db(_store, job, look, new)
    except ApiError as error:
        raise TryLater(error.message, delay_seconds=FAILED_DELAY_S) from None
    raise TryLater("", delay_seconds=0 if new.has_more else mail_settings(look.connection).every_minutes * 60.0)


def fail_mailbox(job: ClaimedJob, reason: str) -> None:
    """Say on the channel's page that nothing is read any more."""
    ChannelLink.objects.filter(pk=job.subject_id).update(problem=reason[:300])


def _begin(job: ClaimedJob) -> Look:
    """Raises Skip if the mailbox was disconnected, or another job reads it."""
    with job_tx(job):
        link = ChannelLink.objects.filter(pk=job.subject_id).first()
        if link is None or link.cursor.get("job") != job.key:
            raise Skip(OVER)
        try:
            connection = open_source(link.project_id, Email.kind)
        except WrongSecret:
            connection = None
        if connection is None or mail_settings(connection).provider != "imap":
            raise Skip(OVER)
        ref = ProjectRef(job.organization_id, link.project_id)
        cursor = Cursor(int(link.cursor.get("validity", 0)), int(link.cursor.get("uid", 0)))
        return Look(Account(ref, PROVIDERS[Email.kind], connection), cursor)


def _store(job: ClaimedJob, look: Look, new: NewMails) -> None:
    """Store the new e-mails one by one, and then the position at which the next look begins."""
    for mail in new.mails:
        try:
            item = item_of(mail, own_address=mail_settings(look.connection).address)
        except Exception:  # the boundary to a stranger's bytes, as where the e-mail was read
            log.exception("An e-mail of a mailbox could not be understood.")
            continue
        store_item(look.account, item, job=job)
    failpoint("mailbox.stored_pre_cursor")
    with job_tx(job):
        found = ChannelLink.objects.select_for_update(no_key=True).filter(pk=job.subject_id)
        for link in found:
            link.cursor = {**link.cursor, "validity": new.cursor.validity, "uid": new.cursor.uid}
            link.problem = ""
            link.save(update_fields=["cursor", "problem", "tried_at"])
        clear_needs_reauth(look.connection.source_id, tried=look.connection)


def _record(job: ClaimedJob, look: Look, problem: str, *, is_refused: bool) -> None:
    with job_tx(job):
        ChannelLink.objects.filter(pk=job.subject_id).update(problem=problem[:300])
        if is_refused and mark_needs_reauth(look.connection.source_id, tried=look.connection):
            log.warning("A mailbox has to be connected again.")
