"""Checks of this machine and of the address that people use: disk and certificate."""

from __future__ import annotations

import shutil
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from operations.finding import Finding, Section, bad, ok, warn

GIGABYTE = 1_000_000_000
# The free parts of a disk below which it is short, and about to be full.
LITTLE, ALMOST_NOTHING = 0.15, 0.05
CONNECT_SECONDS = 3.0
SOON, VERY_SOON = timedelta(days=21), timedelta(days=7)
KEPT_SECONDS = 600.0


def check_disk() -> Section:
    """The disk of the data directory. A database on another machine has its own."""
    directory = Path(settings.DATA_DIR)
    while not directory.exists():
        directory = directory.parent
    usage = shutil.disk_usage(directory)
    free, percent = usage.free / usage.total, 100 * usage.free / usage.total
    says = gettext("%(free)s GB are free of %(total)s GB (%(percent)s %%) at %(directory)s.") % {
        "free": f"{usage.free / GIGABYTE:.0f}",
        "total": f"{usage.total / GIGABYTE:.0f}",
        "percent": f"{percent:.0f}",
        "directory": directory,
    }
    action = gettext("Make room, or shorten the retention of projects.")
    make = bad if free < ALMOST_NOTHING else warn
    return Section(gettext("Disk"), (make(says, action) if free < LITTLE else ok(says),))


@dataclass
class _Kept:
    """The last look at the certificate. A look takes seconds if the address is silent."""

    judge: Callable[[], Finding] | None = None
    looked_at: float = 0.0


_kept = _Kept()


def check_certificate() -> Section:
    """The certificate that browsers get at the public address."""
    if _kept.judge is None or time.monotonic() - _kept.looked_at > KEPT_SECONDS:
        _kept.judge, _kept.looked_at = _look(settings.BASE_URL), time.monotonic()
    return Section(gettext("Certificate"), (_kept.judge(),))


def _look(base_url: str) -> Callable[[], Finding]:
    """The finding, as a function that words it in the reader's language."""
    parts = urlsplit(base_url)
    if parts.scheme != "https":
        return partial(_without_tls, base_url)
    host = str(parts.hostname)
    try:
        ends_at = _read_end(host, parts.port or 443)
    except ssl.SSLError as error:
        return partial(_refused, host, getattr(error, "verify_message", "") or error.reason or "TLS failed")
    except OSError as error:
        return partial(_unreached, host, error.strerror or str(error))
    return partial(judge_end, host, ends_at)


def _without_tls(url: str) -> Finding:
    says = gettext("%(url)s has no TLS.") % {"url": url}
    return warn(says, gettext("Put a TLS proxy in front, and set MAKEGOOD_BASE_URL to https://."))


def _refused(host: str, reason: str) -> Finding:
    says = gettext("Browsers refuse the certificate of %(host)s: %(reason)s.") % {"host": host, "reason": reason}
    return bad(says, gettext("Renew it, with its whole chain."))


def _unreached(host: str, reason: str) -> Finding:
    says = gettext("%(host)s can't be reached from this machine (%(reason)s).") % {"host": host, "reason": reason}
    return warn(says, gettext("Look at its certificate from another machine."))


def judge_end(host: str, ends_at: datetime) -> Finding:
    """The finding about a certificate that ends then."""
    left = ends_at - timezone.now()
    says = ngettext(
        "The certificate of %(host)s ends on %(date)s, in %(count)s day.",
        "The certificate of %(host)s ends on %(date)s, in %(count)s days.",
        left.days,
    ) % {"host": host, "date": f"{ends_at:%Y-%m-%d}", "count": left.days}
    if left > SOON:
        return ok(says)
    return (bad if left < VERY_SOON else warn)(says, gettext("Renew it, and see why that didn't happen by itself."))


def _read_end(host: str, port: int) -> datetime:
    """The end of the certificate's validity. Raises ssl.SSLError for one that browsers refuse, and OSError."""
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, port), timeout=CONNECT_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        certificate = secure.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
