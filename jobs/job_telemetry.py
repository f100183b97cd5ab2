"""Metrics, spans and the place in the log of an attempt at a job."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.db import transaction

from jobs.lanes import ClaimedJob
from jobs.models import State
from telemetry.metrics import JOB_SECONDS, JOBS_FINISHED
from telemetry.place import Place, at
from telemetry.tracing import Attributes, Kind, end_span, start_span


@contextmanager
def attempting(job: ClaimedJob) -> Iterator[None]:
    """Measure an attempt, in the trace of the job's cause."""
    caused = Place(trace=job.trace, job=str(job.id), lane=job.lane, tenant=str(job.organization_id))
    attributes: Attributes = {
        "makegood.job.id": caused.job,
        "makegood.organization.id": caused.tenant,
        "makegood.attempt": job.attempt,
    }
    place = start_span(job.lane, kind=Kind.CONSUMER, parent=caused, attributes=attributes)
    began = time.perf_counter()
    try:
        with at(place):
            yield
    finally:
        JOB_SECONDS.observe(time.perf_counter() - began, job.lane)
        end_span(place)


def count_finished(job: ClaimedJob, state: State) -> None:
    """Count the job as ended in this state, when the current transaction commits."""
    count = partial(JOBS_FINISHED.inc, job.lane, state.value, tenant=job.organization_id)
    transaction.on_commit(count)
