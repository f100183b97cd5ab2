"""Reports of a call on their way into the database.

The session's events don't wait for a transaction: what happens while one runs is stored together by the next.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping

from conversations.calls.store import KeptCall, record
from conversations.voice.reports import Report
from jobs.failpoints import failpoint
from jobs.lanes import ClaimedJob
from tenancy.threads import in_db


class ReportQueue:
    """Queue of what happened in a call and isn't stored yet, in its order. `failed` ends with the error once storing fails."""

    def __init__(self, job: ClaimedJob, kept: KeptCall) -> None:
        self._job = job
        self._kept = kept
        self._reports: list[Report] = []
        self._outputs: list[str] = []
        self._tokens: Counter[str] = Counter()
        self._storing: asyncio.Task[None] | None = None
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def add(self, reports: Iterable[Report]) -> None:
        """Store these reports soon."""
        self._reports.extend(reports)
        self._start()

    def add_output(self, call_id: str) -> None:
        """Store that the model received the result of a tool call."""
        self._outputs.append(call_id)
        self._start()

    def add_tokens(self, used: Mapping[str, int]) -> None:
        """Count the tokens of one response."""
        self._tokens.update(used)
        self._start()

    async def flush(self) -> None:
        """Wait until everything added so far is stored. Raises LeaseLost and database errors."""
        if self._storing is not None:
            await asyncio.wait({self._storing})
        if self.failed.done():
            self.failed.result()

    def _start(self) -> None:
        if self._storing is None and self._has_work:
            self._storing = asyncio.create_task(self._store())

    @property
    def _has_work(self) -> bool:
        return bool(self._reports or self._outputs or self._tokens)

    async def _store(self) -> None:
        try:
            while self._has_work:
                await self._store_waiting()
        except Exception as error:  # the keeper waits for it
            if not self.failed.done():
                self.failed.set_exception(error)
                # It counts as read, because a keeper that was cancelled doesn't wait any more.
                self.failed.exception()
        finally:
            self._storing = None

    async def _store_waiting(self) -> None:
        reports, outputs, tokens = self._reports, self._outputs, self._tokens
        self._reports, self._outputs, self._tokens = [], [], Counter()
        await in_db(record, self._job, self._kept, reports, outputs=outputs, tokens=tokens)
        if reports:
            failpoint("call.reported")
