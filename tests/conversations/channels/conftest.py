from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from conversations.models import Chat, Conversation, Delivery, Message, Receipt
from tests.conftest import Tenant
from tests.conversations.channels.graph_server import Graph, Line
from tests.conversations.channels.mailbox import Mailbox
from tests.conversations.channels.telegram_server import TOKEN, BotScript, TelegramServer
from tests.conversations.channels.twilio_number import Number
from tests.processes import until
from tests.tools.messaging.mail_server import MailServer
from tests.tools.messaging.twilio_server import TwilioServer
from tools.models import Effect

URL = "/api/v1/channels/telegram"
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"
ANNA = {"id": 77, "is_bot": False, "first_name": "Anna", "last_name": "Bianchi", "language_code": "it"}


@dataclass
class Bot:
    """A project's bot at a server of the tests', and a customer who writes to it."""

    tenant: Tenant
    server: TelegramServer
    ids: Any = field(default_factory=lambda: count(1001))

    @property
    def telegram(self) -> BotScript:
        return self.server.script

    @property
    def api(self) -> Client:
        return Client(headers=self.tenant.headers)

    def connect(self, token: str = TOKEN) -> dict[str, Any]:
        body = {"settings": {"base_url": self.server.url}, "secret": token}
        answer = self.api.put(URL, json.dumps(body), content_type="application/json")
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def state(self) -> dict[str, Any]:
        return dict(self.api.get(URL).json())

    def update(self, text: str = "Hello", *, chat: int = 77, user: Any = ANNA, **message: Any) -> dict[str, Any]:
        """An update with a message."""
        number = next(self.ids)
        whole = {
            "message_id": number,
            "from": user,
            "chat": {"id": chat, "type": "private"},
            "date": int(time.time()),
            **({"text": text} if text else {}),
            **message,
        }
        return {"update_id": number, "message": whole}

    def deliver(self, update: Any, *, secret: str | None = None, base: str = "") -> Any:
        """Post an update as Telegram does."""
        raw = update if isinstance(update, bytes) else json.dumps(update).encode()
        headers = {SECRET_HEADER: self.telegram.webhook["secret_token"] if secret is None else secret}
        return Client(headers=headers).post(self.path, raw, content_type="application/json")

    @property
    def path(self) -> str:
        return urlsplit(self.telegram.webhook["url"]).path

    def write(self, text: str = "Hello", **changes: Any) -> Any:
        return self.deliver(self.update(text, **changes))

    def stored(self) -> tuple[int, int]:
        """The numbers of conversations and of messages."""
        with self.tenant.tx():
            return Conversation.objects.count(), Message.objects.count()

    def transcript(self) -> list[tuple[str, str]]:
        with self.tenant.tx():
            return [(one.role, one.content) for one in Message.objects.order_by("conversation", "seq")]

    def rows(self, model: Any, **where: Any) -> list[Any]:
        with self.tenant.tx():
            return list(model.objects.filter(**where).order_by("pk"))

    def deliveries(self) -> list[tuple[str, str]]:
        return [(one.result, one.detail) for one in self.rows(Delivery)]

    def receipts(self) -> list[tuple[str, str]]:
        return [(one.state, one.reason) for one in self.rows(Receipt)]

    def until_sent(self, most: int = 1) -> list[dict[str, Any]]:
        """The messages that reached the customer, once there are so many."""
        until(lambda: len(self.telegram.of("sendMessage")) >= most, what=f"{most} messages; {self.receipts()}")
        return self.telegram.of("sendMessage")

    def until_receipts(self, *states: str) -> list[tuple[str, str]]:
        def are_there() -> bool:
            return [state for state, _ in self.receipts()] == list(states)

        until(are_there, what=f"receipts {states}, not {self.receipts()}")
        return self.receipts()

    def chat(self) -> Chat:
        [chat] = self.rows(Chat)
        return chat

    def effects(self) -> list[Effect]:
        return self.rows(Effect, kind="channel_message")


@pytest.fixture
def telegram_server() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


@pytest.fixture
def bot(tenant: Tenant, telegram_server: TelegramServer, settings: Any) -> Bot:
    """A connected bot, to which nobody has written."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    bot = Bot(tenant, telegram_server)
    bot.connect()
    return bot


@pytest.fixture
def line(tenant: Tenant, settings: Any) -> Iterator[Line]:
    """A connected number of WhatsApp, to which nobody has written."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with Graph() as graph:
        line = Line(tenant, graph)
        line.connect()
        yield line


@pytest.fixture
def number(tenant: Tenant, settings: Any) -> Iterator[Number]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with TwilioServer() as server:
        number = Number(tenant, server)
        number.connect()
        yield number


@pytest.fixture
def mailbox(tenant: Tenant, settings: Any) -> Iterator[Mailbox]:
    """A mailbox whose e-mails Postmark posts, to which nobody has written."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with MailServer() as server:
        mailbox = Mailbox(tenant, server)
        mailbox.connect_smtp()
        mailbox.connect()
        yield mailbox
