"""Checks of this machine and of the address that people use: disk and certificate."""

from __future__ import annotations

import shutil
import socket
import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

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
    says = (
        f"{usage.free / GIGABYTE:.0f} GB are free of {usage.total / GIGABYTE:.0f} GB ({percent:.0f} %) at {directory}."
    )
    action = "Make room, or shorten the retention of projects."
    make = bad if free < ALMOST_NOTHING else warn
    return Section("Disk", (make(says, action) if free < LITTLE else ok(says),))


@dataclass
class _Kept:
    """The last look at the certificate. A look takes seconds if the address is silent."""

    finding: Finding | None = None
    looked_at: float = 0.0


_kept = _Kept()


def check_certificate() -> Section:
    """The certificate that browsers get at the public address."""
    if _kept.finding is None or time.monotonic() - _kept.looked_at > KEPT_SECONDS:
        _kept.finding, _kept.looked_at = _look(settings.BASE_URL), time.monotonic()
    return Section("Certificate", (_kept.finding,))


def _look(base_url: str) -> Finding:
    parts = urlsplit(base_url)
    if parts.scheme != "https":
        return warn(f"{base_url} has no TLS.", "Put a TLS proxy in front, and set MAKEGOOD_BASE_URL to https://.")
    host = str(parts.hostname)
    try:
        ends_at = _read_end(host, parts.port or 443)
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason or "TLS failed"
        return bad(f"Browsers refuse the certificate of {host}: {reason}.", "Renew it, with its whole chain.")
    except OSError as error:
        text = f"{host} can't be reached from this machine ({error.strerror or error})."
        return warn(text, "Look at its certificate from another machine.")
    return judge_end(host, ends_at)


def judge_end(host: str, ends_at: datetime) -> Finding:
    """The finding about a certificate that ends then."""
    left = ends_at - timezone.now()
    says = f"The certificate of {host} ends on {ends_at:%Y-%m-%d}, in {left.days} days."
    if left > SOON:
        return ok(says)
    return (bad if left < VERY_SOON else warn)(says, "Renew it, and see why that didn't happen by itself.")


def _read_end(host: str, port: int) -> datetime:
    """The end of the certificate's validity. Raises ssl.SSLError for one that browsers refuse, and OSError."""
    context = ssl.create_default_context()
    with (
        socket.create_connection((host, port), timeout=CONNECT_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        certificate = secure.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
