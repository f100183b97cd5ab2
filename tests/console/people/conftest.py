"""Signed-in clients, and an SMTP server that records messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from projects.models import Role, User
from tests.conftest import PASSWORD, Tenant, member_of
from tests.processes import free_port

NEW_PASSWORD = "seven green bottles"


@pytest.fixture(autouse=True)
def _no_limits_left_over() -> None:
    """Reset the rate limits before each test."""
    cache.clear()


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    return browser(tenant.owner)


@pytest.fixture
def admin(tenant: Tenant) -> User:
    return member_of(tenant, Role.ADMIN)


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def sign_in(email: str, password: str = PASSWORD) -> Client:
    client = Client()
    client.post(reverse("account_login"), {"login": email, "password": password})
    return client


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def page_of(tenant: Tenant, name: str, *args: object) -> str:
    return reverse(name, args=[tenant.project.slug, *args])


def invite(client: Client, tenant: Tenant, email: str, role: str = Role.OPERATOR) -> str:
    """Invite, and return the resulting page."""
    answer = client.post(page_of(tenant, "members"), {"email": email, "role": role}, follow=True)
    return answer.content.decode()


def link_in(text: str) -> str:
    """The path of the first invitation's link in a page or an e-mail."""
    found = re.search(r"/invitations/mgi_[\w-]+", text)
    assert found, text
    return found[0]


class Mailbox:
    """Accepts every message, or none while `is_refusing`."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.is_refusing = False

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.is_refusing:
            return "554 No, thank you"
        assert isinstance(envelope.content, bytes)
        self.messages.append(message_from_bytes(envelope.content))
        return "250 OK"

    def last_text(self) -> str:
        """The text of the last message."""
        content = self.messages[-1].get_payload(decode=True)
        assert isinstance(content, bytes)
        return content.decode()


@pytest.fixture
def mailbox(settings) -> Iterator[Mailbox]:
    """A configured SMTP server on a local socket."""
    box, port = Mailbox(), free_port()
    server = Controller(box, hostname="127.0.0.1", port=port)
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    yield box
    server.stop()
