"""Processes killed by SIGKILL at each failpoint: another one takes over, and nothing is lost or repeated."""

from __future__ import annotations

import pytest

from conversations.models import Conversation, Message
from conversations.turns.services import post_message, start_conversation
from jobs.models import Job
from tests.conftest import Tenant
from tests.crashes.invariants import check, settle
from tests.processes import Child, ForkServer, until

pytestmark = pytest.mark.short_leases

IN_WORKER = [
    "turn.claimed",
    "turn.mid_stream",
    "turn.llm_done_pre_commit",
    "turn.committed_pre_wake",
    "lane.claimed",
    "lane.llm_done_pre_commit",
    "lane.committed",
]
# The phone number is known, so that a promised text can be sent.
KNOWN = {"phone": "+393475550142"}
WORDS = ["Do you have a table on Friday?", "Please text me the opening hours", "Thank you, could you send me an SMS?"]


def begin(tenant: Tenant) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel="chat", external_id="guest", known=KNOWN, metadata={})


def say(tenant: Tenant, conversation: Conversation, words: str) -> None:
    with tenant.tx():
        post_message(conversation.pk, words)


def kill_at(label: str, n: int, *, tenant: Tenant, processes: ForkServer) -> None:
    doomed = processes.worker(crash_at=f"{label}:{n}")
    conversation = begin(tenant)
    for words in WORDS:
        say(tenant, conversation, words)
        if doomed.is_alive:
            settle_or_die(tenant, doomed)
    doomed.wait()
    processes.worker()
    settle(tenant)
    check(tenant)


def settle_or_die(tenant: Tenant, doomed: Child) -> None:
    def over() -> bool:
        if not doomed.is_alive:
            return True
        with tenant.tx():
            return not Job.objects.filter(state__in=("queued", "running")).exists()

    until(over, what="the death of the worker, or the end of the turn")


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("label", IN_WORKER)
def test_worker_killed_at_a_crash_point_loses_nothing(
    label: str, n: int, tenant: Tenant, processes: ForkServer, model
) -> None:
    """Every message is answered once, with three lane rows per turn and no stale directives."""
    model.script("reply", times=0, text="I'll send you a text with the details.")
    kill_at(label, n, tenant=tenant, processes=processes)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 21))
@pytest.mark.parametrize("label", IN_WORKER)
def test_worker_killed_twenty_times_at_each_crash_point(
    label: str, n: int, tenant: Tenant, processes: ForkServer, model
) -> None:
    """Twenty kills per failpoint, at passes one to three."""
    model.script("reply", times=0, text="I'll send you a text with the details.")
    kill_at(label, 1 + n % 3, tenant=tenant, processes=processes)


@pytest.mark.parametrize("n", [1, 2])
def test_a_message_whose_transaction_dies_was_never_accepted(n: int, tenant: Tenant, processes: ForkServer) -> None:
    """Killed before the commit: no response was sent, and nothing is stored."""
    conversation = begin(tenant)
    poster = post(tenant, conversation, processes, crash_at=f"msg.pre_commit:{n}")
    poster.wait()
    with tenant.tx():
        assert Message.objects.filter(role="user").count() == n - 1
    processes.worker()
    settle(tenant)
    check(tenant)


@pytest.mark.parametrize("n", [1, 2])
def test_a_message_without_its_wakeup_is_answered(n: int, tenant: Tenant, processes: ForkServer) -> None:
    """Killed after the commit, before the wakeup; the sweep finds the job."""
    conversation = begin(tenant)
    poster = post(tenant, conversation, processes, crash_at=f"msg.post_commit_pre_wake:{n}")
    poster.wait()
    with tenant.tx():
        assert Message.objects.filter(role="user").count() == n
    processes.worker()
    settle(tenant)
    check(tenant)


def post(tenant: Tenant, conversation: Conversation, processes: ForkServer, *, crash_at: str):
    return processes.start(
        "post",
        crash_at=crash_at,
        organization=str(tenant.organization.pk),
        conversation=str(conversation.pk),
        contents=WORDS,
    )
