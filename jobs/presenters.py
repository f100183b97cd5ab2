"""Jobs and model calls as the API shows them."""

from __future__ import annotations

from typing import Any

from jobs.models import Job, ModelCall
from projects.presenters import stamp


def job_payload(job: Job) -> dict[str, Any]:
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


def call_payload(call: ModelCall) -> dict[str, Any]:
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
