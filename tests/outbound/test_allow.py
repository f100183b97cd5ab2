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
def test_allowed_target_passes(entry: str, url: str) -> None:
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
def test_what_is_beside_the_entry_stays_blocked(entry: str, url: str) -> None:
    with pytest.raises(BlockedAddress):
        Guard([entry]).check_url(url)


async def test_allowed_name_may_point_inside(resolver_of: Callable[..., Resolver]) -> None:
    guard = Guard(["crm.internal"], resolver=resolver_of(["10.0.0.5"]))
    assert await guard.resolve("crm.internal", 443) == ["10.0.0.5"]


async def test_other_name_may_not_point_inside(resolver_of: Callable[..., Resolver]) -> None:
    with pytest.raises(BlockedAddress):
        await Guard(["crm.internal"], resolver=resolver_of(["10.0.0.5"])).resolve("crm.internal.example", 443)


async def test_allowed_range_covers_names_that_point_there(resolver_of: Callable[..., Resolver]) -> None:
    guard = Guard(["10.0.0.0/24"], resolver=resolver_of(["10.0.0.5", "10.0.1.5"]))
    with pytest.raises(BlockedAddress, match=r"10\.0\.1\.5"):
        await guard.resolve("crm.example", 443)


async def test_mapped_form_of_an_allowed_address_is_the_address(resolver_of: Callable[..., Resolver]) -> None:
    guard = Guard(["10.0.0.5"], resolver=resolver_of(["::ffff:10.0.0.5"]))
    assert await guard.resolve("crm.example", 443) == ["10.0.0.5"]


@pytest.mark.parametrize("entry", ["10.0.0.0/33", "http://x/", "a b", "host:port", "[::1", "10.0.0.1/x"])
def test_entry_of_no_clear_form_is_refused(entry: str) -> None:
    with pytest.raises((ValueError, BlockedAddress)):
        Guard([entry])
