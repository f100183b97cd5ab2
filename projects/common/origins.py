"""The addresses of pages, as browsers name them: scheme, host and port, and nothing after it."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

import idna

HOST = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
IPV6 = re.compile(r"\[[0-9a-f:.]{2,45}\]")
USUAL = {"http": 80, "https": 443}
LONGEST = 255


class NoOrigin(ValueError):
    """This is not the address of a site; the message says what to write."""


def origin_of(typed: str) -> str:
    """What was typed as a browser would name it: `https://Shop.Example:443/` is `https://shop.example`. Raises NoOrigin."""
    text = typed.strip()
    if "*" in text:
        raise NoOrigin("A * would let in pages that you don't know; write each site, like https://shop.example.")
    if "://" not in text:
        raise NoOrigin(f"“{text[:80]}” doesn't say how it is reached; write it with https:// in front.")
    parts = _split(text)
    if parts.scheme not in USUAL:
        raise NoOrigin(f"“{parts.scheme[:20]}:” is no site; write an address that begins with https:// or http://.")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise NoOrigin(f"“{text[:80]}” is more than a site; end it after the host: {parts.scheme}://{_host_of(parts)}.")
    return _named(parts)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise NoOrigin(f"“{text[:80]}” can't be read as an address; write it like https://shop.example.") from error
    return parts


def _host_of(parts: SplitResult) -> str:
    host = (parts.netloc.rpartition("@")[2]).lower()
    return host or "shop.example"


def _named(parts: SplitResult) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else _ascii(parts.hostname or "")
    if not (HOST.fullmatch(host) or IPV6.fullmatch(host)):
        raise NoOrigin(f"“{host[:80]}” is no host's name; write it like https://shop.example.")
    port = "" if parts.port in (None, USUAL[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def _ascii(host: str) -> str:
    """A name in other letters as a browser spells it: `straße` is not `strasse`, which may be somebody else's."""
    try:
        mapped = idna.uts46_remap(host, std3_rules=False, transitional=False)
        return ".".join(one if one.isascii() else f"xn--{one.encode('punycode').decode()}" for one in mapped.split("."))
    except UnicodeError as error:
        raise NoOrigin(f"“{host[:80]}” is no host's name; write it like https://shop.example.") from error
