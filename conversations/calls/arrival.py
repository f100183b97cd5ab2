"""Calls that ring: stored once, with their conversation and the job that keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from conversations.customers.search import customers_with
from conversations.live.event_log import open_log
from conversations.models import Call, Channel, Conversation
from conversations.turns.services import set_observed_field, start_conversation
from jobs.enqueue import JobRequest, enqueue
from projects.models import Project
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery

LANE = "call"
# Deliveries of one call wait for each other, and for no other call.
_ONE_AT_A_TIME = Prepared("select pg_advisory_xact_lock(hashtextextended(%s, 0))::text")
_KNOWN = PreparedQuery(
    lambda project, provider, external_id: Call.objects.filter(
        project_id=project, provider=provider, external_id=external_id
    ),
    kinds=(UUID, str, str),
)


class ForeignWebhook(Exception):
    """The webhook is signed with no connection's secret, or is too old."""


class MalformedCall(ValueError):
    """The webhook is genuine, but its call can't be stored."""


@dataclass(frozen=True)
class Numbers:
    """The numbers of both sides in E.164. Empty: withheld, or contradicted by the network's own assertion."""

    caller: str
    called: str


@dataclass(frozen=True)
class Arrival:
    """A call as its provider announces it. A worker takes its job after `patience`."""

    provider: str
    external_id: str
    numbers: Numbers
    patience: timedelta = field(default=timedelta())


def store_call(call: Call, *, patience: timedelta = timedelta()) -> Call:
    """Store a new call and its event, and queue its keeper, which a worker takes after `patience`."""
    with open_log(call.conversation_id) as log:
        log.writes.insert([call])
        log.add_event("call_incoming", payload={"call": str(call.pk)})
    run_after = timezone.now() + patience if patience else None
    key = f"call:{call.pk}"
    enqueue([JobRequest(LANE, call.project_id, call.conversation_id, ordinal=0, key=key, run_after=run_after)])
    return call


def store_arrival(project: Project, arrival: Arrival) -> tuple[Call, bool]:
    """The call, and whether it is new. Two deliveries at once make one call."""
    _ONE_AT_A_TIME(f"{project.pk} {arrival.provider} {arrival.external_id}")
    for known in _KNOWN(project.pk, arrival.provider, arrival.external_id):
        return known, False
    call = Call(
        project=project,
        conversation=_start(project, arrival),
        provider=arrival.provider,
        external_id=arrival.external_id,
        caller=arrival.numbers.caller,
        called=arrival.numbers.called,
    )
    return store_call(call, patience=arrival.patience), True


def _start(project: Project, arrival: Arrival) -> Conversation:
    """The call's conversation, with the customer who has this number, or a new one."""
    caller = arrival.numbers.caller
    found = list(customers_with(project, phone=caller)[:2]) if caller else []
    external_id = found[0].external_id if len(found) == 1 else caller or f"call {arrival.external_id}"
    call = {"call_sid": arrival.external_id, "caller_phone": caller}
    conversation = start_conversation(
        project, channel=Channel.PHONE, external_id=external_id, known={}, metadata={"call": call}
    )
    if caller:
        # Observed, never given: a caller can forge it, so it is no number on file.
        set_observed_field(conversation.persona, "phone", caller)
    return conversation
