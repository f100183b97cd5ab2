"""Deliveries of providers: verified, stored once, and left to the agent. Nothing here uses the network or a model.

Each item is a transaction of its own, with the message, its turn and its jobs. A repeated item changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from django.utils import timezone

from conversations.channels.chats import Arrival, post_to_chat
from conversations.channels.delivered import keep_contents
from conversations.channels.fetching import fetch_job
from conversations.channels.items import ChatClosed, IgnoredItem, IncomingMessage, Item, ReceiptUpdate, storable
from conversations.channels.provider import Provider, WebhookRequest
from conversations.channels.receipts import REASON, STATE, link, record_update
from conversations.channels.registry import PROVIDERS
from conversations.channels.twilio import account_sid_of
from conversations.models import Chat, Delivery, DeliveryResult
from jobs.enqueue import enqueue
from jobs.failpoints import failpoint
from jobs.fence import prove
from jobs.lanes import ClaimedJob
from projects.common.crypto import WrongSecret
from projects.connections.integrations import Connection, open_source
from projects.connections.twilio import KIND as TWILIO
from projects.models import Project
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import ProjectRef, find_source, find_source_projects
from tenancy.write_batch import insert_if_absent, update_row

# The kind of the rows that say which item a nonce brought.
NONCE = "nonce"
# Older messages, of a provider that could not reach us for long, are stored without an answer.
STALE = timedelta(hours=24)
# The fields of a delivery that say what became of it.
RESULT = ("conversation", "message", "message_ref", "result", "detail", "body", "sent_at")
PROJECT = PreparedQuery(lambda project: Project.objects.filter(pk=project), kinds=(UUID,))


class ForeignWebhook(Exception):
    """The webhook is signed with no connection's secret."""


@dataclass(frozen=True)
class Account:
    """A provider's account that a project has connected."""

    ref: ProjectRef
    provider: Provider
    connection: Connection

    @property
    def id(self) -> str:
        return self.provider.account_of(self.connection)


def projects_of(kind: str, request: WebhookRequest, *, source_id: UUID | None) -> list[ProjectRef]:
    """The projects that a webhook may be for: of the connection in its address, or of the account that it names."""
    ref = find_source(source_id, kind) if source_id is not None else None
    if ref is not None or (source_id is not None and kind != TWILIO):
        return [ref] if ref else []
    # Twilio's addresses are shared. The status of a message may come after its connection was made anew.
    account_sid = account_sid_of(request.body)
    return find_source_projects(kind, account_sid=account_sid) if account_sid else []


def accept_webhook(kind: str, request: WebhookRequest, *, source_id: UUID | None = None) -> int:
    """Store the items of a webhook, and return how many were new. Every item counts by itself.

    Raises ForeignWebhook, MalformedWebhook, and ApiError for an item over a limit, which the provider delivers again.
    """
    account = find_account(kind, request, source_id=source_id)
    items, nonce = account.provider.parse(account.connection, request), account.provider.nonce_of(request)
    new = sum(store_item(account, item, nonce=nonce) for item in items)
    failpoint("channel.committed_pre_200")
    return new


def find_account(kind: str, request: WebhookRequest, *, source_id: UUID | None) -> Account:
    """The account whose secret signed the webhook. Raises ForeignWebhook."""
    provider = PROVIDERS[kind]
    for ref in projects_of(kind, request, source_id=source_id):
        connection = open_connection(ref, kind)
        if connection is not None and provider.is_genuine(connection, request):
            return Account(ref, provider, connection)
    raise ForeignWebhook(ForeignWebhook.__doc__)


def open_connection(ref: ProjectRef, kind: str) -> Connection | None:
    """The connection of a project, or None if there is none or its secret can't be read."""
    with tenant_tx(ref.organization_id):
        try:
            return open_source(ref.project_id, kind)
        except WrongSecret:
            return None


