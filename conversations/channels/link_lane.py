"""The lane that tells a provider our webhook if the request that connected the channel died before it did."""

from __future__ import annotations

from conversations.channels.linking import LINK_LANE, PENDING, OpenChannel, open_channel, store_result
from conversations.channels.provider import LinkResult
from conversations.channels.registry import PROVIDERS
from conversations.models import ChannelLink
from jobs.errors import Skip
from jobs.fence import job_tx, reading
from jobs.lanes import ClaimedJob, Lane, Mode, Queue
from jobs.models import State
from jobs.outages import until_stored
from tenancy.threads import in_db

TOLD = "The provider has been told our webhook."


def link_lane() -> Lane:
    """The lane as the workers know it."""
    return Lane(name=LINK_LANE, queue=Queue.WORK, mode=Mode.QUEUE, handler=run_channel_link)


async def run_channel_link(job: ClaimedJob) -> None:
    """Tell the provider, and store what it said. Telling it twice changes nothing."""
    channel = await in_db(_read, job)
    result = await PROVIDERS[channel.kind].link(channel.connection, webhook=channel.webhook)
    await until_stored(_store, job, channel, result)


def _read(job: ClaimedJob) -> OpenChannel:
    """Raises Skip unless the provider is untold."""
    with reading(job):
        link = ChannelLink.objects.select_related("project").filter(pk=job.subject_id, problem=PENDING).first()
        channel = open_channel(link.project, link.kind) if link else None
    if channel is None:
        raise Skip(TOLD)
    return channel


def _store(job: ClaimedJob, channel: OpenChannel, result: LinkResult) -> None:
    with job_tx(job, finish=State.DONE):
        store_result(channel, result)
