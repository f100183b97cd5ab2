"""The loop of a reply that may call tools: at most three hops, each stored before anything acts on it (W08-W10, T6, T8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast
from uuid import UUID

from conversations.context.turn_context import Scene
from conversations.live.event_log import ConversationLog, job_log, open_log
from conversations.models import TurnCall, TurnStep
from conversations.prompts.budget import make_room
from conversations.tool_runs.calls.ending import settle_call
from conversations.tool_runs.calls.plan import occasion_of, plan_step
from conversations.tool_runs.calls.start import Begin, begin_call, store_step
from conversations.tool_runs.effects.argument_extraction import has_asked_again
from conversations.tool_runs.effects.effect_context import Work, read_work
from jobs.claimed import ClaimedJob
from jobs.failpoints import crash_point
from jobs.fence import Zombie, reading
from llm.types import ChatRequest, Completion
from tenancy.prepared_queries import Compiled
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.limits import wait_in_order
from tools.engine.execution.outcome import Outcome
from tools.engine.function_calling.attempt import attempt_call
from tools.engine.function_calling.messages import room_for_each, said_and_called
from tools.engine.function_calling.offer import Offer
from tools.models import Effect

MOST_HOPS = 3

CALLS = Compiled(
    lambda turn: (
        TurnCall.objects.select_related("step", "effect").filter(step__turn_id=turn).order_by("step__number", "index")
    ),
    kinds=(UUID,),
)


@dataclass
class Hop:
    """One answer of the model that called tools."""

    step: TurnStep
    calls: list[TurnCall]


@dataclass
class Begun:
    """Calls that have begun: those to be carried out, and those of which it is asked first whether a repeat is wanted."""

    going: list[TurnCall] = field(default_factory=list)
    asking: list[TurnCall] = field(default_factory=list)


@dataclass
class Hops:
    """The hops of one reply so far. `offer` is what its model may call; without any, nothing of this costs anything."""

    job: ClaimedJob
    scene: Scene
    offer: Offer
    taken: list[Hop] = field(default_factory=list)

    @property
    def is_last(self) -> bool:
        """Whether the next answer has to be words: a fourth hop never is."""
        return len(self.taken) >= MOST_HOPS

    @property
    def last_word(self) -> TurnCall | None:
        """The call that told the channel to end or to transfer: after it the agent says no more (F18)."""
        return next((call for call in self.calls if call.signal), None)

    @property
    def calls(self) -> list[TurnCall]:
        return [call for hop in self.taken for call in hop.calls]

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """What the widget shows beside the words, in the order of the calls (W11)."""
        return [call.block for call in self.calls if call.block]

    @property
    def effects(self) -> list[Effect]:
        return [call.effect for call in self.calls if call.effect is not None]

    def fit(self, request: ChatRequest) -> ChatRequest:
        """The request with the hops so far, each call with its result; the transcript makes room for them."""
        if not self.offer.tools:
            return request
        offered = replace(request, tools=self.offer.functions, may_call=not self.is_last)
        if not self.taken:
            return offered
        longest = room_for_each(self.calls)
        said = [
            message for hop in self.taken for message in said_and_called(hop.step.content, hop.calls, longest=longest)
        ]
        # All but the system's prompt, and what changes from turn to turn.
        transcript = len(request.messages) - 2
        whole = replace(offered, messages=[*request.messages, *said])
        return make_room(whole, transcript=transcript, beside=self.offer.weight)

    async def take(self, completion: Completion) -> Hop:
        """Store what the model called, carry it out, and give every call its result."""
        crash_point("hop.llm_done_pre_commit")
        hop, begun = await in_db(self._store, completion)
        self.taken.append(hop)
        await self._run(begun)
        return hop

    async def finish(self, hop: Hop) -> None:
        """Carry out the calls of a hop that an earlier attempt has stored, those without a result."""
        if any(call.finished_at is None for call in hop.calls):
            await self._run(await in_db(self._begin, hop.calls))

    async def _run(self, begun: Begun) -> None:
        """Carry out what has begun, side by side.

        A reply that is superseded meanwhile ends with it: what has begun is not broken off, and is put down.
        """
        for call in begun.asking:
            begun.going.extend((await self._ask_again(call)).going)
        if not begun.going:
            return
        crash_point("hop.sending_pre_bytes")
        running = asyncio.gather(*(self._carry_out(call) for call in begun.going))
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            with suppress(Zombie):
                await running
            raise

    async def _ask_again(self, call: TurnCall) -> Begun:
        """Whether the customer wants a second time what was done already; then it goes, else it is held (E6)."""
        work = await in_db(self._work_of, call)
        return await in_db(partial(self._begin, [call], asked_again=await has_asked_again(self.job, work)))

    def _work_of(self, call: TurnCall) -> Work:
        with reading(self.job):
            return read_work(cast(UUID, call.effect_id))

    def _store(self, completion: Completion) -> tuple[Hop, Begun]:
        with job_log(self.job, self.scene.conversation.pk) as log:
            step, calls = plan_step(self.scene, self.offer, completion, number=len(self.taken) + 1)
            store_step(log, step, calls)
            return Hop(step, calls), _begin(log, calls)

    def _begin(self, calls: Sequence[TurnCall], *, asked_again: bool | None = None) -> Begun:
        with job_log(self.job, self.scene.conversation.pk) as log:
            return _begin(log, calls, asked_again=asked_again)

    async def _carry_out(self, call: TurnCall) -> None:
        outcome = await attempt_call(call.name, call.arguments or {}, occasion_of(self.scene, call), call.effect)
        crash_point("hop.response_pre_commit")
        await in_db(partial(self._settle, call, outcome))
        crash_point("hop.settled_pre_next")

    def _settle(self, call: TurnCall, outcome: Outcome) -> None:
        """What happened is put down whatever became of the reply: an effect's own state is fence enough for that."""
        conversation_id = self.scene.conversation.pk
        try:
            with job_log(self.job, conversation_id) as log:
                settle_call(log, call, outcome)
        except Zombie:
            with tenant_tx(self.job.organization_id), open_log(conversation_id) as log:
                settle_call(log, call, outcome)
            raise


def stored_hops(turn_id: UUID) -> list[Hop]:
    """The hops that an earlier attempt at the reply has stored, in the running transaction."""
    hops: list[Hop] = []
    for call in CALLS(turn_id):
        if not hops or hops[-1].step.pk != call.step_id:
            hops.append(Hop(call.step, []))
        call.step = hops[-1].step
        hops[-1].calls.append(call)
    return hops


def _begin(log: ConversationLog, calls: Sequence[TurnCall], *, asked_again: bool | None = None) -> Begun:
    wait_in_order(call.effect for call in calls if call.effect is not None)
    begun = Begun()
    for call in calls:
        match begin_call(log, call, asked_again=asked_again):
            case Begin.GOES:
                begun.going.append(call)
            case Begin.ASKS:
                begun.asking.append(call)
    return begun
