"""Web origins: scheme, host and port, in the form browsers send."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

import idna
from django.utils.translation import gettext

HOST = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*")
IPV6 = re.compile(r"\[[0-9a-f:.]{2,45}\]")
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 255


class InvalidOrigin(ValueError):
    """Not a valid origin; the message says what to enter."""


def origin_of(typed: str) -> str:
    """Normalize an entered address to an origin: `https://Shop.Example:443/` becomes `https://shop.example`. Raises
    NoOrigin.
    """
    text = typed.strip()
    if "*" in text:
        raise InvalidOrigin(gettext("Wildcards aren't allowed. Enter each site, like https://shop.example."))
    if "://" not in text:
        raise InvalidOrigin(gettext("“%(value)s” has no scheme. Put https:// in front of it.") % {"value": text[:80]})
    parts = _split(text)
    if parts.scheme not in DEFAULT_PORTS:
        raise InvalidOrigin(
            gettext("“%(value)s:” isn't supported. Enter an address that begins with https:// or http://.")
            % {"value": parts.scheme[:20]}
        )
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username is not None:
        raise InvalidOrigin(
            gettext("“%(value)s” contains more than a site. Use %(scheme)s://%(parts)s.")
            % {"value": text[:80], "scheme": parts.scheme, "parts": _host_of(parts)}
        )
    return _normalize(parts)


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise InvalidOrigin(
            gettext("“%(value)s” isn't a valid address. Enter one like https://shop.example.") % {"value": text[:80]}
        ) from error
    return parts


def _host_of(parts: SplitResult) -> str:
    host = (parts.netloc.rpartition("@")[2]).lower()
    return host or "shop.example"


def _normalize(parts: SplitResult) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else _ascii(parts.hostname or "")
    if not (HOST.fullmatch(host) or IPV6.fullmatch(host)):
        raise InvalidOrigin(
            gettext("“%(value)s” isn't a valid host name. Enter an address like https://shop.example.")
            % {"value": host[:80]}
        )
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def _ascii(host: str) -> str:
    """An internationalized name in punycode, as browsers encode it: `straße` is not `strasse`, which may have another
    owner.
    """
    try:
        mapped = idna.uts46_remap(host, std3_rules=False, transitional=False)
        return ".".join(one if one.isascii() else f"xn--{one.encode('punycode').decode()}" for one in mapped.split("."))
    except UnicodeError as error:
        raise InvalidOrigin(
            gettext("“%(value)s” isn't a valid host name. Enter an address like https://shop.example.")
            % {"value": host[:80]}
        ) from error
