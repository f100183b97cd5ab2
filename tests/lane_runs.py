"""Runs of lanes in the test's own process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from conversations.live import tokens
from jobs import claims
from jobs.attempt import attempt
from jobs.lanes import ClaimedJob, Lane, lane_of
from jobs.model_client import close_model_client
from tenancy.threads import in_db


def run_lanes(*names: str, before_claim: Callable[[], object] | None = None) -> None:
    """Run the due jobs of these lanes as a worker does, until none is left."""
    asyncio.run(_run([lane_of(name) for name in names], before_claim))


async def _run(lanes: Sequence[Lane], before_claim: Callable[[], object] | None) -> None:
    def claim() -> Sequence[ClaimedJob]:
        if before_claim is not None:
            before_claim()
        return claims.claim(lanes, limit=32)

    try:
        while jobs := await in_db(claim):
            await asyncio.gather(*(attempt(job, lane_of(job.lane)) for job in jobs))
    finally:
        # Connections belong to this loop, which ends here.
        await close_model_client()
        await tokens._redis().aclose()
