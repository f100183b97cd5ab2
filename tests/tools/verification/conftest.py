"""A customer on file, and a project that requires verification."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.twilio_server import TwilioServer
from tools.models import Verification, VerificationCode

__all__ = ["turns"]

PHONE, EMAIL = "+393331234567", "anna@example.org"
VERIFIED = "you are verified"


@pytest.fixture
def anna(turns: Turns) -> Callable[..., Turns]:
    """A conversation with a customer whose number and address are on file, at a verification level."""

    def talk(level: str, channel: str = "chat", *, calling: str = "", **on_file: str) -> Turns:
        turns.configure(caller_verification=level)
        known = on_file or {"phone": PHONE, "email": EMAIL}
        talking = turns.on(channel, external_id="anna", **known)
        if calling:
            with turns.tenant.tx():
                talking.conversation.metadata = {"call": {"call_sid": "CA1", "caller_phone": calling}}
                talking.conversation.save(update_fields=["metadata"])
        return talking

    return talk


@pytest.fixture
def texts(turns: Turns) -> Iterator[TwilioServer]:
    """Connect Twilio, which behaves as documented."""
    with TwilioServer() as server:
        connect_twilio(turns.tenant, server.url)
        yield server


def call(turns: Turns, name: str, arguments: Any = None) -> str:
    """Have the model call a tool in a separate turn, and return what it reads."""
    turns.calls_tool(name, arguments)
    turns.says("All right.")
    return turns.result(turns.say("Please go on."))


def sent_codes(server: TwilioServer) -> list[str]:
    """Return the sent codes, in order."""
    return [found[0] for one in server.script.calls if (found := re.findall(r"\b\d{6}\b", one.form["Body"]))]


def another(code: str) -> str:
    """Return a wrong code."""
    return f"{(int(code) + 1) % 1_000_000:06d}"


def proofs(turns: Turns) -> list[str]:
    with turns.tenant.tx():
        return list(Verification.objects.values_list("method", flat=True))


def codes(turns: Turns) -> list[VerificationCode]:
    """Return the code rows, oldest first."""
    with turns.tenant.tx():
        return list(VerificationCode.objects.order_by("created_at"))
