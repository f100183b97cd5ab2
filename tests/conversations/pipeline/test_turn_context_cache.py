"""The cache of a turn for its flows: shared briefly, never across tenants, never modified."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError, models

from conversations.context import turn_context_cache
from conversations.context.turn_context import TurnContext
from conversations.context.turn_context_cache import SHARED_SECONDS, LoadedTurn, load_after_reply
from conversations.flows import observer
from conversations.flows.group_commit import commit
from conversations.live.event_log import open_log
from conversations.models import MessageRole, Turn, TurnStatus
from conversations.prompts.observer import RatedObservation
from jobs.claims import claim
from jobs.enqueue import JobRequest, enqueue
from jobs.lanes import ClaimedJob, lane_of
from jobs.models import State
from projects.agents.model_choice import KEY_ATTRIBUTE
from projects.models.attribute import AttributeType
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin
from tests.conversations.pipeline.conftest import configure, job_of

FLOWS = ("observer", "thoughts", "tool_caller")


@pytest.fixture
def replied(talk: Talk) -> Turn:
    """A turn whose reply has been sent."""
    return reply_to(talk)


def reply_to(talk: Talk) -> Turn:
    turn = talk.say("Do you have a table for four?")
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        turn.reply = log.add_message(MessageRole.AGENT, "Let me check that.", turn=turn, idn="agent_message")
        turn.status = TurnStatus.DONE
        log.writes.update(turn, ("reply", "status"))
    return turn


def read(job: ClaimedJob) -> TurnContext:
    return asyncio.run(load_after_reply(job)).turn_context


def age(seconds: float) -> None:
    """Make cache entries older."""
    for key, reading in turn_context_cache._loads.items():
        turn_context_cache._loads[key] = replace(reading, started_at=reading.started_at - seconds)


def test_flows_of_a_turn_share_one_load(replied):
    async def read_both() -> list[LoadedTurn]:
        return await asyncio.gather(
            *(load_after_reply(job_of(replied, lane=lane)) for lane in ("observer", "thoughts"))
        )

    first, second = asyncio.run(read_both())
    assert first is second


def test_canceling_one_flow_keeps_the_load_for_the_others(replied):
    async def cancel_the_first() -> LoadedTurn:
        first, second = (
            asyncio.create_task(load_after_reply(job_of(replied, lane=lane))) for lane in ("thoughts", "observer")
        )
        await asyncio.sleep(0)
        first.cancel()
        return await second

    assert asyncio.run(cancel_the_first()).turn_context.turn == replied


def test_a_failed_load_is_not_cached(replied, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(turn_context_cache, "context_after", Mock(side_effect=OperationalError))
        with pytest.raises(OperationalError):
            read(job_of(replied))
    assert read(job_of(replied)).turn == replied


def test_a_later_run_of_a_flow_loads_again(tenant, talk, replied):
    first = read(job_of(replied))
    with tenant.tx(), open_log(talk.conversation.pk) as log:
        log.conversation.recovery = "The customer waits."
    assert read(job_of(replied)).conversation.recovery == ""
    age(SHARED_SECONDS)
    again = read(job_of(replied))
    assert again is not first
    assert again.conversation.recovery == "The customer waits."


def test_each_turn_is_loaded_separately(tenant, talk, replied):
    second = reply_to(talk)
    assert read(job_of(replied)).turn == replied
    assert read(job_of(second)).turn == second


def test_a_cached_turn_is_never_shared_across_organizations(tenant, stranger, replied):
    """The same conversation and turn, requested by another tenant's job, are loaded again under its own row-level
    security.
    """
    read(job_of(replied))
    other = replace(job_of(replied), organization_id=stranger.organization.pk)
    with pytest.raises(ValueError, match="not enough values"):
        read(other)


def test_another_organizations_turn_is_loaded_separately(tenant, stranger, replied):
    theirs = reply_to(begin(stranger))
    assert read(job_of(replied)).conversation.organization_id == tenant.organization.pk
    assert read(job_of(theirs)).conversation.organization_id == stranger.organization.pk


def test_old_cache_entries_are_evicted(tenant, talk, monkeypatch):
    monkeypatch.setattr(turn_context_cache, "MAX_LOADS", 2)
    for turn in (reply_to(talk), reply_to(talk), reply_to(talk)):
        read(job_of(turn))
    assert len(turn_context_cache._loads) == 2


def test_no_flow_modifies_the_shared_turn(tenant, talk, replied):
    """Another flow would see the change in the middle of its work."""
    job = claimed(tenant, talk, replied)["observer"]
    context = read(job)
    before = contents(context)
    observed = RatedObservation.model_validate({"facts": [FACT], "quality": {"reason": "It drags on.", "score": 2}})
    asyncio.run(commit(job, lambda log: observer._write(log, job, context, observed, []), finish=State.DONE))
    assert contents(context) == before


def test_the_projects_model_key_is_loaded_with_the_turn(tenant, replied):
    """Flows that only share the load open no transaction for it."""
    configure(tenant, model_base_url="https://models.example/v1")
    with tenant.tx():
        set_attribute(tenant.project, KEY_ATTRIBUTE, "sk-of-the-project", type=AttributeType.SECRET)
    for model in map(read(job_of(replied)).model, ("observer", "thoughts", "detect")):
        assert (model.endpoint.base_url, model.endpoint.api_key) == ("https://models.example/v1", "sk-of-the-project")
        assert not model.endpoint.trusted


FACT = {"quote": "a table for four", "field": "name", "value": "Ada", "confidence": "stated"}


def claimed(tenant: Tenant, talk: Talk, turn: Turn) -> dict[str, ClaimedJob]:
    """The turn's three jobs, claimed by a worker."""
    with tenant.tx():
        enqueue(
            [
                JobRequest(lane, tenant.project.pk, talk.conversation.pk, turn.seq, key=f"{lane}:{turn.pk}")
                for lane in FLOWS
            ]
        )
    return {job.lane: job for job in claim([lane_of(lane) for lane in FLOWS], limit=8)}


def contents(context: TurnContext) -> dict[str, Any]:
    """Every column of every row in the context."""
    rows = [context.turn, context.turn.reply, context.conversation, context.project, *context.fields, *context.effects]
    return {f"{type(row).__name__} {row.pk}": columns(row) for row in rows if row is not None}


def columns(row: models.Model) -> dict[str, Any]:
    return copy.deepcopy({field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})
