from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from django.test import Client

from conversations.models import Call, Event, Message
from offline_model.realtime.webhook import incoming_call, signed_headers
from projects.records.attributes import set_attribute
from tests.calls_provider import Provider
from tests.conftest import Tenant
from tests.processes import until
from tools.engine.transfers import TRANSFER_NUMBERS

SECRET = f"whsec_{base64.b64encode(b'a signing secret of the tests').decode()}"
API_KEY = "sk-key-of-the-tests"
OURS, CALLER, KITCHEN = "+390655501111", "+393331234567", "+390655501140"


@dataclass
class Transcript:
    """The messages and events that calls of a tenant left."""

    tenant: Tenant

    def transcript(self) -> list[tuple[str, str]]:
        with self.tenant.tx():
            return [(one.role, one.content) for one in Message.objects.order_by("conversation", "seq")]

    def until_said(self, *lines: tuple[str, str]) -> None:
        def is_said() -> bool:
            said = self.transcript()
            return all(line in said for line in lines)

        until(is_said, seconds=40, what=f"{lines} in {self.transcript()}")

    def events(self, idn: str) -> list[dict[str, Any]]:
        with self.tenant.tx():
            return [event.payload for event in Event.objects.filter(idn=idn).order_by("seq")]


@dataclass
class Line(Transcript):
    """The business's phone line: the provider, the connected channel, and one call at a time."""

    provider: Provider
    call_id: str = "rtc_1"
    numbers: Any = field(default_factory=lambda: count(1))

    @property
    def api(self) -> Client:
        return Client(headers=self.tenant.headers)

    def connect(self, **settings: Any) -> None:
        body = {
            "settings": {"number": OURS, "base_url": f"{self.provider.url}/v1", **settings},
            "secret": {"api_key": API_KEY, "webhook_secret": SECRET},
        }
        answer = self.api.put("/api/v1/channels/openai_sip", json.dumps(body), content_type="application/json")
        assert answer.status_code == 200, answer.content

    def script(self, *steps: dict[str, Any]) -> None:
        """A call that waits at the provider, with the model's next answers."""
        self.provider.door("ring", {"call_id": self.call_id, "script": list(steps)})

    def ring(self, *steps: dict[str, Any], caller: str = CALLER, **changes: Any) -> Any:
        """The provider's webhook of a call."""
        self.script(*steps)
        return self.deliver(*self.webhook(caller=caller, **changes))

    def webhook(
        self,
        *,
        caller: str = CALLER,
        to: str = OURS,
        secret: str = SECRET,
        at: float | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[bytes, dict[str, str]]:
        event = f"evt_{next(self.numbers)}"
        sip = {"From": f"<sip:{caller}@trunk.example.com>", "To": f"<sip:{to}@sip.example.com>", **(headers or {})}
        body = incoming_call(self.call_id, event_id=event, headers=sip)
        return body, signed_headers(body, secret=secret, event_id=event, at=at)

    def deliver(self, body: bytes, headers: dict[str, str]) -> Any:
        return Client(headers=headers).post("/hooks/openai/calls", body, content_type="application/json")

    def say(self, text: str, *steps: dict[str, Any]) -> None:
        self.provider.door(f"calls/{self.call_id}/say", {"text": text, "script": list(steps)})

    def at_provider(self) -> dict[str, Any]:
        return self.provider.door(f"calls/{self.call_id}")

    def verbs(self) -> list[str]:
        return [verb["verb"] for verb in self.at_provider()["verbs"]]

    def call(self) -> Call:
        with self.tenant.tx():
            return Call.objects.select_related("conversation").get(external_id=self.call_id)

    def until_state(self, state: str) -> Call:
        until(lambda: self.call().state == state, seconds=40, what=f"the call's state {state}, not {self.call().state}")
        return self.call()

    def is_told(self, text: str) -> bool:
        """True if the session was told this."""
        return any(text in told for told in self.at_provider()["told"])

    def until_connected(self) -> None:
        until(lambda: self.at_provider()["connections"] > 0, seconds=40, what="the control connection")


_calls = count(1)


@pytest.fixture
def line(tenant: Tenant, calls_provider: Provider, settings: Any) -> Line:
    """A connected phone line of a business with a kitchen, to which no call has come."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    line = Line(tenant, calls_provider, call_id=f"rtc_{next(_calls)}")
    with tenant.tx():
        set_attribute(tenant.project, TRANSFER_NUMBERS, f"kitchen: {KITCHEN}")
    line.connect()
    return line
