"""Addresses that must never be called, in every notation."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

PUBLIC = "93.184.216.34"

DENIED = (
    # this network, private, shared, loopback, link-local
    "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.1.2.3", "10.255.255.255", "100.64.0.1", "100.127.255.254",
    "127.0.0.1", "127.0.0.2", "127.255.255.254", "169.254.0.1", "169.254.169.254", "169.254.170.2",
    "172.16.0.1", "172.17.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
    # protocol assignments, documentation, benchmarks, relays, multicast, reserved, broadcast
    "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.7",
    "203.0.113.7", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    # metadata and host services of clouds behind public-looking addresses
    "168.63.129.16", "100.100.100.200",
    # IPv6: unspecified, loopback, mapped, compatible, NAT64, discard, Teredo, ORCHID, documentation, 6to4, SRv6
    "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::a9fe:a9fe",
    "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "100::1",
    "2001::1", "2001:0:7f00:1::", "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1",
    "2002:7f00:1::", "2002:a9fe:a9fe::", "2002:a00:1::1", "3fff::1", "3fff:fff::1", "5f00::1",
    # local, site-local, link-local, metadata over IPv6, multicast, the unassigned rest
    "fc00::1", "fd00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "ff0e::1", "4000::1", "8000::1", "c000::1",
)  # fmt: skip


def in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def other_form(address: str) -> str:
    """The same address as another system's resolver might return it."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return f"::ffff:{address}"
    assert isinstance(parsed, IPv6Address)
    return parsed.exploded.upper()


# Hosts that resolvers accept as addresses, and that parsers read differently
ODD_HOSTS = (
    "127.1", "127.0.1", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "2130706433", "017700000001", "0177.0.0.1", "0177.1",
    "127.0.0.1.", "0", "0x0", "00.0.0.0", "10.1", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518",
    "0xa9.254.0xa9fe", "192.168.257", "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "１２７.1", "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:7f00:1]", "[::FFFF:127.0.0.1]", "[0000::1]", "[::ffff:a9fe:a9fe]",
    "localhost", "LOCALHOST", "localhost.", "foo.localhost", "ⓛocalhost", "ｌｏｃａｌｈｏｓｔ",
)  # fmt: skip

BAD_URLS = (
    "", "example.com", "//example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "javascript:1",
    "http://", "http:///path", "http://user@example.com/", "http://user:pw@example.com/", "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/", "http://example.com\\.evil.com/", "http://exa mple.com/", "http://example.com/\r\nX: y",
    "http://example.com/\n", "http://example.com\t/", "http://exam\u200bple.com/", "http://example.com/\x00",
    "http://{{host}}/", "http://%31%32%37.0.0.1/", "http://ex%61mple.com/", "http://[fe80::1%25eth0]/", "http://[::1/",
    "http://::1/", "http://[127.0.0.1]/", "http://[::1].example.com/", "http://256.1.1.1/", "http://1.2.3.4.5/",
    "http://127.0.0.1.0x/", "http://09.1.1.1/", "http://0x7g.1/", "http://4294967296/", "http://1.2.3.256/",
    "http://1.256.3.4/", "http://1..2/", "http://example..com/",
    "http://-example.com/", "http://.example.com/", "http://" + "a" * 64 + ".com/", "http://" + "a." * 127 + "com/",
    "http://example.com:99999/", "http://example.com:-1/", "http://example.com:8o/", "http://example.com:0/",
    "http://xn--/", "http://" + "x" * 3000 + ".com/", "http://example.com/" + "x" * 3000, "http://example.com/a\\b",
)  # fmt: skip
