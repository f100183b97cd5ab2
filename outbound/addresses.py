"""Public and private IP addresses.

`ipaddress.is_global` isn't strict enough: it accepts NAT64, 6to4, multicast and the metadata services of several
clouds.
"""

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
        "168.63.129.16/32",  # Azure's host services, on an address that looks public
    )
)
PUBLIC_V6 = IPv6Network("2000::/3")
# Teredo and other protocol blocks, documentation, 6to4, documentation (RFC 9637)
DENIED_V6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))


def unwrap_ipv4(address: Address) -> Address:
    """Return the IPv4 address inside an IPv4-mapped IPv6 address (`::ffff:127.0.0.1`), or any other address unchanged."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def is_public(address: Address) -> bool:
    """True if the address is on the public internet."""
    address = unwrap_ipv4(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in DENIED_V4)
    return address in PUBLIC_V6 and not any(address in network for network in DENIED_V6)


def looks_like_ipv4(host: str) -> bool:
    """True if a resolver would read the host as a number: its last label is decimal, octal or hexadecimal."""
    return re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]) is not None


def parse_ipv4(host: str) -> IPv4Address:
    """Parse an IPv4 address in any form that `inet_aton` accepts: 127.1, 0x7f.1, 2130706433, 0177.0.0.1.

    Raises ValueError.
    """
    parts = [_number(part) for part in host.split(".")]
    *leading, last = parts
    if len(leading) > 3 or any(part > 255 for part in leading):
        raise ValueError("not an IPv4 address")
    bits = 8 * (4 - len(leading))
    if last >= 1 << bits:
        raise ValueError("not an IPv4 address")
    value = 0
    for part in leading:
        value = value << 8 | part
    return IPv4Address(value << bits | last)


def _number(part: str) -> int:
    if re.fullmatch(r"0x[0-9a-f]*", part):
        return int(part[2:] or "0", 16)
    if re.fullmatch(r"0[0-7]*", part):
        return int(part, 8)
    if re.fullmatch(r"[1-9][0-9]*", part) and len(part) <= 10:
        return int(part)
    raise ValueError("not an IPv4 address")
