"""Twilio's reports on texts, posted to the address that each text named, and signed."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit

from django.test import Client

from offline_model.relay.signing import signature as signature_of
from tests.tools.messaging.twilio_server import MESSAGE_SID, SID, TOKEN, Call

# An address that Twilio can reach, as far as the product knows.
PUBLIC = "https://makegood.example.com"


def report(call: Call, state: str, *, sid: str = MESSAGE_SID, token: str = TOKEN, **fields: str) -> Any:
    """Post a message's status, as Twilio does for the request that created it."""
    form = {"MessageSid": sid, "AccountSid": SID, "MessageStatus": state, **fields}
    url = call.form["StatusCallback"]
    headers = {"X-Twilio-Signature": signature_of(url, form, token=token)}
    path = urlsplit(url)._replace(scheme="", netloc="").geturl()
    return Client(headers=headers).post(path, urlencode(form), content_type="application/x-www-form-urlencoded")
