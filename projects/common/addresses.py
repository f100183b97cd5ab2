"""Client addresses, as rate limits count them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.http import HttpRequest

# An IPv6 customer has a whole /64. A /24 is the smallest IPv4 range that is routed on its own.
IPV6_PREFIX, IPV4_PREFIX = 64, 24


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """The address in `203.0.113.9`, `203.0.113.9:5060`, `2001:db8::1` or `[2001:db8::1]:5060`; None for other text."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def client_address(request: HttpRequest) -> str:
    """The client's IPv4 address, or the /64 of its IPv6 address."""
    return _network(request, ipv4_prefix=32)


def client_range(request: HttpRequest) -> str:
    """The /24 of the client's IPv4 address, or the /64 of its IPv6 address."""
    return _network(request, ipv4_prefix=IPV4_PREFIX)


def _network(request: HttpRequest, *, ipv4_prefix: int) -> str:
    """The network's first address. Text that is no address, such as a socket's path, is its own network."""
    text = request.META.get("REMOTE_ADDR", "")
    address = parse_address(text)
    if address is None:
        return str(text)
    prefix = ipv4_prefix if address.version == 4 else IPV6_PREFIX
    return str(ip_network(f"{address}/{prefix}", strict=False).network_address)
