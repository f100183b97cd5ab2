"""One reading of a turn for the flows that follow it: shared for a moment, never across tenants, changed by nobody."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from django.db import models

from conversations import shared_scenes
from conversations.flows import observer, thoughts, tool_caller
from conversations.log import open_log
from conversations.models import MessageRole, Turn, TurnStatus
from conversations.scene import Scene
from conversations.shared_scenes import SHARED_SECONDS, shared_scene_after
from conversations.skills.observer import RatedObservation
from jobs.claimed import ClaimedJob
from jobs.claims import claim
from jobs.enqueue import JobRequest, enqueue
from jobs.lanes import lane_of
from projects.attributes import set_attribute
from projects.model_choice import KEY_ATTRIBUTE
from projects.models.attribute import AttributeType
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin
from tests.pipeline.conftest import configure, job_of

FLOWS = ("observer", "thoughts", "tool_caller")


@pytest.fixture
def replied(talk: Talk) -> Turn:
    """A turn whose reply is sent."""
    return reply_to(talk)


def reply_to(talk: Talk) -> Turn:
    turn = talk.say("Do you have a table for four?")
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        turn.reply = log.add_message(MessageRole.AGENT, "Let me check that.", turn=turn, idn="agent_message")
        turn.status = TurnStatus.DONE
        log.writes.update(turn, ("reply", "status"))
    return turn


def read(tenant: Tenant, job: ClaimedJob) -> Scene:
    with tenant.tx():
        return shared_scene_after(job)


def age(seconds: float) -> None:
    """Let time pass for the readings that are kept."""
    for reading in shared_scenes._readings.values():
        reading.read_at -= seconds


def test_flows_of_a_turn_share_one_reading(tenant, replied, django_assert_num_queries):
    first = read(tenant, job_of(replied, lane="observer"))
    with tenant.tx(), django_assert_num_queries(0):
        assert shared_scene_after(job_of(replied, lane="thoughts")) is first


def test_a_flow_that_runs_again_later_reads_anew(tenant, talk, replied):
    first = read(tenant, job_of(replied))
    with tenant.tx(), open_log(talk.conversation.pk) as log:
        log.conversation.recovery = "The customer waits."
    assert read(tenant, job_of(replied)).conversation.recovery == ""
    age(SHARED_SECONDS)
    again = read(tenant, job_of(replied))
    assert again is not first
    assert again.conversation.recovery == "The customer waits."


def test_each_turn_has_its_own(tenant, talk, replied):
    second = reply_to(talk)
    assert read(tenant, job_of(replied)).turn == replied
    assert read(tenant, job_of(second)).turn == second


def test_another_organization_never_gets_it(tenant, stranger, replied):
    """The same conversation and turn, asked for by another tenant's job, are read anew, behind its own walls."""
    read(tenant, job_of(replied))
    other = replace(job_of(replied), organization_id=stranger.organization.pk)
    with pytest.raises(ValueError, match="not enough values"):
        read(stranger, other)


def test_another_organizations_turn_is_its_own(tenant, stranger, replied):
    theirs = reply_to(begin(stranger))
    assert read(tenant, job_of(replied)).conversation.organization_id == tenant.organization.pk
    assert read(stranger, job_of(theirs)).conversation.organization_id == stranger.organization.pk


def test_old_readings_are_forgotten(tenant, talk, monkeypatch):
    monkeypatch.setattr(shared_scenes, "KEPT", 2)
    for turn in (reply_to(talk), reply_to(talk), reply_to(talk)):
        read(tenant, job_of(turn))
    assert len(shared_scenes._readings) == 2


def test_no_flow_changes_what_it_shares(tenant, talk, replied):
    """A change would be seen by the flow beside it, in the middle of its work."""
    jobs = claimed(tenant, talk, replied)
    scene = read(tenant, jobs["observer"])
    before = contents(scene)
    observer._begin(jobs["observer"])
    observed = RatedObservation.model_validate({"facts": [FACT], "quality": {"reason": "It drags on.", "score": 2}})
    observer._commit(jobs["observer"], scene, observed, [])
    thoughts._begin(jobs["thoughts"])
    tool_caller._begin(jobs["tool_caller"])
    assert contents(scene) == before


def test_each_flow_asks_the_projects_own_model_with_its_key(tenant, replied):
    """The key is read with the surroundings: no flow that only shares them opens a transaction for it."""
    configure(tenant, model_base_url="https://models.example/v1")
    with tenant.tx():
        set_attribute(tenant.project, KEY_ATTRIBUTE, "sk-of-the-project", type=AttributeType.SECRET)
    _, observing = observer._begin(job_of(replied, lane="observer"))
    _, thinking = thoughts._begin(job_of(replied, lane="thoughts"))
    calling = tool_caller._begin(job_of(replied, lane="tool_caller"))
    for model in (observing.model, thinking.model, calling.model):
        assert (model.endpoint.base_url, model.endpoint.api_key) == ("https://models.example/v1", "sk-of-the-project")
        assert not model.endpoint.trusted


FACT = {"quote": "a table for four", "field": "name", "value": "Ada", "confidence": "stated"}


def claimed(tenant: Tenant, talk: Talk, turn: Turn) -> dict[str, ClaimedJob]:
    """The turn's three jobs in a worker's hands."""
    with tenant.tx():
        enqueue(
            [
                JobRequest(lane, tenant.project.pk, talk.conversation.pk, turn.seq, key=f"{lane}:{turn.pk}")
                for lane in FLOWS
            ]
        )
    return {job.lane: job for job in claim([lane_of(lane) for lane in FLOWS], limit=8)}


def contents(scene: Scene) -> dict[str, Any]:
    """Every column of every row in the scene."""
    rows = [scene.turn, scene.turn.reply, scene.conversation, scene.project, *scene.fields, *scene.effects]
    return {f"{type(row).__name__} {row.pk}": columns(row) for row in rows if row is not None}


def columns(row: models.Model) -> dict[str, Any]:
    return copy.deepcopy({field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})
