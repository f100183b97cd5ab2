"""Mailboxes whose servers say at once that an e-mail came (IMAP IDLE).

One worker process owns a mailbox by a lease in its row, and holds its connection on the event loop: no job, no thread and
no connection of the database waits. News only bring the next look forward, so that a lost one costs a minute.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import cast
from uuid import UUID, uuid4

from django.conf import settings as django_settings
from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from conversations.channels.email import LANE, Email, mail_settings
from conversations.channels.mail.idle import NoIdle, listen
from conversations.channels.mail.imap import MailboxFailed
from conversations.models import ChannelLink
from jobs import wakeups
from jobs.models import Job, State
from jobs.sweep import sweep_tenants
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, guard_for, open_source
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=90)
LOOK_SECONDS = 30.0
# Before a connection that broke is opened again: the first pause, and the longest.
PAUSES = (5.0, 900.0)
# A connection that held for so long begins with the first pause again.
STEADY_SECONDS = 600.0
# Before a server without IDLE, or that rejects the sign-in, is asked again.
REFUSED_SECONDS = 3_600.0
# A look that is running doesn't see what came meanwhile.
BUSY_SECONDS, MOST_TRIES = 2.0, 30
_WATCHABLE = """
select organization_id, id from conversations_channellink
where kind = 'email' and cursor -> 'job' is not null
  and (watched_until is null or watched_until < clock_timestamp() or watched_by = '{owner}')
order by (watched_by = '{owner}') is true desc, id limit {most}
"""


@dataclass(frozen=True)
class WatchedMailbox:
    """A mailbox that this process owns. `job` changes with its connection."""

    organization_id: UUID
    link_id: UUID
    job: str
    connection: Connection


class MailboxWatch:
    """The mailboxes that a process listens to, at most `most`."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._owner = uuid4()
        self._tasks: dict[tuple[UUID, str], asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Claim mailboxes and listen to them, until cancelled."""
        try:
            while self._most > 0:
                await self._look()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def _look(self) -> None:
        boxes = {(box.link_id, box.job): box for box in await in_db(claim_mailboxes, self._owner, self._most)}
        for gone in self._tasks.keys() - boxes.keys():
            self._tasks.pop(gone).cancel()
        for key in boxes.keys() - self._tasks.keys():
            self._tasks[key] = asyncio.create_task(_listen_on(boxes[key]), name=f"mailbox {key[0]}")


async def watch_mailboxes() -> None:
    """The service of a worker process."""
    most: int = django_settings.MAILBOX_CONNECTIONS
    if most < 1:
        await asyncio.Event().wait()
    await MailboxWatch(most=most).run()


def claim_mailboxes(owner: UUID, most: int) -> list[WatchedMailbox]:
    """The mailboxes that the owner has from now on, for the time of the lease."""
    found = list[WatchedMailbox]()
    sweep_tenants(
        _WATCHABLE.format(owner=owner, most=int(most)),
        partial(_claim, found, owner),
        failed="A mailbox was not listened to",
    )
    return found


def _claim(found: list[WatchedMailbox], owner: UUID, link_id: UUID) -> None:
    free = Q(watched_until=None) | Q(watched_until__lt=Now()) | Q(watched_by=owner)
    rows = ChannelLink.objects.filter(free, pk=link_id)
    if not rows.update(watched_by=owner, watched_until=Now() + LEASE):
        return
    link = ChannelLink.objects.get(pk=link_id)
    try:
        connection = open_source(link.project_id, Email.kind)
    except WrongSecret:
        return
    if connection is None or connection.needs_reauth or mail_settings(connection).provider != "imap":
        return
    found.append(WatchedMailbox(cast(UUID, link.organization_id), link_id, str(link.cursor.get("job", "")), connection))


async def _listen_on(box: WatchedMailbox) -> None:
    """Listen to a mailbox, again and again, until the process doesn't own it any more."""
    settings, news = mail_settings(box.connection), asyncio.Event()
    messenger = asyncio.create_task(_report(box, news))
    pause = PAUSES[0]
    try:
        while True:
            began = time.monotonic()
            try:
                await listen(settings, password=box.connection.secret, guard=guard_for(settings), on_news=news.set)
            except NoIdle:
                log.debug("A mail server has no IDLE; the mailbox is looked into every minute.")
                pause = REFUSED_SECONDS
            except MailboxFailed as error:
                pause = REFUSED_SECONDS if error.is_refused else pause
            except (OSError, EOFError, ValueError, ssl.SSLError) as error:
                log.debug("A connection to a mailbox ended: %s.", type(error).__name__)
            if time.monotonic() - began > STEADY_SECONDS:
                pause = PAUSES[0]
            await asyncio.sleep(pause)
            pause = min(pause * 2, PAUSES[1])
    finally:
        messenger.cancel()


async def _report(box: WatchedMailbox, news: asyncio.Event) -> None:
    """Bring the next look forward whenever there are news."""
    while True:
        await news.wait()
        news.clear()
        for _ in range(MOST_TRIES):
            try:
                if await in_db(bring_look_forward, box.organization_id, box.link_id):
                    break
            except DatabaseError:
                log.debug("The next look into a mailbox could not be brought forward.")
            await asyncio.sleep(BUSY_SECONDS)


def bring_look_forward(organization_id: UUID, link_id: UUID) -> bool:
    """Let the next look begin now. Returns False while one is running."""
    with tenant_tx(organization_id):
        queued = Job.objects.filter(lane=LANE, subject_id=link_id, state=State.QUEUED)
        if not queued.exists():
            return not Job.objects.filter(lane=LANE, subject_id=link_id, state=State.RUNNING).exists()
        queued.filter(run_after__gt=Now()).update(run_after=Now())
        transaction.on_commit(partial(wakeups.hint, [LANE]))
        return True
