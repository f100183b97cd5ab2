"""Requests for a person, with the customer's contact details."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.db.models import F
from django.db.models.functions import Now

from conversations.common.contacts import read_contact
from conversations.handover import operators
from conversations.handover.requests import request_person
from conversations.models import PersonaField
from jobs.errors import WrongState
from jobs.models import Job
from notices.digest import PAUSE
from projects.accounts.members import remove_member
from projects.common.api_error import ApiError
from projects.common.mail import MailResult
from projects.models import Member, Role, User
from projects.records.audit import Actor
from tests.console.people.conftest import Mailbox, mailbox
from tests.conversations.handover.conftest import offer
from tests.conversations.tool_runs.turns import Turns
from tests.processes import ForkServer
from tests.todos.sources.test_crashes import go_on, kill
from tools.models import Escalation, EscalationState, OperatorNotice
from tools.services.support import notices
from tools.services.support.escalations import resolve_request

__all__ = ["mailbox"]


def ask(turns: Turns, escalation: str, **lead: Any) -> Escalation:
    with turns.tenant.tx():
        return request_person(turns.conversation, escalation, lead)


@pytest.mark.parametrize(
    ("lead", "field"),
    [
        ({}, "lead"),
        ({"name": "Jonas"}, "lead"),
        ({"email": "jonas"}, "lead.email"),
        ({"phone": "12"}, "lead.phone"),
        ({"phone": 7}, "lead.phone"),
        ({"email": "a@b.example", "note": "x" * 1001}, "lead.note"),
        ({"mail": "a@b.example"}, "lead.mail"),
    ],
)
def test_an_invalid_lead_is_refused_by_field(turns: Turns, lead: dict[str, Any], field: str) -> None:
    asked = offer(turns)["escalation"]
    with pytest.raises(ApiError) as refused:
        ask(turns, asked, **lead)
    assert (refused.value.code, refused.value.field) == ("invalid", field)
    with turns.tenant.tx():
        assert Escalation.objects.get().state == EscalationState.OFFERED


def test_a_known_customer_needs_no_contact_details(turns: Turns) -> None:
    known = turns.on("chat", external_id="known", email="known@guests.example")
    assert ask(known, offer(known)["escalation"]).state == EscalationState.WAITING


def test_pressing_twice_makes_one_request_and_completes_the_lead(turns: Turns) -> None:
    asked = offer(turns)["escalation"]
    ask(turns, asked, email="jonas@weber.example")
    again = ask(turns, asked, note="After six")
    assert (again.state, again.lead) == (
        EscalationState.WAITING,
        {"email": "jonas@weber.example", "note": "After six"},
    )
    lines = [message.content for message in turns.messages() if message.role == "system"]
    assert lines == ["A colleague was asked to join."]


@pytest.mark.requirement("W03")
def test_the_lead_is_stored_but_replaces_no_known_field(turns: Turns) -> None:
    """Nor does it verify the customer."""
    known = turns.on("chat", external_id="known", email="known@guests.example")
    left = {"name": "Jonas", "email": "other@guests.example", "phone": "+393471234567"}
    ask(known, offer(known)["escalation"], **left)
    with known.tenant.tx():
        fields = dict(PersonaField.objects.values_list("key", "value"))
        contact = read_contact(known.conversation.persona_id)
    assert fields == {**left, "email": "known@guests.example"}
    assert contact is not None
    assert (contact.phone, contact.phone_on_file) == ("+393471234567", "")


def test_a_button_of_another_conversation_requests_nobody(turns: Turns) -> None:
    asked = offer(turns)["escalation"]
    with pytest.raises(Escalation.DoesNotExist):
        ask(turns.on("chat", external_id="other"), asked, email="a@b.example")


def test_a_resolved_request_is_refused(turns: Turns) -> None:
    asked = offer(turns)["escalation"]
    ask(turns, asked, email="a@b.example")
    with turns.tenant.tx():
        resolve_request(turns.conversation.pk)
    with pytest.raises(WrongState, match="already answered"):
        ask(turns, asked)


@pytest.mark.requirement("W03")
def test_operators_are_emailed_at_most_every_quarter_of_an_hour(
    turns: Turns, operator: User, viewer: User, settings: Any
) -> None:
    """Members who may operate, and nobody else; a later request is included in the next e-mail."""
    settings.EMAIL_HOST = "mail.example"
    for name in ("one", "two"):
        guest = turns.on("chat", external_id=name)
        ask(guest, offer(guest, f"The wedding of {name}")["escalation"], name="Jonas", email=f"{name}@guests.example")
        turns.run(notices.LANE)
    assert sorted(letter.to[0] for letter in mail.outbox) == sorted([operator.email, turns.tenant.owner.email])
    assert "Jonas: The wedding of one" in mail.outbox[0].body
    with turns.tenant.tx():
        assert Job.objects.filter(lane=notices.LANE, state="queued").count() == 1
        OperatorNotice.objects.all().delete()
        Job.objects.filter(lane=notices.LANE, state="queued").update(run_after="2020-01-01T00:00Z")
    turns.run(notices.LANE)
    assert "2 customers are waiting" in mail.outbox[-1].subject
    body = mail.outbox[-1].body
    assert 0 < body.index("The wedding of one") < body.index("The wedding of two")
    assert "more" not in body
    with turns.tenant.tx():
        OperatorNotice.objects.update(sent_at=F("sent_at") - PAUSE)
        Escalation.objects.update(requested_at=F("requested_at") - 2 * PAUSE)
    guest = turns.on("chat", external_id="three")
    ask(guest, offer(guest, "The wedding of three")["escalation"], email="three@guests.example")
    with turns.tenant.tx():
        resolve_request(guest.conversation.pk)
    written = len(mail.outbox)
    turns.run(notices.LANE)
    # Both requests have been announced.
    assert len(mail.outbox) == written


@pytest.mark.requirement("W03")
def test_a_notice_refused_by_the_mail_server_is_retried(
    turns: Turns, operator: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members with a closed account get none."""
    settings.EMAIL_HOST = "mail.example"
    operator.is_active = False
    operator.save(update_fields=["is_active"])
    monkeypatch.setattr("notices.digest.deliver", lambda message: MailResult.FAILED)
    ask(turns, offer(turns, "The wedding")["escalation"], email="one@guests.example")
    turns.run(notices.LANE)
    assert mail.outbox == []
    monkeypatch.undo()
    settings.EMAIL_HOST = "mail.example"
    with turns.tenant.tx():
        Job.objects.filter(lane=notices.LANE, state="queued").update(run_after=Now())
    turns.run(notices.LANE)
    assert [letter.to[0] for letter in mail.outbox] == [turns.tenant.owner.email]


