"""Erasure of a customer: from every table, with proof left behind."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.test import Client
from django.utils import timezone

from conversations.models import Conversation, Message, Persona, PersonaField, Turn
from conversations.turns.services import post_message, start_conversation
from jobs.models import LIVE, Job, ModelCall, State
from privacy.erasure import rows
from privacy.erasure.request import request_erasure
from privacy.models import Erasure, ErasureState
from projects.models import AuditAction, AuditEntry
from tests.conftest import Tenant
from tests.privacy.conftest import erase, hasten, reload, run_erasures
from tests.privacy.rows import MARK, fill_for_customer, mentions
from tests.processes import ForkServer, until
from todos.models import Todo
from tools.models import Booking, BookingState, Effect, EffectState, Resource, Ticket, TicketState
from tools.services.support.tickets import open_ticket


def begin(tenant: Tenant, external_id: str = "guest-7731", **known: str) -> Conversation:
    with tenant.tx():
        known = known or {"name": "Ada Lovelace", "email": MARK}
        return start_conversation(tenant.project, channel="chat", external_id=external_id, known=known, metadata={})


def test_nothing_about_the_customer_is_left_in_any_table(tenant: Tenant) -> None:
    """A row in every table, with a mark in every personal column. Every column of the database is searched."""
    made = fill_for_customer(tenant)
    with tenant.tx():
        Effect.objects.update(state=EffectState.DONE)
    persona = made[Persona]
    erasure = erase(tenant, persona.pk)
    assert erasure.state == ErasureState.DONE
    assert mentions(MARK) == {}
    assert mentions(str(persona.pk)) == {}
    assert mentions(str(made[Conversation].pk)) == {}


def test_money_and_proof_stay_without_the_customer(tenant: Tenant) -> None:
    made = fill_for_customer(tenant)
    with tenant.tx():
        Effect.objects.update(state=EffectState.DONE, http_status=201)
        ModelCall.objects.update(cost="0.25", input_tokens=900)
    erase(tenant, made[Persona].pk)
    with tenant.tx():
        effect, call = Effect.objects.get(), ModelCall.objects.get()
        assert (effect.state, effect.http_status, effect.tool) == (EffectState.DONE, 201, "neutral")
        assert (effect.arguments, effect.recipient, effect.conversation_id) == ({}, "", None)
        assert effect.erased_at is not None
        assert (call.input_tokens, call.cost is not None, call.messages, call.turn_id) == (900, True, [], None)


@pytest.mark.parametrize(("decision", "body"), [("release", {}), ("resolve", {"happened": False})])
def test_nothing_is_decided_about_an_effect_of_an_erased_customer(
    tenant: Tenant, api: Client, decision: str, body: dict[str, bool]
) -> None:
    made = fill_for_customer(tenant)
    with tenant.tx():
        Effect.objects.update(state=EffectState.DONE)
    erase(tenant, made[Persona].pk)
    address = f"/api/v1/effects/{made[Effect].pk}/{decision}"
    assert api.post(address, body, content_type="application/json").status_code == 409


def test_the_audit_entry_names_nobody(tenant: Tenant) -> None:
    conversation = begin(tenant)
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        entry = AuditEntry.objects.get(action=AuditAction.CUSTOMER_ERASED)
        assert (entry.actor, entry.subject) == ("test", "a customer")
        assert entry.after["records"] == {"customers": 1, "conversations": 1}


def test_a_customer_is_hidden_before_the_job_runs(tenant: Tenant, api: Client) -> None:
    conversation = begin(tenant)
    address = f"/api/v1/personas/{conversation.persona_id}"
    response = api.delete(address)
    assert (response.status_code, response.json()["status"]) == (202, "queued")
    assert api.get(address).status_code == 404
    assert api.delete(address).status_code == 404
    assert api.get("/api/v1/personas").json()["results"] == []


def test_the_same_external_id_begins_with_a_new_customer(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        request_erasure(tenant.project, conversation.persona_id)
    again = begin(tenant, name="Someone Else")
    run_erasures()
    with tenant.tx():
        assert list(Persona.objects.values_list("pk", flat=True)) == [again.persona_id]
        assert Conversation.objects.get().pk == again.pk
        assert PersonaField.objects.get().value == "Someone Else"


def test_an_erasure_is_read_over_the_api(tenant: Tenant, api: Client) -> None:
    conversation = begin(tenant)
    made = api.delete(f"/api/v1/personas/{conversation.persona_id}").json()
    run_erasures()
    found = api.get(f"/api/v1/erasures/{made['id']}").json()
    assert (found["status"], found["removed"]["conversations"]) == ("done", 1)
    assert [one["id"] for one in api.get("/api/v1/erasures").json()["results"]] == [made["id"]]


def test_the_records_of_merged_customers_go_as_well(tenant: Tenant) -> None:
    kept, merged = begin(tenant), begin(tenant, "guest-8842", email="other.k7q@people.example")
    with tenant.tx():
        Persona.objects.filter(pk=merged.persona_id).update(merged_into=kept.persona_id)
        Conversation.objects.filter(pk=merged.pk).update(persona=kept.persona_id, begun_as_id=merged.persona_id)
    erase(tenant, merged.persona_id)
    assert (mentions("k7q@people"), mentions("guest-8842"), mentions(str(merged.persona_id))) == ({}, {}, {})


def test_another_customer_keeps_everything(tenant: Tenant) -> None:
    gone, other = begin(tenant), begin(tenant, "guest-8842", email="other.k7q@people.example")
    with tenant.tx():
        post_message(other.pk, "Do you have a table?")
    before = mentions("other.k7q@people")
    erase(tenant, gone.persona_id)
    assert mentions("other.k7q@people") == before
    with tenant.tx():
        assert Message.objects.count() == 1
        assert Job.objects.filter(subject_id=other.pk).exists()


def test_ticket_numbers_stay_gapless(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        ticket = open_ticket(
            project_id=tenant.project.pk,
            subject="Allergy of Ada",
            body=MARK,
            persona_id=conversation.persona_id,
            conversation_id=conversation.pk,
        )
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        left = Ticket.objects.get()
        assert (left.number, left.subject, left.state) == (ticket.number, "Erased", TicketState.CLOSED)
        assert not left.changes.exists()
        assert open_ticket(project_id=tenant.project.pk, subject="Next", body="").number == ticket.number + 1


def test_an_upcoming_booking_is_cancelled_and_a_past_one_kept_without_a_name(tenant: Tenant) -> None:
    conversation = begin(tenant)
    made = {}
    for days in (-3, 3):
        made[days] = book(tenant, conversation, in_days=days)
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        past, upcoming = Booking.objects.get(pk=made[-3].pk), Booking.objects.get(pk=made[3].pk)
        assert (past.state, past.name, past.phone, past.persona_id) == (BookingState.CONFIRMED, "", "", None)
        assert (upcoming.state, upcoming.name) == (BookingState.CANCELLED, "")
    assert mentions(MARK) == {}


def test_a_planned_effect_is_cancelled(tenant: Tenant) -> None:
    conversation = begin(tenant)
    effect = plan(tenant, conversation, state=EffectState.PLANNED)
    erase(tenant, conversation.persona_id)
    assert state_of(tenant, effect) == EffectState.CANCELLED


def test_an_effect_that_is_being_sent_is_waited_for(tenant: Tenant) -> None:
    """Its result is stored first. Nothing else of the conversation is removed meanwhile."""
    conversation = begin(tenant)
    effect = plan(tenant, conversation, state=EffectState.SENDING, started_at=timezone.now())
    erasure = erase(tenant, conversation.persona_id)
    assert (erasure.state, bool(erasure.waits_for)) == (ErasureState.QUEUED, True)
    with tenant.tx():
        Effect.objects.filter(pk=effect.pk).update(state=EffectState.DONE)
    hasten(tenant)
    run_erasures()
    assert reload(tenant, erasure).state == ErasureState.DONE
    assert state_of(tenant, effect) == EffectState.DONE


def test_an_effect_whose_worker_died_does_not_hold_the_erasure_up(tenant: Tenant) -> None:
    conversation = begin(tenant)
    began = timezone.now() - rows.LONGEST_ATTEMPT - timedelta(seconds=1)
    effect = plan(tenant, conversation, state=EffectState.SENDING, started_at=began)
    assert erase(tenant, conversation.persona_id).state == ErasureState.DONE
    assert state_of(tenant, effect) == EffectState.UNKNOWN


def test_a_running_turn_writes_nothing_more(tenant: Tenant) -> None:
    """Its job is gone, so its worker has lost the lease."""
    conversation = begin(tenant)
    with tenant.tx():
        post_message(conversation.pk, f"I am {MARK}")
        Job.objects.update(state=State.RUNNING, token=1)
        [job] = Job.objects.values_list("pk", flat=True)
    with patch("jobs.wakeups.cancel") as cancelled:
        erase(tenant, conversation.persona_id)
    assert [str(job)] in [call.args[0] for call in cancelled.call_args_list]
    assert mentions(MARK) == {}


def test_todos_without_a_conversation_go(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        expires = timezone.now() + timedelta(days=1)
        todo = {"project": tenant.project, "description": MARK, "source": "person", "expires_at": expires}
        Todo.objects.create(persona_id=conversation.persona_id, **todo)
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        assert not Todo.objects.exists()


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.short_leases
def test_an_erasure_survives_the_death_of_its_worker(n: int, tenant: Tenant, processes: ForkServer) -> None:
    """SIGKILL after its first, second and third transaction; another worker goes on and ends it."""
    kill_during_erasure(tenant, processes, crash_at=f"erasure.step:{n}")


@pytest.mark.short_leases
def test_an_erasure_survives_a_death_before_a_commit(tenant: Tenant, processes: ForkServer) -> None:
    kill_during_erasure(tenant, processes, crash_at="erasure.pre_commit:2")


def test_a_customer_is_erased_while_the_agent_writes(tenant: Tenant, processes: ForkServer, model) -> None:
    """The reply is cancelled, and its worker goes on with the erasure."""
    model.script("reply", times=0, text=f"Dear {MARK}, " + "one moment, please. " * 200)
    model.latency(gap_ms=50)
    worker = processes.worker()
    conversation = begin(tenant)
    with tenant.tx():
        turn = post_message(conversation.pk, f"I am {MARK}").turn
    until(lambda: status_of(tenant, turn) == "replying", what="the beginning of the reply")
    with tenant.tx():
        erasure = request_erasure(tenant.project, conversation.persona_id)
    until(lambda: reload(tenant, erasure).state == ErasureState.DONE, what="the end of the erasure")
    until(lambda: not live_jobs(tenant), what="the end of all jobs")
    assert mentions(MARK) == {}
    assert "Traceback" not in worker.log.read_text()


def status_of(tenant: Tenant, turn) -> str:
    with tenant.tx():
        return Turn.objects.get(pk=turn.pk).status


def live_jobs(tenant: Tenant) -> bool:
    with tenant.tx():
        return Job.objects.filter(state__in=LIVE).exists()


def kill_during_erasure(tenant: Tenant, processes: ForkServer, *, crash_at: str) -> None:
    for number in range(3):
        conversation = begin(tenant)
        with tenant.tx():
            Conversation.objects.filter(pk=conversation.pk).update(metadata={"seat": f"{number} {MARK}"})
    doomed = processes.worker(crash_at=crash_at)
    with tenant.tx():
        erasure = request_erasure(tenant.project, conversation.persona_id)
    doomed.wait()
    assert reload(tenant, erasure).state != ErasureState.DONE
    processes.worker()
    until(lambda: reload(tenant, erasure).state == ErasureState.DONE, what="the end of the erasure")
    assert mentions(MARK) == {}
    with tenant.tx():
        assert Erasure.objects.get().removed["conversations"] == 3
        assert AuditEntry.objects.filter(action=AuditAction.CUSTOMER_ERASED).count() == 1


def book(tenant: Tenant, conversation: Conversation, *, in_days: int) -> Booking:
    with tenant.tx():
        starts = timezone.now() + timedelta(days=in_days)
        return Booking.objects.create(
            project_id=tenant.project.pk,
            resource=Resource.objects.first(),
            conversation_id=conversation.pk,
            persona_id=conversation.persona_id,
            code=f"C{in_days}",
            name="Ada Lovelace",
            phone="+393475550142",
            email=MARK,
            starts_at=starts,
            ends_at=starts + timedelta(hours=1),
        )


def plan(tenant: Tenant, conversation: Conversation, **values) -> Effect:
    with tenant.tx():
        return Effect.objects.create(
            project_id=tenant.project.pk,
            conversation_id=conversation.pk,
            effect_key="k",
            tool="send_sms",
            kind="sms",
            delivery="once",
            definition={},
            recipient="+393475550142",
            **values,
        )


def state_of(tenant: Tenant, effect: Effect) -> str:
    with tenant.tx():
        return Effect.objects.get(pk=effect.pk).state