def store_item(account: Account, item: Item, *, nonce: str = "", job: ClaimedJob | None = None) -> bool:
    """Store one item. Returns False for a repeated one.

    Raises ForeignWebhook if its nonce brought another item, LeaseLost if another worker has the job that reads it.
    """
    with tenant_tx(account.ref.organization_id):
        if job is not None:
            prove(job)
        if nonce and not _claim(account, nonce, item):
            raise ForeignWebhook("The signature was used for another item.")
        delivery = Delivery(
            project_id=account.ref.project_id,
            kind=account.provider.kind,
            account=account.id,
            external_id=item.external_id[:200],
            result=DeliveryResult.IGNORED,
        )
        if not insert_if_absent(delivery):
            return False
        _apply(account, item, delivery)
        update_row(delivery, RESULT)
        failpoint("channel.verified_pre_commit")
    return True


def _claim(account: Account, nonce: str, item: Item) -> bool:
    """Record what a nonce brings. Returns False if it brought something else before."""
    digest = sha256(item.external_id.encode()).hexdigest()
    key = {"project_id": account.ref.project_id, "kind": NONCE, "account": account.id, "external_id": nonce[:200]}
    if insert_if_absent(Delivery(**key, message_ref=digest, result=DeliveryResult.IGNORED)):
        return True
    return Delivery.objects.filter(**key, message_ref=digest).exists()


def _apply(account: Account, item: Item, delivery: Delivery) -> None:
    match item:
        case IncomingMessage():
            _receive(account, item, delivery)
        case ReceiptUpdate():
            _record_receipt(account, item, delivery)
        case ChatClosed():
            _close_chat(account, item, delivery)
        case IgnoredItem():
            delivery.detail = item.reason[:300]
            delivery.result = DeliveryResult.REFUSED if item.is_malformed else DeliveryResult.IGNORED


def _receive(account: Account, item: IncomingMessage, delivery: Delivery) -> None:
    [project] = PROJECT(account.ref.project_id)
    is_stale = item.sent_at is not None and timezone.now() - item.sent_at > STALE
    arrival = Arrival(project, account.provider, account.id, item, is_stale=is_stale)
    stored = post_to_chat(arrival)
    delivery.conversation_id, delivery.message_id = stored.conversation_id, stored.message_id
    delivery.message_ref, delivery.sent_at = item.message_ref[:200], item.sent_at
    delivery.result, delivery.detail, delivery.body = stored.result, stored.detail[:300], storable(dict(item.body))
    if stored.has_files and stored.message_id is not None:
        keep_contents(stored.message_id, item.files)
        enqueue([fetch_job(delivery)])


def _record_receipt(account: Account, item: ReceiptUpdate, delivery: Delivery) -> None:
    effect = record_update(
        account.ref.project_id,
        kind=account.provider.kind,
        account=account.id,
        update=item,
        within=account.provider.receipts_within(account.connection),
    )
    delivery.sent_at, delivery.message_ref = item.at, item.message_ref[:200]
    delivery.detail = f"{item.state.value}: {item.reason}".rstrip(": ")[:300]
    delivery.body = {STATE: item.state.value, REASON: item.reason}
    if effect is not None:
        link(delivery, effect)


def _close_chat(account: Account, item: ChatClosed, delivery: Delivery) -> None:
    chats = Chat.objects.filter(
        project_id=account.ref.project_id,
        kind=account.provider.kind,
        account=account.id,
        external_id=item.chat_id,
    )
    chats.update(opted_out_at=None if item.is_open else timezone.now())
    delivery.detail = "The customer came back." if item.is_open else "The customer blocked this channel."
    delivery.result = DeliveryResult.KEYWORD
    delivery.conversation_id = chats.values_list("conversation_id", flat=True).first()


def recent_deliveries(project: Project, kind: str) -> Sequence[Delivery]:
    """The ten newest deliveries of a channel."""
    return list(Delivery.objects.filter(project=project, kind=kind).order_by("-received_at")[:10])
