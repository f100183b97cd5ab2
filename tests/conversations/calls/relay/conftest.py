from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import pytest
from django.test import Client

from conversations.models import Call
from offline_model.relay.caller import Caller
from offline_model.relay.signing import signature
from projects.models.attribute_catalogue import SETTING
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.calls.conftest import Transcript
from tests.processes import Child, ForkServer, until
from tools.engine.transfers import TRANSFER_NUMBERS

SID, TOKEN = f"AC{'0123456789abcdef' * 2}", "the auth token of the tests"
OURS, CALLER, KITCHEN = "+390655501111", "+393331234567", "+390655501140"
CALL_SID = f"CA{'fedcba9876543210' * 2}"
GREETING = "Nello's, good evening!"


class Loop:
    """An event loop in a thread of its own, for callers."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, None]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self.start(work).result(timeout=30)

    def stop(self) -> None:
        async def cancel_all() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self.run(cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@dataclass
class Line(Transcript):
    """The business's phone line at Twilio. `caller` is the one whose call goes on."""

    loop: Loop
    base_url: str = "http://testserver"
    callers: list[Any] = field(default_factory=list)

    @property
    def api(self) -> Client:
        return Client(headers=self.tenant.headers)

    def connect(self, **settings: Any) -> Any:
        body = {"settings": {"account_sid": SID, "number": OURS, **settings}, "secret": TOKEN}
        return self.api.put("/api/v1/channels/twilio", json.dumps(body), content_type="application/json")

    def webhook(
        self, path: str = "/hooks/twilio/calls", *, token: str = TOKEN, signed: str = "", **changes: Any
    ) -> Any:
        """Twilio's signed webhook, delivered in this process."""
        form = {"AccountSid": SID, "CallSid": CALL_SID, "From": CALLER, "To": OURS, "CallStatus": "ringing", **changes}
        headers = {"X-Twilio-Signature": signed or signature(f"{self.base_url}{path}", form, token=token)}
        return Client(headers=headers).post(path, form)

    def dial(self, *, plays: bool = True, **changes: Any) -> Caller:
        """A call that goes on, at the web process."""
        given = {"from_": CALLER, "to": OURS, "plays": plays, **changes}
        caller = Caller(f"{self.base_url}/hooks/twilio/calls", SID, TOKEN, **given)
        self.callers.append((caller, self.loop.start(caller.ring())))
        return caller

    def call(self) -> Call:
        with self.tenant.tx():
            return Call.objects.select_related("conversation").get()

    def until_state(self, state: str) -> Call:
        def is_there() -> bool:
            with self.tenant.tx():
                return Call.objects.filter(state=state).exists()

        until(is_there, seconds=20, what=f"the call's state {state}")
        return self.call()


@pytest.fixture
def line(tenant: Tenant, settings: Any) -> Iterator[Line]:
    """A connected line of a business with a kitchen and a greeting, to which no call has come."""
    settings.BASE_URL = "http://testserver"
    loop = Loop()
    line = Line(tenant, loop)
    with tenant.tx():
        set_attribute(tenant.project, TRANSFER_NUMBERS, f"kitchen: {KITCHEN}")
        set_attribute(tenant.project, f"{SETTING}voice_greeting", GREETING)
    assert line.connect().status_code == 200
    yield line
    loop.stop()


@dataclass
class Served:
    """The web process that callers are connected to."""

    process: Child
    url: str


@pytest.fixture
def served(line: Line, processes: ForkServer) -> Served:
    """A web process and a worker, and a line that leads to them."""
    process, url = serve(processes)
    line.base_url = url
    processes.standing_worker()
    return Served(process, url)


def serve(processes: ForkServer) -> tuple[Child, str]:
    return processes.web(knows_address=True)
