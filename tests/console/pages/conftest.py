"""Conversations that are simply there, as if the flows had run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from conversations.models import Channel, Conversation, Message, MessageRole, Persona, Turn, TurnStatus
from conversations.turns.services import give_fields
from jobs.models import Job, State
from projects.models import User
from tenancy.ids import uuid7_floor
from tests.conftest import Tenant
from tools.models import Effect, EffectState, Promise, PromiseState

_numbers = count()
# What the database asks of a promise in a state.
PROOF = {
    state: {"owner": "", "evidence": "effect" if state == "kept" else ""} for state in ("kept", "broken", "withdrawn")
}


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    """The browser of the organization's owner."""
    return browser(tenant.owner)


def talk(
    tenant: Tenant,
    *words: str,
    at: datetime | None = None,
    channel: Channel = Channel.CHAT,
    guest: str = "guest",
    flag: str = "",
    **known: str,
) -> Conversation:
    """A conversation in which the customer said these words, each in a turn without a reply."""
    at = at or timezone.now()
    with tenant.tx():
        persona, _ = Persona.objects.get_or_create(project=tenant.project, external_id=guest)
        give_fields(persona, known)
        row = Conversation.objects.create(
            id=id_at(at),
            project=tenant.project,
            persona=persona,
            channel=channel,
            flag=flag,
            last_message=len(words),
            last_turn=len(words),
        )
        for seq, content in enumerate(words, 1):
            turn = add_turn(row, seq=seq, at=at)
            message = Message.objects.create(
                id=id_at(at), conversation=row, turn=turn, seq=seq, role=MessageRole.USER, content=content
            )
            Message.objects.filter(pk=message.pk).update(created_at=at)
        Conversation.objects.filter(pk=row.pk).update(created_at=at, updated_at=at)
        row.refresh_from_db()
    return row


def playground(tenant: Tenant, *words: str) -> Conversation:
    """A conversation in which a member plays the customer."""
    row = talk(tenant, *(words or ("Hi",)), guest="colleague")
    with tenant.tx():
        Conversation.objects.filter(pk=row.pk).update(metadata={"playground": True})
    return row


def add_turn(row: Conversation, *, seq: int, at: datetime, first_token_ms: float = 300, **fields: Any) -> Turn:
    turn = Turn.objects.create(id=id_at(at), conversation=row, seq=seq, status=TurnStatus.DONE, **fields)
    first = at + timedelta(milliseconds=first_token_ms)
    Turn.objects.filter(pk=turn.pk).update(created_at=at, first_token_at=first)
    return turn


def id_at(at: datetime) -> UUID:
    """An id as a row of that moment has it."""
    return UUID(int=uuid7_floor(at).int + next(_numbers))


@pytest.fixture
def failed_job(tenant: Tenant) -> Callable[..., Job]:
    def make(*, lane: str = "observer", error: str = "The model took too long.", conversation: Any = None) -> Job:
        now = timezone.now()
        with tenant.tx():
            return Job.objects.create(
                project=tenant.project,
                lane=lane,
                subject_id=conversation.pk if conversation else tenant.project.pk,
                ordinal=1,
                key=f"{lane}:{Job.objects.count()}",
                state=State.FAILED,
                error=error,
                attempts=5,
                fair_at=now,
                run_after=now,
                created_at=now,
                finished_at=now,
            )

    return make


def add_effect(tenant: Tenant, row: Conversation, *, state: EffectState = EffectState.DONE, **fields: Any) -> Effect:
    """An effect of the conversation's newest turn, as if the tool caller had planned it and a worker had run it."""
    given = {"tool": "send_sms_tool", "kind": "sms", "delivery": "once", "quote": "I’ll text you the details."} | fields
    now = timezone.now()
    with tenant.tx():
        turn = Turn.objects.filter(conversation=row).last()
        return Effect.objects.create(
            project_id=tenant.project.pk,
            conversation_id=row.pk,
            turn_id=turn.pk if turn else None,
            state=state,
            **{"definition": {"description": "Sends a text."}, "arguments": {"text": "Friday at 7 PM"}}
            | {"effect_key": f"key-{next(_numbers)}"}
            | given,
            finished_at=now if state in (EffectState.DONE, EffectState.FAILED) else None,
        )


def add_promise(
    tenant: Tenant,
    row: Conversation,
    quote: str = "I’ll text you the details.",
    *,
    state: PromiseState = PromiseState.OPEN,
    at: datetime | None = None,
    **fields: Any,
) -> Promise:
    """A promise of the conversation's newest turn, made at a moment and, unless it is open, over two seconds later."""
    at = at or timezone.now()
    with tenant.tx():
        turn = Turn.objects.filter(conversation=row).last()
        message = Message.objects.filter(conversation=row).last()
        assert turn is not None
        assert message is not None
        promise = Promise.objects.create(
            id=id_at(at),
            project_id=tenant.project.pk,
            conversation_id=row.pk,
            turn_id=turn.pk,
            message_id=message.pk,
            quote=quote,
            state=state,
            **{"due_at": at + timedelta(minutes=15)} | PROOF.get(state.value, {}) | fields,
            **{} if state is PromiseState.OPEN or "closed_at" in fields else {"closed_at": at + timedelta(seconds=2)},
        )
        Promise.objects.filter(pk=promise.pk).update(created_at=at)
    return promise
