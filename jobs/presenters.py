"""API payloads of jobs and model calls."""

from __future__ import annotations

from typing import Annotated, TypedDict

from jobs.models import Job, ModelCall, State
from projects.common.presenters import Id, Stamp, stamp


class JobPayload(TypedDict):
    id: Id
    lane: str
    state: Annotated[str, State]
    created_at: Stamp
    started_at: Stamp | None
    finished_at: Stamp | None
    attempts: int
    error: str | None


class ModelCallPayload(TypedDict):
    """`cost` is in USD, null if the model has no price."""

    id: Id
    skill: str
    model: str
    started_at: Stamp
    first_token_ms: int | None
    total_ms: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: float | None
    attempts: int
    error: str | None


def job_payload(job: Job) -> JobPayload:
    return {
        "id": str(job.pk),
        "lane": job.lane,
        "state": job.state,
        "created_at": stamp(job.created_at),
        "started_at": stamp(job.started_at),
        "finished_at": stamp(job.finished_at),
        "attempts": job.attempts,
        "error": job.error or None,
    }


def call_payload(call: ModelCall) -> ModelCallPayload:
    return {
        "id": str(call.pk),
        "skill": call.skill,
        "model": call.model,
        "started_at": stamp(call.started_at),
        "first_token_ms": call.first_token_ms,
        "total_ms": call.total_ms,
        "input_tokens": call.input_tokens,
        "cached_tokens": call.cached_tokens,
        "output_tokens": call.output_tokens,
        "cost": float(call.cost) if call.cost is not None else None,
        "attempts": call.attempts,
        "error": call.error or None,
    }