@pytest.mark.requirement("W03")
def test_a_request_whose_operator_left_is_announced_again(turns: Turns, lucia: User, settings: Any) -> None:
    """The others had read that the customer waits, and then that Lucia claimed them."""
    settings.EMAIL_HOST = "mail.example"
    ask(turns, offer(turns, "The wedding")["escalation"], email="one@guests.example")
    turns.run(notices.LANE)
    owner = turns.tenant.owner
    assert sorted(letter.to[0] for letter in mail.outbox) == sorted([lucia.email, owner.email])
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=lucia)
    with turns.tenant.tx():
        OperatorNotice.objects.update(sent_at=F("sent_at") - PAUSE)
        Escalation.objects.update(requested_at=F("requested_at") - 2 * PAUSE)
        remove_member(Member.objects.get(user=lucia), by=Actor(owner, Role.OWNER))
    turns.run(notices.LANE)
    assert [letter.to[0] for letter in mail.outbox[2:]] == [owner.email]
    assert "The wedding" in mail.outbox[-1].body


@pytest.mark.requirement("W03")
@pytest.mark.short_leases
def test_a_notice_interrupted_by_a_crash_is_sent_once(
    turns: Turns, processes: ForkServer, mailbox: Mailbox, settings: Any
) -> None:
    """A recorded notice counts as sent, and one that was not sent is owed."""
    known = turns.on("chat", external_id="known", email="known@guests.example")
    ask(known, offer(known)["escalation"])
    with turns.tenant.tx():
        # Old enough not to delay the next notice.
        Escalation.objects.update(requested_at=F("requested_at") - 2 * PAUSE)
    kill(processes, "operator_notice.noted_pre_send", mail_port=settings.EMAIL_PORT)
    go_on(processes, turns, notices.LANE, mail_port=settings.EMAIL_PORT)
    assert mailbox.messages == []
    with turns.tenant.tx():
        OperatorNotice.objects.update(sent_at=F("sent_at") - PAUSE)
        Job.objects.filter(lane=notices.LANE, state="queued").update(run_after=Now())
    for _ in range(2):
        turns.run(notices.LANE)
    assert len(mailbox.messages) == 1
