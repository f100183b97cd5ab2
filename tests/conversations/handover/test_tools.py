"""escalate_to_human, open_ticket and flag_caller, called inside a turn."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import ConversationStatus, Persona
from jobs.models import Job
from projects.common.verticals import VERTICALS
from tests.conversations.handover.conftest import offer
from tests.conversations.tool_runs.turns import Turns
from tools.engine.business_state import BusinessState
from tools.engine.catalogue import why_not
from tools.engine.registry import builtin_tools
from tools.models import EffectState, Escalation, EscalationState, Ticket
from tools.services.support import notices


@pytest.mark.requirement("W03")
@pytest.mark.parametrize("vertical", sorted(VERTICALS))
def test_every_vertical_offers_a_handover(vertical: str) -> None:
    state = BusinessState(channel="chat", vertical=vertical, capabilities=VERTICALS[vertical].capabilities)
    assert why_not(builtin_tools()["escalate_to_human"], state) == ""


@pytest.mark.requirement("W03")
def test_a_button_offers_a_person(turns: Turns) -> None:
    """The block's contract, and its row."""
    block = offer(turns, "The wedding")
    with turns.tenant.tx():
        row = Escalation.objects.get(conversation_id=turns.conversation.pk)
    assert block == {
        "type": "escalation_button",
        "escalation": str(row.pk),
        "label": "Connect me with a human",
        "reason": "The wedding",
    }
    assert (row.state, row.lead) == (EscalationState.OFFERED, {})


@pytest.mark.requirement("W03", "W11")
@pytest.mark.parametrize("channel", ["portal", "api"])
def test_a_button_is_offered_wherever_blocks_are_shown(turns: Turns, channel: str) -> None:
    """The customer decides whether to ask."""
    talk = turns.on(channel)
    assert offer(talk)["type"] == "escalation_button"
    with talk.tenant.tx():
        assert Escalation.objects.get().state == EscalationState.OFFERED


@pytest.mark.requirement("W03")
def test_a_second_call_returns_the_open_offer(turns: Turns) -> None:
    assert offer(turns, "The wedding") == offer(turns, "Still the wedding")


@pytest.mark.requirement("W03")
@pytest.mark.parametrize("channel", ["phone", "sms"])
def test_without_blocks_the_request_is_made_at_once(turns: Turns, channel: str, settings: Any) -> None:
    """Staff is notified."""
    settings.EMAIL_HOST = "mail.example"
    talk = turns.on(channel, phone="+393471234567")
    talk.calls_tool("escalate_to_human", {"reason": "The wedding"})
    talk.says("I've asked a colleague.")
    turn = talk.say("A person, please.")
    with talk.tenant.tx():
        row = Escalation.objects.get(conversation_id=talk.conversation.pk)
        assert Job.objects.filter(lane=notices.LANE).count() == 1
    assert row.state == EscalationState.WAITING
    assert turn.reply is not None
    assert turn.reply.blocks == []
    assert "has been asked" in talk.result(turn)


@pytest.mark.requirement("W06")
def test_a_ticket_is_opened_and_the_agent_reads_its_number(help_center: Turns) -> None:
    """Linked to the conversation, the customer and the effect."""
    help_center.calls_tool("open_ticket", {"subject": "Charged twice", "body": "Order 7, 12 May, 40 €"})
    help_center.says("Ticket 1 is open.")
    turn = help_center.say("You charged me twice!")
    with help_center.tenant.tx():
        ticket = Ticket.objects.get()
    [effect] = help_center.effects(turn)
    assert (ticket.number, ticket.priority, ticket.state) == (1, "normal", "open")
    assert (ticket.conversation_id, ticket.effect_id) == (help_center.conversation.pk, effect.pk)
    assert ticket.persona_id == help_center.conversation.persona_id
    assert effect.state == EffectState.DONE
    assert "#1" in help_center.result(turn)


@pytest.mark.requirement("W06")
@pytest.mark.parametrize(("length", "tickets"), [(120, 1), (121, 0)])
def test_a_ticket_subject_has_at_most_120_characters(help_center: Turns, length: int, tickets: int) -> None:
    """A longer one is an error the model reads, and costs a step."""
    help_center.calls_tool("open_ticket", {"subject": "x" * length, "body": "y"})
    help_center.says("Well.")
    turn = help_center.say("A complaint!")
    with help_center.tenant.tx():
        assert Ticket.objects.count() == tickets
    [call] = help_center.calls(turn)
    assert call.is_error == (tickets == 0)
    assert ("120" in call.result) == (tickets == 0)


@pytest.mark.requirement("W06")
def test_the_same_ticket_twice_is_opened_once(help_center: Turns) -> None:
    """The second is held as a repeat."""
    for _ in range(2):
        help_center.calls_tool("open_ticket", {"subject": "Charged twice", "body": "40 €"})
        help_center.says("It is open.")
        help_center.say("Is it open?")
    with help_center.tenant.tx():
        assert Ticket.objects.count() == 1


@pytest.mark.requirement("F19")
def test_flagging_a_caller_informs_staff_and_ends_the_call(turns: Turns) -> None:
    """Both fields, and the end of the call."""
    call = turns.on("phone", phone="+393471234567")
    call.calls_tool("flag_caller", {"reason": "Threatened the waiter."})
    call.says("Goodbye.")
    call.say("I'll come over!")
    with call.tenant.tx():
        persona = Persona.objects.get(pk=call.conversation.persona_id)
        call.conversation.refresh_from_db()
    assert (persona.flagged, persona.flag_reason) == (True, "Threatened the waiter.")
    assert call.conversation.status == ConversationStatus.ENDED


@pytest.mark.requirement("F19")
def test_callers_are_only_flagged_on_the_phone() -> None:
    assert "phone only" in why_not(builtin_tools()["flag_caller"], BusinessState(channel="chat"))
    assert why_not(builtin_tools()["flag_caller"], BusinessState(channel="phone")) == ""
