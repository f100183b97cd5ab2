"""MAKEGOOD_TRUSTED_PROXIES: forwarded addresses count only from a trusted proxy."""

from __future__ import annotations

import asyncio
import logging
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.trusted_proxies import TrustedProxies

PROXY, OUTSIDE = "10.0.0.7", "203.0.113.9"
TRUSTED = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
WARNING = "config.trusted_proxies"


def seen(peer: str, *headers: tuple[str, str], app: Any = None) -> dict[str, Any]:
    """The scope behind the middleware, for a request of this peer."""
    scope: dict[str, Any] = {
        "type": "http",
        "client": (peer, 4711),
        "scheme": "http",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }
    asyncio.run((app or middleware())(scope, None, None))
    return scope


def middleware() -> TrustedProxies:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        return None

    return TrustedProxies(app, networks=TRUSTED)


def client_of(peer: str, *headers: tuple[str, str]) -> str:
    return str(seen(peer, *headers)["client"][0])


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("198.51.100.4", "198.51.100.4"),
        ("198.51.100.4:5060", "198.51.100.4"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]:5060", "2001:db8::1"),
        ("::ffff:198.51.100.4", "198.51.100.4"),
    ],
)
def test_a_trusted_proxy_names_the_client(forwarded: str, client: str) -> None:
    assert client_of(PROXY, ("x-forwarded-for", forwarded)) == client


def test_a_proxy_reached_over_ipv6_is_trusted_by_its_ipv4_range() -> None:
    assert client_of(f"::ffff:{PROXY}", ("x-forwarded-for", "198.51.100.4")) == "198.51.100.4"


def test_an_address_that_the_client_invented_is_not_used() -> None:
    """Each proxy appends what it saw, so only the last untrusted address is true."""
    assert client_of(PROXY, ("x-forwarded-for", "1.1.1.1, 198.51.100.4, 10.0.0.8")) == "198.51.100.4"


def test_a_repeated_header_is_one_list() -> None:
    assert client_of(PROXY, ("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "198.51.100.4")) == "198.51.100.4"


def test_text_that_is_no_address_ends_the_list() -> None:
    assert client_of(PROXY, ("x-forwarded-for", "198.51.100.4, unknown, 10.0.0.8")) == "10.0.0.8"


def test_a_client_inside_the_trusted_network_keeps_its_own_address() -> None:
    assert client_of(PROXY, ("x-forwarded-for", "10.2.3.4")) == "10.2.3.4"


@pytest.mark.parametrize(
    ("forwarded", "scheme"), [("https", "https"), ("HTTPS", "https"), ("http, https", "https"), ("javascript", "http")]
)
def test_a_trusted_proxy_names_the_scheme(forwarded: str, scheme: str) -> None:
    assert seen(PROXY, ("x-forwarded-proto", forwarded))["scheme"] == scheme


def test_a_forwarded_header_from_elsewhere_is_ignored() -> None:
    scope = seen(OUTSIDE, ("x-forwarded-for", "198.51.100.4"), ("x-forwarded-proto", "https"))
    assert (scope["client"], scope["scheme"]) == ((OUTSIDE, 4711), "http")


def test_an_ignored_header_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    app = middleware()
    with caplog.at_level(logging.WARNING, logger=WARNING):
        for number in range(3):
            seen(f"203.0.113.{number}", ("x-forwarded-for", "198.51.100.4"), app=app)
    messages = [record.getMessage() for record in caplog.records if record.name == WARNING]
    assert len(messages) == 1
    assert "203.0.113.0" in messages[0]
    assert "MAKEGOOD_TRUSTED_PROXIES" in messages[0]


def test_no_proxy_is_trusted_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAKEGOOD_TRUSTED_PROXIES", raising=False)
    assert environment.networks("MAKEGOOD_TRUSTED_PROXIES") == []


def test_the_setting_takes_addresses_and_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_TRUSTED_PROXIES", "127.0.0.1, 10.0.0.0/8,fd00::/8")
    assert [str(one) for one in environment.networks("MAKEGOOD_TRUSTED_PROXIES")] == [
        "127.0.0.1/32",
        "10.0.0.0/8",
        "fd00::/8",
    ]


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.0/33", "10.0.0.1/8", "*"])
def test_a_wrong_range_is_refused_at_the_start(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_TRUSTED_PROXIES", value)
    with pytest.raises(ImproperlyConfigured, match="MAKEGOOD_TRUSTED_PROXIES"):
        environment.networks("MAKEGOOD_TRUSTED_PROXIES")
