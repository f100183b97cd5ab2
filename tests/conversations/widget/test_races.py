"""Concurrent first messages through the widget and the portal make one conversation."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from conversations.models import Conversation, ConversationStatus, Message, Persona
from conversations.turns.services import start_conversation
from tests.conftest import Tenant
from tests.conversations.widget.conftest import Placed, Visitor
from tools.services.signed_links import PortalTarget, portal_token

MANY = 50
# As many as one web process serves at once; each has its own connection.
SIDE_BY_SIDE = 12


@pytest.fixture(autouse=True)
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the rate limits, which no visitor would reach."""
    for module in ("conversations.widget.limits", "conversations.portal.pages"):
        monkeypatch.setattr(f"{module}.seconds_to_wait", lambda bucket, *, per_minute: 0)


def at_once(post: Callable[[int], Any]) -> list[int]:
    """The status codes of concurrent posts."""
    together = Barrier(SIDE_BY_SIDE)

    def one(number: int) -> int:
        if number < SIDE_BY_SIDE:
            together.wait(30)
        try:
            return int(post(number).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return list(pool.map(one, range(MANY)))


def numbers(tenant: Tenant) -> list[int]:
    """The message numbers of the single open conversation."""
    with tenant.tx():
        conversation = Conversation.objects.get(status=ConversationStatus.OPEN)
        return list(Message.objects.filter(conversation=conversation, role="user").values_list("seq", flat=True))


def test_fifty_first_messages_of_a_visitor_make_one_conversation(placed: Placed, visitor: Visitor) -> None:
    """Each is stored once, numbered without gaps."""
    said = at_once(lambda number: Visitor(placed, token=visitor.token).say(f"Message {number}"))
    assert said == [202] * MANY
    assert numbers(placed.tenant) == list(range(1, MANY + 1))
    with placed.tenant.tx():
        assert Persona.objects.count() == 1


def test_fifty_messages_after_a_closed_conversation_make_one_new_one(placed: Placed, visitor: Visitor) -> None:
    """All of them begin the same new conversation."""
    visitor.say("Hello")
    with placed.tenant.tx():
        Conversation.objects.update(status=ConversationStatus.TRANSFERRED)
    assert at_once(lambda number: Visitor(placed, token=visitor.token).say(f"Message {number}")) == [202] * MANY
    assert numbers(placed.tenant) == list(range(1, MANY + 1))


def test_fifty_first_messages_in_the_portal_make_one_conversation(tenant: Tenant) -> None:
    with tenant.tx():
        call = start_conversation(tenant.project, channel="phone", external_id="ada", known={}, metadata={})
        Conversation.objects.update(status=ConversationStatus.ENDED)
    token = portal_token(PortalTarget(tenant.organization.pk, call.persona_id), until=40_000)
    script = {"Accept": "application/json"}
    said = at_once(lambda number: Client().post(f"/c/{token}", {"content": f"Message {number}"}, headers=script))
    assert said == [202] * MANY
    assert numbers(tenant) == list(range(1, MANY + 1))
