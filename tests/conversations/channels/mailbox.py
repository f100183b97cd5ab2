"""A project's mailbox: e-mails as Postmark and Mailgun post them, and a mail server for the answers."""

from __future__ import annotations

import hmac
import json
import time
from base64 import b64encode
from dataclasses import dataclass, field
from email.message import EmailMessage
from hashlib import sha256
from itertools import count
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from conversations.models import Conversation, Delivery, Message, Receipt
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from tests.conftest import Tenant
from tests.processes import until
from tests.tools.messaging.mail_server import MailServer, Received

URL = "/api/v1/channels/email"
ADDRESS, ANNA = "hello@nello.example", "anna@example.org"
PASSWORD = "canary-of-the-webhook"
SIGNED = [("X-Spam-Tests", "DKIM_SIGNED,DKIM_VALID,DKIM_VALID_AU,SPF_PASS")]


@dataclass
class Mailbox:
    """A project's mailbox. What `server` received is what went out."""

    tenant: Tenant
    server: MailServer
    address: str = ADDRESS
    source: str = ""
    ids: Any = field(default_factory=lambda: count(1))

    @property
    def api(self) -> Client:
        return Client(headers=self.tenant.headers)

    def connect(self, provider: str = "postmark", *, secret: str = PASSWORD, **settings: Any) -> dict[str, Any]:
        body = {"settings": {"provider": provider, "address": self.address, **settings}, "secret": secret}
        answer = self.api.put(URL, json.dumps(body), content_type="application/json")
        assert answer.status_code == 200, answer.content
        self.source = answer.json()["webhook"].rpartition("/")[2]
        return dict(answer.json())

    def state(self) -> dict[str, Any]:
        return dict(self.api.get(URL).json())

    def connect_smtp(self, *, port: int = 0) -> None:
        port = port or self.server.port
        smtp = {"host": "127.0.0.1", "port": port, "security": "none", "from_address": self.address}
        with self.tenant.tx():
            connect_source(self.tenant.project, KINDS["smtp"], SourceEdit(smtp), by=None)

    @property
    def webhook_host(self) -> str:
        return str(self.state()["webhook"]).partition("@")[2]

    @property
    def path(self) -> str:
        return f"/hooks/email/{self.source}"

    def mail(
        self,
        text: str = "Do you have a table?",
        *,
        sender: str = ANNA,
        subject: str = "A table",
        headers: Any = (),
        is_proven: bool = True,
        id: str = "",
        **changes: Any,
    ) -> dict[str, Any]:
        """An e-mail as Postmark posts it."""
        id = id or f"<mail-{next(self.ids)}@example.org>"
        listed = [("Message-ID", id), *(SIGNED if is_proven else []), *headers]
        return {
            "FromName": "Anna Bianchi",
            "From": sender,
            "FromFull": {"Email": sender, "Name": "Anna Bianchi", "MailboxHash": ""},
            "To": self.address,
            "ToFull": [{"Email": self.address, "Name": "", "MailboxHash": ""}],
            "Subject": subject,
            "MessageID": "22c74902-a0c1-4511-804f-341342852c90",
            "Date": "Thu, 5 Nov 2026 16:59:01 +0200",
            "TextBody": text,
            "HtmlBody": "",
            "Headers": [{"Name": name, "Value": value} for name, value in listed],
            "Attachments": [],
            **changes,
        }

    def post(self, mail: Any, *, password: str | None = PASSWORD) -> Any:
        """Post an e-mail as Postmark does."""
        raw = mail if isinstance(mail, bytes) else json.dumps(mail).encode()
        sign_in = b64encode(f"makegood:{password}".encode()).decode()
        client = Client(headers={"Authorization": f"Basic {sign_in}"} if password is not None else {})
        return client.post(self.path, raw, content_type="application/json")

    def write(self, text: str = "Do you have a table?", **changes: Any) -> Any:
        answer = self.post(self.mail(text, **changes))
        assert answer.status_code == 200, answer.content
        return answer

    def form(self, text: str = "Do you have a table?", *, id: str = "", headers: Any = (), **changes: Any) -> Any:
        """An e-mail as Mailgun posts it, signed."""
        id = id or f"<mail-{next(self.ids)}@example.org>"
        listed = [["From", f"Anna Bianchi <{ANNA}>"], ["Message-Id", id], *headers]
        return {
            "recipient": self.address,
            "sender": ANNA,
            "from": f"Anna Bianchi <{ANNA}>",
            "subject": "A table",
            "body-plain": text,
            "message-headers": json.dumps(listed),
            **sign(),
            **changes,
        }

    def post_form(self, fields: dict[str, Any], *, files: Any = ()) -> Any:
        """Post a form as Mailgun does: with files, as multipart."""
        with_files = {f"attachment-{number}": file for number, file in enumerate(files, 1)}
        return Client().post(self.path, {**fields, **with_files})

    def rows(self, model: Any, **where: Any) -> list[Any]:
        with self.tenant.tx():
            return list(model.objects.filter(**where).order_by("pk"))

    def stored(self) -> tuple[int, int]:
        """The numbers of conversations and of messages."""
        return len(self.rows(Conversation)), len(self.rows(Message))

    def words(self) -> list[str]:
        """The customers' messages, as the agent reads them."""
        return [one.content for one in self.rows(Message, role="user")]

    def deliveries(self) -> list[tuple[str, str]]:
        return [(one.result, one.detail) for one in self.rows(Delivery, kind="email")]

    def receipts(self) -> list[tuple[str, str]]:
        return [(one.state, one.reason) for one in self.rows(Receipt)]

    def until_sent(self, most: int = 1) -> list[EmailMessage]:
        """The e-mails that went out, once there are so many and each has its receipt."""

        def are_there() -> bool:
            return [state for state, _ in self.receipts()].count("sent") >= most

        until(are_there, what=f"{most} e-mails; {self.receipts()}")
        return [one.message for one in self.received]

    @property
    def received(self) -> list[Received]:
        return self.server.post.messages


def sign(*, key: str = PASSWORD, age: float = 0, token: str = "") -> dict[str, str]:
    """The fields of Mailgun's signature."""
    timestamp, token = str(int(time.time() - age)), token or sha256(str(time.time_ns()).encode()).hexdigest()[:50]
    signature = hmac.new(key.encode(), f"{timestamp}{token}".encode(), sha256).hexdigest()
    return {"timestamp": timestamp, "token": token, "signature": signature}


def attachment(name: str, contents: bytes = b"0") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, contents, content_type="application/pdf")
