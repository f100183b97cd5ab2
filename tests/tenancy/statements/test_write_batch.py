"""Write batches: one statement, written for the current tenant, completely or not at all."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError
from django.utils import timezone

from conversations.models import Conversation, Event, Message, Persona, PersonaField, Turn
from conversations.models.event import EventType
from conversations.models.persona import Strength
from conversations.turns.services import start_conversation
from tenancy.write_batch import LostRow, WriteBatch, insert_rows, update_row
from tests.conftest import Tenant


@pytest.fixture
def spoken(tenant: Tenant) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel="chat", external_id="guest", known={}, metadata={})


def event(conversation: Conversation, seq: int, **fields) -> Event:
    return Event(conversation=conversation, seq=seq, idn="noted", **fields)


def stored(row):
    return type(row).objects.get(pk=row.pk)


def test_a_row_is_stored_unchanged(tenant, spoken):
    payload = {"words": "caffè 100% \\ 'x'", "seats": 4, "dog": True, "none": None, "list": [1.5]}
    with tenant.tx():
        made = event(spoken, 1, payload=payload, type=EventType.EFFECT)
        insert_rows([made])
        found = stored(made)
    same = ("pk", "organization_id", "conversation_id", "seq", "idn", "connector", "type", "payload", "created_at")
    assert [getattr(found, name) for name in same] == [getattr(made, name) for name in same]


def test_rows_of_several_models_may_refer_to_each_other(tenant, spoken, django_assert_num_queries):
    with tenant.tx():
        turn = Turn(conversation=spoken, seq=1)
        message = Message(conversation=spoken, turn=turn, seq=1, role="user", content="Hello")
        turn.message = message
        writes = WriteBatch()
        writes.insert([turn])
        writes.insert([message])
        writes.insert([event(spoken, 1), event(spoken, 2)])
        with django_assert_num_queries(1):
            writes.send()
        assert stored(turn).message == message
        assert Event.objects.filter(conversation=spoken).count() == 2


def test_an_update_writes_only_the_given_fields(tenant, spoken):
    with tenant.tx():
        spoken.flag, spoken.recovery = "look", "not written"
        update_row(spoken, ("flag", "updated_at"))
        found = stored(spoken)
    assert (found.flag, found.recovery) == ("look", "")
    assert found.updated_at == spoken.updated_at > found.created_at


def test_updates_of_the_same_row_are_combined(tenant, spoken):
    """One statement can update a row only once. A second update would be lost silently."""
    with tenant.tx():
        turn = Turn(conversation=spoken, seq=1)
        insert_rows([turn])
        writes = WriteBatch()
        writes.change(Turn, turn.pk, refused=[{"field": "phone"}])
        writes.change(Turn, turn.pk, quality_score=3, started_at=timezone.now())
        writes.send()
        found = stored(turn)
    assert (found.refused, found.quality_score) == ([{"field": "phone"}], 3)
    assert found.started_at is not None


def test_none_is_stored_as_null(tenant, spoken):
    with tenant.tx():
        turn = Turn(conversation=spoken, seq=1, started_at=timezone.now(), working_hours={"open": True})
        insert_rows([turn])
        turn.started_at = turn.working_hours = None
        update_row(turn, ("started_at", "working_hours"))
        assert Turn.objects.filter(pk=turn.pk, started_at=None, working_hours__isnull=True).exists()


def test_numbers_and_choices_keep_their_type(tenant, spoken):
    with tenant.tx():
        field = PersonaField(persona_id=spoken.persona_id, key="name", value="Ada", strength=Strength.GIVEN)
        insert_rows([field])
        assert stored(field).strength == Strength.GIVEN


def test_updating_a_missing_row_raises(tenant):
    with pytest.raises(LostRow), tenant.tx():
        writes = WriteBatch()
        writes.change(Conversation, uuid4(), flag="look")
        writes.send()


def test_another_tenants_row_cannot_be_updated(tenant, stranger, spoken):
    with pytest.raises(LostRow), stranger.tx():
        update_row(spoken, ("flag",))
    with tenant.tx():
        assert stored(spoken).flag == ""


def test_a_row_of_another_tenant_cannot_be_inserted(tenant, stranger, spoken):
    with tenant.tx():
        made = event(spoken, 1)
    with pytest.raises(ProgrammingError, match="row-level security"), stranger.tx():
        insert_rows([made])


def test_a_rejected_row_rolls_back_the_others(tenant, spoken):
    with tenant.tx():
        insert_rows([event(spoken, 1)])
    with pytest.raises(IntegrityError), tenant.tx():
        writes = WriteBatch()
        writes.insert([Persona(project=tenant.project, external_id="new")])
        writes.insert([event(spoken, 1)])
        writes.send()
    with tenant.tx():
        assert not Persona.objects.filter(external_id="new").exists()


def test_an_empty_batch_sends_no_statement(tenant, django_assert_num_queries):
    with tenant.tx(), django_assert_num_queries(0):
        insert_rows([])


def test_sending_twice_does_not_repeat_the_writes(tenant, spoken, django_assert_num_queries):
    with tenant.tx():
        writes = WriteBatch()
        writes.insert([event(spoken, 1)])
        writes.send()
        with django_assert_num_queries(0):
            writes.send()
