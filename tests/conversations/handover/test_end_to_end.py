"""End to end: the agent offers a person, the customer asks, an operator claims, answers, and hands back."""

from __future__ import annotations

import pytest

from console.sidebar_badges import sidebar_badges
from conversations.handover import operators
from conversations.handover.requests import request_person
from conversations.models import MessageRole
from conversations.turns.services import post_message
from projects.models import User
from tests.conversations.handover.conftest import offer
from tests.conversations.tool_runs.turns import Turns
from tools.models import Escalation, EscalationState

SECRET = "The 12th of June is free."


@pytest.mark.requirement("W03")
def test_a_customer_reaches_a_person_and_comes_back(turns: Turns, lucia: User) -> None:
    tenant, conversation = turns.tenant, turns.conversation
    asked = offer(turns)["escalation"]
    with tenant.tx():
        request_person(conversation, asked, {"name": "Jonas", "phone": "+39 347 123 4567", "note": "After six"})
        assert sidebar_badges(tenant.project)["inbox"].waiting == 1
    with tenant.tx():
        operators.claim_request(conversation.pk, by=lucia)
        # She has it, and has said nothing yet.
        assert sidebar_badges(tenant.project)["inbox"].waiting == 1
    with tenant.tx():
        assert post_message(conversation.pk, "Is the 12th of June free?").turn is None
    with tenant.tx():
        operators.answer(conversation.pk, SECRET, by=lucia)
    with tenant.tx():
        assert sidebar_badges(tenant.project)["inbox"].waiting == 0
    with tenant.tx():
        assert operators.hand_back(conversation.pk, by=lucia) is None
        escalation = Escalation.objects.get()
    assert (escalation.state, escalation.claimed_by_id) == (EscalationState.RESOLVED, lucia.pk)
    assert escalation.lead == {"name": "Jonas", "phone": "+393471234567", "note": "After six"}
    turns.says("You're welcome.")
    turn = turns.say("Thank you!")
    assert turn.reply is not None
    assert turn.reply.content == "You're welcome."
    prompt = turns.asked()[-1]["messages"]
    assert f"- {SECRET}" in prompt[-1]["content"]
    assert "don't greet again" in prompt[-1]["content"]
    assert [message.role for message in turns.messages()] == [
        MessageRole.USER,
        MessageRole.AGENT,
        MessageRole.SYSTEM,
        MessageRole.SYSTEM,
        MessageRole.USER,
        MessageRole.OPERATOR,
        MessageRole.SYSTEM,
        MessageRole.USER,
        MessageRole.AGENT,
    ]
