"""Six kinds of pressure on a running product, most of them by one tenant."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial

import aiohttp
import psycopg
from aiohttp import web

from bench.pressing import BUSINESS
from bench.product import ANSWERS, Product
from bench.silent_names import SILENT

WORD_EVERY_S = 5.0
PASSWORD = "a-long-enough-pass-phrase"  # noqa: S105 - of accounts that end with the product
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')

_numbers = itertools.count(1)
_pages = itertools.cycle(("/api/v1/schema/", "/account/login/", "/account/signup/", "/healthz"))

Pressure = Callable[[Product], AbstractAsyncContextManager[None]]


class SlowServer:
    """A model that answers one word every five seconds, and a webhook that answers nothing."""

    def __init__(self) -> None:
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[SlowServer]:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_route("*", "/{path:.*}", self._say_nothing)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        if not (await request.json()).get("stream"):
            return await self._say_nothing(request)
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        with suppress(ConnectionError):
            while True:
                delta = {"choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}]}
                await answer.write(f"data: {json.dumps(delta)}\n\n".encode())
                await asyncio.sleep(WORD_EVERY_S)
        return answer

    async def _say_nothing(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(3600)
        return web.Response()


@asynccontextmanager
async def nobody(product: Product) -> AsyncIterator[None]:
    """No pressure."""
    yield


@asynccontextmanager
async def slow_model(product: Product) -> AsyncIterator[None]:
    async with SlowServer().running() as slow, _tenant(product, "messages", count=400, model=f"{slow.url}/v1"):
        yield


@asynccontextmanager
async def many_messages(product: Product) -> AsyncIterator[None]:
    async with _tenant(product, "messages", count=2000):
        yield


@asynccontextmanager
async def slow_webhooks(product: Product) -> AsyncIterator[None]:
    async with SlowServer().running() as slow, _tenant(product, "webhooks", count=600, url=f"{slow.url}/hook"):
        yield


@asynccontextmanager
async def silent_names(product: Product) -> AsyncIterator[None]:
    async with _tenant(product, "webhooks", count=600, url=f"https://n{{number}}{SILENT}/hook"):
        yield


@asynccontextmanager
async def sign_ups(product: Product) -> AsyncIterator[None]:
    async with _clients(24, partial(_sign_up, product)):
        yield


@asynccontextmanager
async def anonymous_pages(product: Product) -> AsyncIterator[None]:
    async with _clients(12, partial(_read_page, product)):
        yield


PRESSURES: dict[str, Pressure] = {
    "slow model": slow_model,
    "2,000 messages": many_messages,
    "slow webhooks": slow_webhooks,
    "sign-ups": sign_ups,
    "anonymous pages": anonymous_pages,
    "silent names": silent_names,
}


def script_answers(product: Product) -> None:
    """Fixed answers for the pressing tenant, so that the model's own work doesn't press as well."""
    fixed = [{"skill": skill, "match": BUSINESS, "times": 0, **answer} for skill, answer in ANSWERS.items()]
    product.tell_model("/script", fixed)


@asynccontextmanager
async def _tenant(product: Product, work: str, *, count: int, **options: str) -> AsyncIterator[None]:
    """A tenant that is given work, which is withdrawn at the end."""
    more = [word for name, value in options.items() for word in (f"--{name}", value)]
    command = (sys.executable, "-m", "bench.pressing", work, "--count", str(count), *more)
    pressing = await asyncio.create_subprocess_exec(*command, env=product.env, stdout=asyncio.subprocess.PIPE)
    assert pressing.stdout is not None
    organization = (await pressing.stdout.readline()).decode().strip()
    if not organization:
        raise RuntimeError("The pressing tenant could not be made.")
    try:
        yield
    finally:
        if pressing.returncode is None:
            pressing.terminate()
        await pressing.wait()
        if not await asyncio.to_thread(_withdraw, product, organization):
            print("The pressing tenant's work ended before the measurement did.")


def _withdraw(product: Product, organization: str) -> int:
    """End the tenant's jobs. Returns their number."""
    with psycopg.connect(product.env["OPS_DATABASE_URL"], autocommit=True) as connection:
        ended = connection.execute(
            "update jobs_job set state = 'superseded', finished_at = now() "
            "where organization_id = %s and state in ('queued', 'running')",
            [organization],
        )
        return ended.rowcount


@asynccontextmanager
async def _clients(count: int, visit: Callable[[aiohttp.ClientSession], Awaitable[int]]) -> AsyncIterator[None]:
    """Clients from several address ranges that repeat a visit until the end. Prints how often each status came."""
    statuses: Counter[int] = Counter()

    async def repeat(number: int) -> None:
        connector = aiohttp.TCPConnector(local_addr=(f"127.0.{20 + number}.1", 0))
        # Without `unsafe`, a jar keeps no cookies of an address without a name
        async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            while True:
                with suppress(aiohttp.ClientError, TimeoutError):
                    statuses[await visit(session)] += 1
                await asyncio.sleep(0)

    repeating = [asyncio.create_task(repeat(number)) for number in range(count)]
    try:
        yield
    finally:
        for task in repeating:
            task.cancel()
        await asyncio.gather(*repeating, return_exceptions=True)
        print("answered:", ", ".join(f"{times} x {status}" for status, times in sorted(statuses.items())), flush=True)


async def _sign_up(product: Product, session: aiohttp.ClientSession) -> int:
    session.cookie_jar.clear()
    url = f"{product.base_url}/account/signup/"
    async with session.get(url) as page:
        token = TOKEN.search(await page.text())
    form = {"email": f"new{next(_numbers)}@pressing.example", "password1": PASSWORD}
    if token is not None:
        form["csrfmiddlewaretoken"] = token[1]
    async with session.post(url, data=form, headers={"Referer": url}, allow_redirects=False) as answer:
        await answer.read()
        return answer.status


async def _read_page(product: Product, session: aiohttp.ClientSession) -> int:
    async with session.get(f"{product.base_url}{next(_pages)}") as answer:
        await answer.read()
        return answer.status
