"""A number at a Twilio of the tests'."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings as django_settings
from django.test import Client

from conversations.models import Receipt
from offline_model.relay.signing import signature as signature_of
from projects.connections.twilio import STATUS
from tests.conftest import Tenant
from tests.processes import until
from tests.tools.messaging.twilio_server import FROM, MESSAGE_SID, SID, TOKEN, TwilioServer

ANNA = "+393331234567"


@dataclass
class Number:
    """The business's number at a Twilio of the tests'."""

    tenant: Tenant
    server: TwilioServer

    @property
    def api(self) -> Client:
        return Client(headers=self.tenant.headers)

    def connect(self) -> dict[str, Any]:
        settings = {"account_sid": SID, "sender": FROM, "base_url": self.server.url}
        body = json.dumps({"settings": settings, "secret": TOKEN})
        answer = self.api.put("/api/v1/channels/twilio", body, content_type="application/json")
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def post(self, path: str, fields: dict[str, str], *, token: str = TOKEN) -> Any:
        signature = signature_of(f"{django_settings.BASE_URL}{path}", fields, token=token)
        body, form = urlencode(fields), "application/x-www-form-urlencoded"
        return Client(headers={"X-Twilio-Signature": signature}).post(path, body, content_type=form)

    def text(self, body: str = "Hello", sid: str = "SM1", **changes: str) -> dict[str, str]:
        return {
            "MessageSid": sid,
            "AccountSid": SID,
            "From": ANNA,
            "To": FROM,
            "Body": body,
            "NumMedia": "0",
            **changes,
        }

    def status(self, state: str, **changes: str) -> Any:
        return self.post(STATUS, {"MessageSid": MESSAGE_SID, "AccountSid": SID, "MessageStatus": state, **changes})

    def rows(self, model: Any, **where: Any) -> list[Any]:
        with self.tenant.tx():
            return list(model.objects.filter(**where).order_by("pk"))

    def until_state(self, state: str) -> Receipt:
        until(lambda: [one.state for one in self.rows(Receipt)] == [state], what=state)
        return self.rows(Receipt)[0]
