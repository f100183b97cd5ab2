"""Redis falls silent: hints, cancellations and the live stream are late, and nothing depends on them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import aclosing

import pytest
import redis
from django.test import override_settings

from conversations.live.subscriptions import Subscriptions
from jobs import wakeups
from tests.conftest import Tenant
from tests.conversations.sse import open_stream
from tests.crashes.invariants import check, settle
from tests.crashes.test_crash_points import begin, say
from tests.processes import until
from tests.wires.conftest import Product
from tests.wires.faults import CUT, LOST_ANSWERS, LOST_QUESTIONS, Fault
from tests.wires.hosts import Network
from tests.wires.servers import RemoteServer
from tests.wires.test_postgres import (
    ANSWERED_SECONDS,
    PROMISING,
    RECOVERED_SECONDS,
    at_once,
    post,
    promises_are_kept_once,
)

ONE_WAY = [pytest.param(fault, marks=pytest.mark.slow, id=str(fault)) for fault in (LOST_QUESTIONS, LOST_ANSWERS)]
FAULTS = [pytest.param(CUT, id="cut"), *ONE_WAY]
CHANNEL = "makegood:live:test"
PATIENCE = 20


@pytest.mark.parametrize("fault", FAULTS)
def test_messages_are_accepted_and_answered_during_a_silence(
    fault: Fault, product: Product, tenant: Tenant, network: Network
) -> None:
    product.worker()
    _, url = product.web()
    talk, other = begin(tenant), begin(tenant)
    path = f"/conversations/{talk.pk}/events"
    with network["product"].entered(), open_stream(url, tenant, path) as stream:
        fault.begin(network, "redis")
        say(tenant, talk, PROMISING)
        posts = [post(product, tenant, url=url, conversation=other, number=number) for number in range(8)]
        for answer in at_once(posts):
            assert answer.status == 202
            assert answer.seconds < ANSWERED_SECONDS
        said = [sent.data["role"] for sent in stream.until("done") if sent.event == "message"]
        assert said == ["user", "agent"]
    settle(tenant, seconds=RECOVERED_SECONDS)
    network.heal()
    assert posts[0]().status == 202
    settle(tenant, seconds=RECOVERED_SECONDS)
    check(tenant)
    promises_are_kept_once(tenant, talk)


@pytest.fixture
def remote(network: Network, remote_redis: RemoteServer) -> Iterator[redis.Redis]:
    """This process on the host `product`, and a client of its Redis that the faults don't touch."""
    url = remote_redis.service.url()
    with network["model"].entered():
        client = redis.Redis.from_url(url)
        client.ping()
    with override_settings(REDIS_URL=url), network["product"].entered():
        yield client
    client.close()


async def heard_in_time(heard: asyncio.Queue[bytes], remote: redis.Redis) -> None:
    """Publish until something is heard."""
    async with asyncio.timeout(RECOVERED_SECONDS):
        while heard.empty():
            await asyncio.to_thread(remote.publish, CHANNEL, "news")
            await asyncio.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [CUT, LOST_QUESTIONS, LOST_ANSWERS], ids=str)
async def test_the_live_stream_hears_again_after_a_silence(
    fault: Fault, network: Network, remote: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    subscriptions = Subscriptions(lambda _, data: heard.put_nowait(data))
    subscriptions.subscribe(CHANNEL)
    await heard_in_time(heard, remote)
    fault.begin(network, "redis")
    async with asyncio.timeout(PATIENCE):
        while "lost Redis" not in caplog.text:
            await asyncio.sleep(0.1)
    network.heal()
    while not heard.empty():
        heard.get_nowait()
    await heard_in_time(heard, remote)
    assert subscriptions._task
    subscriptions._task.cancel()
    await asyncio.wait({subscriptions._task})


@pytest.mark.slow
@pytest.mark.parametrize("fault", [CUT, LOST_QUESTIONS, LOST_ANSWERS], ids=str)
async def test_a_worker_notices_that_it_hears_no_cancellations(
    fault: Fault, network: Network, remote: redis.Redis
) -> None:
    async with aclosing(wakeups.cancellations()) as heard:
        listening = asyncio.ensure_future(anext(heard))
        await asyncio.to_thread(_until_subscribed, remote)
        fault.begin(network, "redis")
        with pytest.raises(redis.RedisError):
            await asyncio.wait_for(listening, PATIENCE)


def _until_subscribed(remote: redis.Redis) -> None:
    until(lambda: remote.pubsub_numsub(wakeups.CANCELLATIONS)[0][1], what="the subscription")


@pytest.mark.slow
async def test_a_redis_that_hangs_is_noticed_by_its_missing_answer(
    network: Network, remote: redis.Redis, remote_redis: RemoteServer
) -> None:
    """Its system still acknowledges what arrives."""
    async with aclosing(wakeups.cancellations()) as heard:
        listening = asyncio.ensure_future(anext(heard))
        await asyncio.to_thread(_until_subscribed, remote)
        os.kill(remote_redis.pid, signal.SIGSTOP)
        try:
            with pytest.raises(redis.TimeoutError):
                await asyncio.wait_for(listening, PATIENCE)
        finally:
            os.kill(remote_redis.pid, signal.SIGCONT)
