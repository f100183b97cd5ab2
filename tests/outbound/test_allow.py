"""The operator's allow-list."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from outbound.errors import BlockedAddress
from outbound.guard import Guard, Resolver


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080/"),
        ("127.0.0.1", "http://127.1:8080/"),
        ("127.0.0.1:5432", "http://127.0.0.1:5432/"),
        ("10.0.0.0/8", "http://10.9.8.7/"),
        ("::1", "http://[::1]:8080/"),
        ("[::1]:25", "http://[::1]:25/"),
        ("10.1.2.3/8", "http://10.9.8.7/"),
        ("fd00::/8", "http://[fd12::1]/"),
        ("localhost", "http://LOCALHOST:8080/"),
        ("localhost:9000", "http://localhost:9000/"),
        ("Mail.Internal:25", "http://mail.internal:25/"),
    ],
)
def test_an_allowed_target_passes(entry: str, url: str) -> None:
    Guard([f" {entry} "]).check_url(url)


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("127.0.0.1", "http://127.0.0.2:8080/"),
        ("127.0.0.1", "http://127.0.0.1:6379/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8081/"),
        ("10.0.0.0/8", "http://11.0.0.1:22/"),
        ("10.0.0.0/8", "http://[fd00::1]/"),
        ("localhost:9000", "http://localhost:9001/"),
        ("localhost", "http://localhost:6379/"),
        ("localhost", "http://127.0.0.1:8080/"),
        ("example.com", "http://192.168.0.1/"),
    ],
)
def test_a_target_outside_the_entry_stays_blocked(entry: str, url: str) -> None:
    with pytest.raises(BlockedAddress):
        Guard([entry]).check_url(url)


async def test_an_allowed_name_may_resolve_to_a_private_address(resolver_of: Callable[..., Resolver]) -> None:
    guard = Guard(["crm.internal"], resolver=resolver_of(["10.0.0.5"]))
    assert await guard.resolve("crm.internal", 443) == ["10.0.0.5"]


async def test_another_name_may_not_resolve_to_a_private_address(resolver_of: Callable[..., Resolver]) -> None:
    with pytest.raises(BlockedAddress):
        await Guard(["crm.internal"], resolver=resolver_of(["10.0.0.5"])).resolve("crm.internal.example", 443)


async def test_an_allowed_range_covers_the_names_that_resolve_into_it(resolver_of: Callable[..., Resolver]) -> None:
    guard = Guard(["10.0.0.0/24"], resolver=resolver_of(["10.0.0.5", "10.0.1.5"]))
    with pytest.raises(BlockedAddress, match=r"10\.0\.1\.5"):
        await guard.resolve("crm.example", 443)


async def test_the_mapped_form_of_an_allowed_address_is_allowed(resolver_of: Callable[..., Resolver]) -> None:
    guard = Guard(["10.0.0.5"], resolver=resolver_of(["::ffff:10.0.0.5"]))
    assert await guard.resolve("crm.example", 443) == ["10.0.0.5"]


@pytest.mark.parametrize("entry", ["10.0.0.0/33", "http://x/", "a b", "host:port", "[::1", "10.0.0.1/x"])
def test_an_ambiguous_entry_is_rejected(entry: str) -> None:
    with pytest.raises((ValueError, BlockedAddress)):
        Guard([entry])
