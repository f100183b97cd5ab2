"""PostgreSQL falls silent: no connection is closed, and no packet arrives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from conversations.models import Conversation, Message, MessageRole
from tests.conftest import Tenant
from tests.crashes.invariants import check, settle
from tests.crashes.test_crash_points import begin, say
from tests.processes import until
from tests.wires.conftest import Answer, Product, RemoteModel
from tests.wires.faults import CUT, LOST_ANSWERS, LOST_QUESTIONS, Fault
from tests.wires.hosts import Network
from tools.models import Effect

ANSWERED_SECONDS, RECOVERED_SECONDS = 5, 30
PROMISING = "Please text me the opening hours"
ONE_WAY = [pytest.param(fault, marks=pytest.mark.slow, id=str(fault)) for fault in (LOST_QUESTIONS, LOST_ANSWERS)]
FAULTS = [pytest.param(CUT, id="cut"), *ONE_WAY]


@pytest.mark.parametrize("fault", FAULTS)
def test_work_goes_on_after_a_silence(
    fault: Fault, product: Product, tenant: Tenant, network: Network, model: RemoteModel
) -> None:
    worker = product.worker()
    talks = [begin(tenant) for _ in range(3)]
    model.latency(ttft_ms=800)
    for talk in talks:
        say(tenant, talk, PROMISING)
    until(lambda: model.requests("reply"), what="a reply in the making")
    fault.begin(network, "postgres")
    say(tenant, talks[0], "And how are you?")
    until(lambda: "OperationalError" in worker.log.read_text(), what="the worker's discovery")
    network.heal()
    model.latency()
    settle(tenant, seconds=RECOVERED_SECONDS)
    check(tenant)
    for talk in talks:
        promises_are_kept_once(tenant, talk)


def promises_are_kept_once(tenant: Tenant, conversation: Conversation) -> None:
    with tenant.tx():
        assert Effect.objects.filter(conversation_id=conversation.pk, tool="send_sms_tool").count() == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_requests_during_a_silence_get_503_in_time(
    fault: Fault, product: Product, tenant: Tenant, network: Network
) -> None:
    _, url = product.web()
    talk = begin(tenant)
    read = partial(product.call, f"{url}/api/v1/conversations/{talk.pk}", headers=tenant.headers)
    # Every database thread of the process has a connection.
    at_once([read] * 8)
    fault.begin(network, "postgres")
    posts = [post(product, tenant, url=url, conversation=talk, number=number) for number in range(8)]
    for answer in [*at_once([*posts, *[read] * 8]), read(), product.call(f"{url}/healthz")]:
        assert answer.status == 503
        assert answer.seconds < ANSWERED_SECONDS
    refused = read()
    assert int(refused.headers["Retry-After"]) > 0
    network.heal()
    for again in posts:
        until(lambda again=again: again().status == 202, seconds=RECOVERED_SECONDS, what="the message's acceptance")
    with tenant.tx():
        said = Message.objects.filter(conversation=talk, role=MessageRole.USER).values_list("content", flat=True)
        assert sorted(said) == [f"Message {number}" for number in range(8)]


def post(product: Product, tenant: Tenant, *, url: str, conversation: Conversation, number: int) -> partial[Answer]:
    """The request of a client that repeats it with the same key."""
    return partial(
        product.call,
        f"{url}/api/v1/conversations/{conversation.pk}/messages",
        method="POST",
        headers={**tenant.headers, "Idempotency-Key": f"message-{number}"},
        body={"content": f"Message {number}"},
    )


def at_once(requests: list[partial[Answer]]) -> list[Answer]:
    with ThreadPoolExecutor(len(requests)) as threads:
        return [sent.result() for sent in [threads.submit(request) for request in requests]]
