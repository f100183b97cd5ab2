"""Strict URL parsing. A URL that two parsers could read differently is rejected."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import SplitResult, urlsplit

import idna

from outbound.addresses import Address, looks_like_ipv4, parse_ipv4
from outbound.errors import BlockedAddress

LONGEST_URL = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}
LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
HOST_NAME = re.compile(rf"{LABEL}(?:\.{LABEL})*")


@dataclass(frozen=True)
class Target:
    """A parsed URL. `host` is canonical (lower case, ASCII, no brackets); `path` includes the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def parse_target(url: str) -> Target:
    """Parse an http or https URL. Raises BlockedAddress."""
    if len(url) > LONGEST_URL:
        raise BlockedAddress(f"The URL is longer than {LONGEST_URL} characters.", reason="bad_url")
    if "\\" in url or any(character.isspace() or not character.isprintable() for character in url):
        raise BlockedAddress("The URL contains a space, a backslash or a control character.", reason="bad_url")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BlockedAddress("This is not a valid URL.", reason="bad_url") from None
    _check_parts(parts)
    host = canonical_host(_bare_host(parts))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, DEFAULT_PORTS[parts.scheme] if port is None else port, path)


def canonical_host(host: str) -> str:
    """Return the name in lower-case ASCII, or a literal address in its canonical form.

    Raises BlockedAddress.
    """
    if (literal := literal_address(host)) is not None:
        return str(literal)
    return _normalized_name(host)


def literal_address(host: str) -> Address | None:
    """Return the address if the host is one in any form that a resolver accepts, or None for a name.

    Raises BlockedAddress.
    """
    try:
        if ":" in host:
            # A zone ("fe80::1%eth0") names a network interface of this machine
            return IPv6Address(host) if "%" not in host else _reject_host()
        plain = _normalized_name(host)
        return parse_ipv4(plain) if looks_like_ipv4(plain) else None
    except ValueError:
        return _reject_host()


def _reject_host() -> Address | None:
    raise BlockedAddress("The URL's host is not a valid name or address.", reason="bad_host") from None


def _normalized_name(host: str) -> str:
    """The name as a resolver sees it: NFKC-normalized, lower case, internationalized names encoded."""
    name = unicodedata.normalize("NFKC", host).replace("\u3002", ".").lower().removesuffix(".")
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except idna.IDNAError:
            _reject_host()
    if len(name) > 253 or not HOST_NAME.fullmatch(name):
        _reject_host()
    return name


def _check_parts(parts: SplitResult) -> None:
    if parts.scheme not in DEFAULT_PORTS:
        raise BlockedAddress("The URL must begin with http:// or https://.", reason="bad_scheme")
    if "@" in parts.netloc:
        raise BlockedAddress("The URL contains a user name or password. Put secrets in a header.", reason="userinfo")


def _bare_host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    # Brackets must enclose an IPv6 address, and nothing else
    has_brackets = re.fullmatch(r"\[[^\]]*\](:\d*)?", parts.netloc) is not None
    if has_brackets != (":" in host):
        _reject_host()
    return host
