"""Answers to tickets: in the conversation, or by e-mail through the ledger."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.test import Client

from conversations.handover import operators
from conversations.handover.ticket_answers import answer_ticket
from conversations.models import Channel, Message, MessageRole
from jobs.errors import WrongState
from projects.models import User
from tests.conftest import Tenant
from tests.console.pages.conftest import browser, talk
from tests.conversations.handover.test_pages import url
from tests.conversations.tool_runs.turns import Turns
from tools.models import Effect, EffectState, Ticket, TicketAnswer
from tools.services.support.tickets import open_ticket

JSON = {"content_type": "application/json"}
MARTA = {"name": "Marta Riva", "email": "marta@riva.example"}


def ticket_of(tenant: Tenant, *, channel: Channel = Channel.CHAT, **known: str) -> Ticket:
    row = talk(tenant, "I was charged twice.", channel=channel, **known)
    with tenant.tx():
        return open_ticket(
            tenant.project.pk, subject="Charged twice", body="40 €", conversation_id=row.pk, persona_id=row.persona_id
        )


def test_an_answer_in_the_conversation_is_a_message_of_the_operator(tenant: Tenant, api: Client) -> None:
    ticket = ticket_of(tenant)
    address = f"/api/v1/tickets/{ticket.pk}"
    made = api.post(f"{address}/answers", {"content": "It is back.", "channel": "conversation"}, **JSON)
    assert made.status_code == 201
    with tenant.tx():
        message = Message.objects.get(role=MessageRole.OPERATOR)
    assert (str(message.pk), message.content) == (made.json()["message"], "It is back.")
    shown = api.get(address).json()
    assert (shown["state"], [one["content"] for one in shown["answers"]]) == ("pending", ["It is back."])


def test_an_answer_by_mail_runs_through_the_ledger(turns: Turns, lucia: User) -> None:
    """And is shown with its outcome, on the ticket and in the conversation's log."""
    ticket = ticket_of(turns.tenant, **MARTA)
    page, one = browser(lucia), url(turns, "ticket", ticket.pk)
    form = {"do": "answer", "content": "It is back.", "channel": "email", "key": str(uuid4())}
    page.post(one, form)
    assert [answer.is_pending for answer in page.get(one).context["answers"]] == [True]
    turns.run("effect")
    with turns.tenant.tx():
        effect = Effect.objects.get(kind="email")
    assert (effect.state, effect.recipient) == (EffectState.DONE, MARTA["email"])
    assert effect.arguments == {"subject": "Re: Charged twice (#1)", "body": "It is back."}
    [answer] = page.get(one).context["answers"]
    # No mail server is connected.
    assert (answer.state.word, answer.is_pending) == ("Not sent", False)
    activity = page.get(url(turns, "conversation", ticket.conversation_id)).context["activity"]
    assert activity[0].words == "Lucia Marchetti replied to ticket #1 by e-mail"


def test_the_next_answer_takes_the_same_way(turns: Turns, lucia: User) -> None:
    ticket = ticket_of(turns.tenant, **MARTA)
    page, one = browser(lucia), url(turns, "ticket", ticket.pk)
    before = page.get(one).context["way"]
    page.post(one, {"do": "answer", "content": "It is back.", "channel": "email", "key": str(uuid4())})
    assert (before, page.get(one).context["way"]) == ("conversation", "email")


def test_a_second_answer_by_mail_is_held_back_only_in_the_same_words(turns: Turns, lucia: User) -> None:
    ticket = ticket_of(turns.tenant, **MARTA)
    for words in ("It is back.", "One more thing: the voucher.", "It is back!"):
        form = {"do": "answer", "content": words, "channel": "email", "key": str(uuid4())}
        browser(lucia).post(url(turns, "ticket", ticket.pk), form)
        turns.run("effect")
    with turns.tenant.tx():
        states = list(Effect.objects.filter(kind="email").order_by("created_at").values_list("state", flat=True))
    assert states == [EffectState.DONE, EffectState.DONE, EffectState.HELD]


def test_the_same_form_sent_twice_is_one_answer(turns: Turns, lucia: User) -> None:
    ticket = ticket_of(turns.tenant)
    form = {"do": "answer", "content": "It is back.", "channel": "conversation", "key": str(uuid4())}
    for _ in range(2):
        browser(lucia).post(url(turns, "ticket", ticket.pk), form)
    with turns.tenant.tx():
        assert TicketAnswer.objects.count() == 1
        assert Message.objects.filter(role=MessageRole.OPERATOR).count() == 1


def test_a_call_is_answered_by_mail_only(tenant: Tenant, operator: User) -> None:
    ticket = ticket_of(tenant, channel=Channel.PHONE, **MARTA)
    with tenant.tx(), pytest.raises(WrongState):
        answer_ticket(ticket.pk, "It is back.", channel="conversation", by=operator, key=uuid4())
    with tenant.tx():
        assert answer_ticket(ticket.pk, "It is back.", channel="email", by=operator, key=uuid4()).effect_id


def test_an_answer_without_an_address_is_refused(tenant: Tenant, api: Client) -> None:
    refused = api.post(f"/api/v1/tickets/{ticket_of(tenant).pk}/answers", {"content": "Hi", "channel": "email"}, **JSON)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "no_address")
    with tenant.tx():
        assert not TicketAnswer.objects.exists()


def test_another_operators_conversation_is_not_interrupted(tenant: Tenant, operator: User) -> None:
    ticket = ticket_of(tenant)
    with tenant.tx():
        operators.take_over(ticket.conversation_id, by=operator)
        with pytest.raises(WrongState, match=operator.name):
            answer_ticket(ticket.pk, "Hi", channel="conversation", by=tenant.owner, key=uuid4())


def test_a_viewer_may_not_answer(turns: Turns, viewer: User) -> None:
    ticket = ticket_of(turns.tenant)
    form = {"do": "answer", "content": "Hi", "channel": "conversation", "key": str(uuid4())}
    assert browser(viewer).post(url(turns, "ticket", ticket.pk), form).status_code == 403
