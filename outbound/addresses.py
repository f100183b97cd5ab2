"""Which addresses belong to the public internet. `ipaddress.is_global` isn't enough: it lets NAT64, 6to4, multicast
and several clouds' metadata services pass."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

DENIED_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "168.63.129.16/32",  # a cloud's own services behind a public-looking address
    )
)
PUBLIC_V6 = IPv6Network("2000::/3")
# Teredo and other protocol blocks, documentation, 6to4, documentation again
DENIED_V6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))


def unwrapped(address: Address) -> Address:
    """The IPv4 address inside an IPv4-mapped IPv6 one (::ffff:127.0.0.1); any other as it is."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def is_public(address: Address) -> bool:
    """Whether the address belongs to a host of the public internet."""
    address = unwrapped(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in DENIED_V4)
    return address in PUBLIC_V6 and not any(address in network for network in DENIED_V6)


def looks_like_ipv4(host: str) -> bool:
    """Whether a resolver would read the host as a number: its last part is decimal, octal or hexadecimal."""
    return re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]) is not None


def parse_ipv4(host: str) -> IPv4Address:
    """An IPv4 address in any form that inet_aton takes: 127.1, 0x7f.1, 2130706433, 0177.0.0.1. Raises ValueError."""
    parts = [_number(part) for part in host.split(".")]
    *leading, last = parts
    if len(leading) > 3 or any(part > 255 for part in leading):
        raise ValueError("not an IPv4 address")
    room = 8 * (4 - len(leading))
    if last >= 1 << room:
        raise ValueError("not an IPv4 address")
    value = 0
    for part in leading:
        value = value << 8 | part
    return IPv4Address(value << room | last)


def _number(part: str) -> int:
    if re.fullmatch(r"0x[0-9a-f]*", part):
        return int(part[2:] or "0", 16)
    if re.fullmatch(r"0[0-7]*", part):
        return int(part, 8)
    if re.fullmatch(r"[1-9][0-9]*", part) and len(part) <= 10:
        return int(part)
    raise ValueError("not an IPv4 address")
