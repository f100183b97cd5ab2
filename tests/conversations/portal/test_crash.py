"""A worker dies while it texts the portal link. The link is stored nowhere, so the retry makes it again."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.turns.services import post_message
from tests.conversations.portal.test_portal import LINK
from tests.conversations.tool_runs.turns import Turns
from tests.crashes.invariants import check, settle
from tests.processes import ForkServer
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.twilio_server import TwilioServer
from tools.models import Effect
from tools.services.signed_links import read_portal_token

pytestmark = pytest.mark.short_leases


@pytest.mark.parametrize(
    ("label", "state", "texts"), [("hop.llm_done_pre_commit", "done", 1), ("hop.response_pre_commit", "unknown", 1)]
)
def test_a_crash_sends_the_portal_link_once(
    label: str, state: str, texts: int, turns: Turns, processes: ForkServer, settings: Any
) -> None:
    """Before anything was stored, and after it was sent but not recorded."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    phone = turns.on("phone", external_id="ada", phone="+393475550142")
    turns.model.script("reply", times=0, match="It isn't known whether", text="I don't know whether it has come.")
    turns.model.script("reply", times=0, match="sent you the link", text="There it is.")
    turns.model.script("reply", times=0, tool_calls=[{"name": "send_portal_link", "arguments": {}}])
    with TwilioServer() as twilio:
        connect_twilio(turns.tenant, twilio.url)
        with turns.tenant.tx():
            post_message(phone.conversation.pk, "Send me the link, please")
        processes.worker(crash_at=f"{label}:1").wait()
        processes.worker()
        settle(turns.tenant)
        check(turns.tenant)
    found = [LINK.search(call.form["Body"]) for call in twilio.script.calls]
    places = [read_portal_token(one[1]) for one in found if one]
    assert [place.persona_id for place in places if place] == [phone.conversation.persona_id] * texts
    with turns.tenant.tx():
        effect = Effect.objects.get(tool="send_portal_link")
    assert effect.state == state
    assert not LINK.search(str(vars(effect)))
