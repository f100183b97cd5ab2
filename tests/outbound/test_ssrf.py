"""Protection against SSRF: no private address is ever called, in more than 360 cases."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from outbound.errors import BlockedAddress, NotSent
from outbound.guard import Guard, Resolver, system_resolver
from tests.outbound.addresses import BAD_URLS, DENIED, ODD_HOSTS, PUBLIC, in_url, other_form
from tests.outbound.conftest import Trap

ResolverOf = Callable[..., Resolver]
# Answers of the resolver for hooks.example
ANSWERS: dict[str, Callable[[str], list[str]]] = {
    "the only address": lambda address: [address],
    "another form of it": lambda address: [other_form(address)],
    "public first": lambda address: [PUBLIC, address],
    "public last": lambda address: [address, PUBLIC],
    "among many": lambda address: [PUBLIC, "2606:4700::1111", address, "1.1.1.1"],
}


def test_at_least_360_cases_are_tested() -> None:
    assert len(set(DENIED)) == len(DENIED) >= 60
    assert len(DENIED) * (len(ANSWERS) + 3) >= 360


async def outcome_of(request: Awaitable[Any]) -> object:
    """The reason why a request was blocked or not sent, or its answer's status."""
    try:
        return (await request).status
    except (BlockedAddress, NotSent) as refusal:
        return refusal.reason


async def test_a_private_address_is_blocked_on_save_and_on_request(trap: Trap, dialled: list[str]) -> None:
    guard, urls = Guard(), [f"http://{in_url(address)}:{trap.port}/" for address in DENIED]
    for url in urls:
        with pytest.raises(BlockedAddress, match=r"^This address is inside a private network \(.+\)\.$") as saved:
            guard.check_url(url)
        assert saved.value.reason == "private_address", url
    assert {url: await outcome_of(guard.request("POST", url)) for url in urls} == dict.fromkeys(urls, "private_address")
    assert (dialled, trap.connections) == ([], 0)


@pytest.mark.parametrize("answer", ANSWERS)
async def test_a_name_with_a_private_address_is_blocked(
    answer: str, trap: Trap, dialled: list[str], resolver_of: ResolverOf
) -> None:
    url, outcomes = f"http://hooks.example:{trap.port}/", {}
    for address in DENIED:
        guard = Guard(resolver=resolver_of(ANSWERS[answer](address)))
        guard.check_url(url)
        outcomes[address] = await outcome_of(guard.request("POST", url))
    assert outcomes == dict.fromkeys(DENIED, "private_address")
    assert (dialled, trap.connections) == ([], 0)


async def test_a_name_is_not_resolved_again_after_the_check(
    trap: Trap, dialled: list[str], resolver_of: ResolverOf
) -> None:
    """The next answer would be a private address."""
    for address in DENIED:
        resolver = resolver_of([PUBLIC], [address])
        with pytest.raises(NotSent):
            await Guard(resolver=resolver).request("POST", f"http://hooks.example:{trap.port}/")
        assert resolver.calls == 1, address  # type: ignore[attr-defined]
    assert (dialled, trap.connections) == ([PUBLIC] * len(DENIED), 0)


async def test_a_redirect_to_a_private_address_is_not_followed(
    trap: Trap, dialled: list[str], serve: Callable[..., Awaitable[str]]
) -> None:
    left = list(DENIED)

    async def redirects(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        location = f"http://{in_url(left.pop())}:{trap.port}/"
        writer.write(f"HTTP/1.1 307 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    guard, url = Guard(["127.0.0.1"]), await serve(redirects)
    assert [await outcome_of(guard.request("POST", url)) for _ in DENIED] == [307] * len(DENIED)
    assert (left, dialled, trap.connections) == ([], ["127.0.0.1"] * len(DENIED), 0)


@pytest.mark.parametrize("host", ODD_HOSTS)
async def test_an_unusual_notation_of_a_private_address_is_blocked(host: str, trap: Trap, dialled: list[str]) -> None:
    for scheme in ("http", "HTTPS"):
        url = f"{scheme}://{host}:{trap.port}/"
        with pytest.raises(BlockedAddress) as caught:
            Guard().check_url(url)
        assert caught.value.reason == "private_address"
        with pytest.raises(BlockedAddress):
            await Guard().request("GET", url)
    assert (dialled, trap.connections) == ([], 0)


@pytest.mark.parametrize("url", BAD_URLS)
async def test_an_ambiguous_url_is_rejected(url: str, dialled: list[str], resolver_of: ResolverOf) -> None:
    resolver = resolver_of([PUBLIC])
    guard = Guard(resolver=resolver)
    with pytest.raises(BlockedAddress) as caught:
        guard.check_url(url)
    assert caught.value.reason in {"bad_url", "bad_host", "bad_scheme", "bad_port", "userinfo"}
    with pytest.raises(BlockedAddress):
        await guard.request("GET", url)
    assert (dialled, resolver.calls) == ([], 0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("port", [1, 22, 23, 25, 53, 81, 110, 389, 445, 1023, 3306, 5432, 6379, 9200, 11211, 27017])
def test_a_port_of_another_service_is_blocked(port: int) -> None:
    with pytest.raises(BlockedAddress, match=f"Port {port} may not be called") as caught:
        Guard().check_url(f"http://hooks.example:{port}/")
    assert caught.value.reason == "bad_port"


def test_another_protocol_may_use_only_its_own_ports() -> None:
    guard, mail = Guard(), frozenset({25, 587})
    guard.check_server("mail.example", 587, ports=mail)
    with pytest.raises(BlockedAddress, match="Port 22 may not be called"):
        guard.check_server("mail.example", 22, ports=mail)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://hooks.example/a?b=c#d", "https://hooks.example/a?b=c"),
        ("HTTP://Hooks.Example:80", "http://hooks.example/"),
        ("https://hooks.example:8443/x", "https://hooks.example:8443/x"),
        ("http://hooks.example:443/x", "http://hooks.example:443/x"),
        ("https://93.184.216.34/", "https://93.184.216.34/"),
        ("http://0x5DB8D822/", "http://93.184.216.34/"),
        ("http://[2606:4700:0:0::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
        ("https://my_host.example./", "https://my_host.example/"),
    ],
)
def test_a_public_url_is_accepted(url: str, canonical: str) -> None:
    assert Guard().check_url(url).url == canonical


async def test_a_name_without_an_address_is_not_found(resolver_of: ResolverOf) -> None:
    with pytest.raises(NotSent) as caught:
        await Guard(resolver=resolver_of([])).request("GET", "http://hooks.example/")
    assert caught.value.reason == "dns"


async def test_a_nonexistent_name_is_not_found() -> None:
    with pytest.raises(NotSent) as caught:
        await Guard().request("GET", "http://no-such-host.invalid/")
    assert caught.value.reason == "dns"


async def test_slow_lookups_do_not_delay_other_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop resolves the operator's model itself. A tenant's name server may be slow."""
    answered, look_up = threading.Event(), socket.getaddrinfo

    def slowly(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host == "slow.example":
            answered.wait(30)
        return look_up("127.0.0.1", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=2))
    waiting = [asyncio.create_task(system_resolver("slow.example", 443)) for _ in range(8)]
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(10):
            assert await loop.getaddrinfo("model.example", 443)
            assert await system_resolver("hooks.example", 443) == ["127.0.0.1"]
    finally:
        answered.set()
        await asyncio.gather(*waiting)
