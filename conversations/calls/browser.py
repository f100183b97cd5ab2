"""The browser's side of a call: its SDP offer goes to the provider, and its audio must connect."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace

from conversations.calls.store import KeptCall
from conversations.live.event_log import job_log
from conversations.live.hub import Room, hub
from conversations.models import Call, CallState, ConversationStatus
from jobs.failpoints import failpoint
from jobs.fence import reading
from jobs.lanes import ClaimedJob
from llm.realtime import CreatedCall
from tenancy.threads import in_db

# How long a browser may take to connect its audio. The page gives up before.
CONNECT_SECONDS = 30.0
# Events that Redis did not deliver are found by looking.
LOOK_SECONDS = 2.0
ANSWERED = "call_answered"
NEVER_CONNECTED = "The browser's audio never connected."


@dataclass(frozen=True)
class BrowserProblem:
    """The reason for which a browser's call ends before it began."""

    state: CallState
    reason: str


@dataclass(frozen=True)
class BrowserState:
    """The browser's reports so far. `reason` is its problem, if it has hung up."""

    last_event: int
    is_connected: bool
    is_over: bool
    reason: str


async def create_call(job: ClaimedJob, kept: KeptCall) -> KeptCall:
    """Give the provider the browser's offer, and store its answer. Nothing happens if the browser has left.

    Raises VerbRefused, ProviderUnavailable.
    """
    if (await in_db(_read_state, job, kept)).is_over:
        return kept
    created = await kept.provider.create(kept.offer, kept.session.config)
    failpoint("call.created")
    await in_db(_store_answer, job, kept, created)
    return replace(kept, external_id=created.call_id, offer="")


async def find_problem(job: ClaimedJob, kept: KeptCall) -> BrowserProblem | None:
    """Wait until the browser's audio is connected; else the reason why it isn't."""
    with suppress(TimeoutError):
        async with (
            asyncio.timeout(CONNECT_SECONDS),
            hub().listen(Room(kept.organization_id, kept.conversation_id), after=0) as listener,
        ):
            while True:
                state = await in_db(_read_state, job, kept)
                if state.is_over:
                    return BrowserProblem(CallState.FAILED if state.reason else CallState.ENDED, state.reason)
                if state.is_connected:
                    return None
                listener.after = state.last_event
                await listener.next_within(LOOK_SECONDS)
    return BrowserProblem(CallState.FAILED, NEVER_CONNECTED)


def _read_state(job: ClaimedJob, kept: KeptCall) -> BrowserState:
    with reading(job):
        call = Call.objects.select_related("conversation").get(pk=kept.call_id)
        conversation = call.conversation
        is_over = conversation.status != ConversationStatus.OPEN
        return BrowserState(conversation.last_event, call.connected_at is not None, is_over, call.reason)


def _store_answer(job: ClaimedJob, kept: KeptCall, created: CreatedCall) -> None:
    """The provider's answer, for the browser. The offer, which holds the browser's addresses, is forgotten."""
    with job_log(job, kept.conversation_id) as log:
        Call.objects.filter(pk=kept.call_id).update(external_id=created.call_id, answer=created.answer, offer="")
        log.add_event(ANSWERED, payload={"call": str(kept.call_id)})
