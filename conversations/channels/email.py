"""E-mail as a provider: a mailbox, answered through the project's mail server.

Postmark or Mailgun posts what arrives, or the mailbox is read by IMAP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

from django.conf import settings as django_settings

from conversations.channels.items import Item, RemoteFile
from conversations.channels.mail import mailgun, postmark
from conversations.channels.mail.enclosed import as_links, enclosable, find_enclosed, read_enclosed
from conversations.channels.mail.imap import Mailbox, MailboxFailed
from conversations.channels.mail.message import MESSAGE_ID, REPLY, clean_line, item_of, item_of_files
from conversations.channels.media import NotFetched
from conversations.channels.provider import LinkResult, OutgoingPart, Provider, WebhookRequest
from conversations.common.payloads import StoredAttachment
from conversations.models import Channel, ChannelLink, Delivery, DeliveryResult, MessageRole, Receipt
from jobs.enqueue import JobRequest, enqueue
from projects.connections.integrations import Connection, guard_for
from projects.connections.settings.email import EmailSettings
from tools.engine.execution.outcome import Outcome
from tools.services.messaging.base import EmailReply, is_too_large
from tools.services.messaging.channels import smtp_for

KIND = "email"
# The lane of the jobs that read mailboxes.
LANE = "mailbox"
FORMS = {"postmark": postmark, "mailgun": mailgun}
FORM = 'Send it as a string, or as {"password": …} for Postmark and IMAP, and {"signing_key": …} for Mailgun.'
MESSAGES = (DeliveryResult.ANSWERED, DeliveryResult.STORED, DeliveryResult.KEYWORD)
NOT_FETCHED = "e-mails bring their files"
NO_SUBJECT = "Your message"


class Email(Provider):
    """E-mail as a provider."""

    kind = KIND
    carrier = "smtp"
    sends_notices = False
    channel = Channel.EMAIL
    longest_part = 20_000
    longest_with_buttons = 0
    window: timedelta | None = None
    typing_seconds: float | None = None
    encloses_files = True
    receipt = b'{"ok": true}', "application/json"

    def account_of(self, connection: Connection) -> str:
        """The mailbox's address, by which it is known under every provider."""
        return mail_settings(connection).address

    def read_secret(self, document: Any) -> str:
        """The password or the signing key, as a string or as `{"password"}` or `{"signing_key"}`.

        Raises ValueError.
        """
        if isinstance(document, dict) and len(document) == 1:
            document = document.get("password") or document.get("signing_key")
        if not isinstance(document, str) or not document:
            raise ValueError(FORM)
        return document

    def webhook_of(self, connection: Connection) -> str:
        """The address to enter at the provider. Postmark's has the password in it, which is never shown."""
        provider = mail_settings(connection).provider
        if provider == "imap":
            return ""
        scheme, _, host = str(django_settings.BASE_URL).partition("://")
        sign_in = "makegood:PASSWORD@" if provider == "postmark" else ""
        return f"{scheme}://{sign_in}{host}/hooks/{KIND}/{connection.source_id}"

    def is_genuine(self, connection: Connection, request: WebhookRequest) -> bool:
        form = FORMS.get(mail_settings(connection).provider)
        return form is not None and bool(connection.secret) and form.is_genuine(request, connection.secret)

    def nonce_of(self, request: WebhookRequest) -> str:
        """Mailgun's signature doesn't cover the e-mail, so that its token may bring only one."""
        return mailgun.nonce_of(request)

    def parse(self, connection: Connection, request: WebhookRequest) -> Sequence[Item]:
        settings = mail_settings(connection)
        return [item_of(FORMS[settings.provider].read_mail(request), own_address=settings.address)]

    def parse_stored(self, body: Mapping[str, Any]) -> Item:
        return item_of_files(body)

    async def fetch(self, connection: Connection, file: RemoteFile, *, max_bytes: int) -> bytes:
        raise NotFetched(NOT_FETCHED)

    def carries(self, file: StoredAttachment, *, to: str) -> bool:
        return bool(enclosable([file]))

    def carried(self, files: Sequence[StoredAttachment], *, to: str) -> list[StoredAttachment]:
        return enclosable(files)

    def thread_of(self, receipt: Receipt) -> Mapping[str, Any]:
        """The e-mail that a part answers, whether a person wrote the answer, and its files."""
        arrived = Delivery.objects.filter(conversation_id=receipt.conversation_id, kind=KIND, result__in=MESSAGES)
        body = arrived.order_by("-received_at").values_list("body", flat=True).first() or {}
        references = [one for one in body.get("references", ()) if MESSAGE_ID.fullmatch(str(one))]
        own = body.get("message_id", "")
        return {
            "subject": clean_line(body.get("subject", "")),
            # Oldest first, as in the header.
            "references": [*reversed(references), *([own] if MESSAGE_ID.fullmatch(own) else [])],
            "reply_to": receipt.chat.account,
            "is_automatic": receipt.message.role != MessageRole.OPERATOR,
            "files": find_enclosed(receipt),
        }

    async def send(self, connection: Connection, part: OutgoingPart) -> Outcome:
        """Send one part by the mail server, which is the `connection`. Files for which the server's limit is too small
        are sent as links.
        """
        thread, files = part.thread, part.thread.get("files", ())
        subject = str(thread.get("subject") or NO_SUBJECT)
        message = EmailReply(
            to=part.chat_id.partition(" ")[0],
            subject=subject if REPLY.match(subject) else f"Re: {subject}",
            body=part.text,
            references=tuple(thread.get("references", ())),
            reply_to=str(thread.get("reply_to", "")),
            is_automatic=thread.get("is_automatic") is not False,
            files=await read_enclosed(files),
        )
        smtp = smtp_for(connection)
        outcome = await smtp.send(message, key=part.key)
        if files and is_too_large(outcome):
            outcome = await smtp.send(as_links(message, files), key=part.key)
        ref = str(outcome.result.get("message_id") or "")
        return replace(outcome, told="", result={**outcome.result, "message_ref": ref})

    async def show_typing(self, connection: Connection, chat_id: str, message: str) -> None:
        """E-mail has nothing like it."""

    async def acknowledge(self, connection: Connection, press: str) -> None:
        """Nothing waits for it."""

    def begin(self, connection: Connection, link: ChannelLink) -> None:
        """Queue the job that reads the mailbox from now on. The job of an earlier connection ends by itself."""
        key, settings = f"{LANE}:{uuid4()}", mail_settings(connection)
        is_read = settings.provider == "imap"
        folder = f"{settings.user} {settings.server} {settings.folder}"
        # Where another folder was read to says nothing about this one.
        known = link.cursor if link.cursor.get("folder") == folder else {}
        link.cursor = {**known, "folder": folder, "job": key} if is_read else {}
        link.save(update_fields=["cursor"])
        if is_read:
            enqueue([JobRequest(LANE, link.project_id, subject_id=link.pk, ordinal=0, key=key)])

    async def link(self, connection: Connection, *, webhook: str) -> LinkResult:
        """The webhook is entered at the provider. A mailbox is opened."""
        return await self.inspect(connection, webhook=webhook)

    async def unlink(self, connection: Connection) -> None:
        """Nothing to withdraw."""

    async def inspect(self, connection: Connection, *, webhook: str) -> LinkResult:
        settings = mail_settings(connection)
        if settings.provider == "imap":
            try:
                await mailbox_of(connection).check()
            except MailboxFailed as error:
                return LinkResult(problem=str(error), is_refused=error.is_refused)
        return LinkResult(name=settings.address)

    async def inspect_carrier(self, carrier: Connection) -> str:
        return (await smtp_for(carrier).check()).error


def mailbox_of(connection: Connection) -> Mailbox:
    settings = mail_settings(connection)
    return Mailbox(settings, password=connection.secret, guard=guard_for(settings))


def mail_settings(connection: Connection) -> EmailSettings:
    return cast(EmailSettings, connection.settings)
