"""Connecting a messenger: the connection is stored, then the provider is told our webhook. No transaction is open then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast
from uuid import UUID, uuid4

from django.utils import timezone
from django.utils.translation import gettext

from conversations.channels.provider import LinkResult, OutgoingPart
from conversations.channels.registry import PROVIDERS
from conversations.models import ChannelLink, Chat
from jobs.enqueue import JobRequest, enqueue
from projects.common.crypto import WrongSecret
from projects.connections.integration_types import KINDS
from projects.connections.integrations import (
    Connection,
    SourceEdit,
    clear_needs_reauth,
    connect_source,
    disconnect_source,
    mark_needs_reauth,
    open_source,
)
from projects.models import Project, User
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.outcome import Ending

LINK_LANE = "channel_link"
# The request that connects a channel tells its provider within this time.
GRACE = timedelta(minutes=1)
PENDING = "The provider hasn’t been told our webhook yet."


@dataclass(frozen=True)
class OpenChannel:
    """A stored connection of a project, to be linked or unlinked outside of any transaction."""

    organization_id: UUID
    project_id: UUID
    kind: str
    connection: Connection
    # The connection that messages go out by; None if it is missing.
    carrier: Connection | None

    @property
    def webhook(self) -> str:
        return PROVIDERS[self.kind].webhook_of(self.connection)


def connect_channel(
    project: Project, kind: str, settings: Mapping[str, Any], secret: str, *, by: User | None
) -> OpenChannel:
    """Store the connection; `link_channel` follows after the commit. Raises SettingsRefused."""
    connect_source(project, KINDS[kind], SourceEdit(settings, secret), by=by)
    channel = open_channel(project, kind)
    assert channel is not None
    account = PROVIDERS[kind].account_of(channel.connection)
    values = {"account": account, "problem": PENDING, "connected_at": None}
    link, _ = ChannelLink.objects.update_or_create(project=project, kind=kind, defaults=values)
    PROVIDERS[kind].begin(channel.connection, link)
    enqueue([_link_job(link)])
    return channel


def _link_job(link: ChannelLink) -> JobRequest:
    """The job that tells the provider if this process dies before it has."""
    key, due_at = f"{LINK_LANE}:{uuid4()}", timezone.now() + GRACE
    return JobRequest(
        lane=LINK_LANE, project_id=link.project_id, subject_id=link.pk, ordinal=0, key=key, run_after=due_at
    )


def open_channel(project: Project, kind: str) -> OpenChannel | None:
    """The project's connection of a kind, or None. Runs in the tenant's transaction."""
    connection = _open(project, kind)
    if connection is None:
        return None
    carrier = PROVIDERS[kind].carrier
    sends_by = _open(project, carrier) if carrier else connection
    return OpenChannel(cast(UUID, project.organization_id), project.pk, kind, connection, sends_by)


def _open(project: Project, kind: str) -> Connection | None:
    try:
        return open_source(project.pk, kind)
    except WrongSecret:
        return None


def disconnect_channel(project: Project, kind: str, *, by: User | None) -> OpenChannel | None:
    """Delete the connection and its secret. Returns what it was, for `unlink_channel` after the commit."""
    channel = open_channel(project, kind)
    disconnect_source(project, KINDS[kind], by=by)
    ChannelLink.objects.filter(project=project, kind=kind).delete()
    return channel


async def link_channel(channel: OpenChannel) -> LinkResult:
    """Tell the provider our webhook, and store what it said."""
    result = await PROVIDERS[channel.kind].link(channel.connection, webhook=channel.webhook)
    await in_db(_record, channel, result)
    return result


def open_untold(project: Project, kind: str) -> OpenChannel | None:
    """The connection, if the provider was never told our webhook, because a process died after it was stored."""
    is_untold = ChannelLink.objects.filter(project=project, kind=kind, problem=PENDING).exists()
    return open_channel(project, kind) if is_untold else None


async def inspect_channel(channel: OpenChannel) -> LinkResult:
    """Ask the provider about our webhook, and store what it said. What messages go out by is checked as well."""
    result = await PROVIDERS[channel.kind].inspect(channel.connection, webhook=channel.webhook)
    await in_db(_record, channel, result)
    return result if result.problem else replace(result, problem=await inspect_carrier(channel))


async def inspect_carrier(channel: OpenChannel) -> str:
    """Why the channel's messages can't go out, or ""."""
    if channel.carrier is None:
        return no_carrier()
    return await PROVIDERS[channel.kind].inspect_carrier(channel.carrier)


async def send_test(channel: OpenChannel, text: str) -> str:
    """Send a test to the newest chat, outside of the ledger. Returns why it wasn't sent, or ""."""
    to = await in_db(_newest_chat, channel)
    if not to:
        return gettext("Nobody has written yet. Write to the channel first.")
    if channel.carrier is None:
        return no_carrier()
    part = OutgoingPart(chat_id=to, text=text, key=f"test-{uuid4().hex}")
    outcome = await PROVIDERS[channel.kind].send(channel.carrier, part)
    return "" if outcome.ending is Ending.DONE else outcome.error


def no_carrier() -> str:
    """The sentence about a channel without the connection that its messages go out by."""
    return gettext("No mail server is connected, so nothing is answered. Connect one under E-mail (SMTP).")


def _newest_chat(channel: OpenChannel) -> str:
    account = PROVIDERS[channel.kind].account_of(channel.connection)
    with tenant_tx(channel.organization_id):
        rows = Chat.objects.filter(project_id=channel.project_id, kind=channel.kind, account=account, opted_out_at=None)
        return rows.order_by("-created_at").values_list("external_id", flat=True).first() or ""


async def unlink_channel(channel: OpenChannel) -> None:
    """Withdraw our webhook from the provider, as far as it answers."""
    await PROVIDERS[channel.kind].unlink(channel.connection)


def _record(channel: OpenChannel, result: LinkResult) -> None:
    with tenant_tx(channel.organization_id):
        store_result(channel, result)


def store_result(channel: OpenChannel, result: LinkResult) -> None:
    """Store what the provider said, in the tenant's transaction."""
    rows = ChannelLink.objects.filter(project_id=channel.project_id, kind=channel.kind)
    values: dict[str, Any] = {"problem": result.problem[:300], "tried_at": timezone.now()}
    if result.name:
        values["name"] = result.name[:200]
    if not result.problem:
        values["connected_at"] = timezone.now()
    rows.update(**values)
    source, tried = channel.connection.source_id, channel.connection
    if result.is_refused:
        mark_needs_reauth(source, tried=tried)
    elif not result.problem:
        clear_needs_reauth(source, tried=tried)
