"""The providers that can call us back, at the address of this installation."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from projects.connections.offline_messengers import offline_targets

LOCAL_DOMAINS = ("localhost", "local", "internal", "test")


def can_call_back(server: str) -> bool:
    """True if a provider's server can reach MAKEGOOD_BASE_URL: a public address, or that of the offline providers' own
    installation.
    """
    return _is_public(urlsplit(settings.BASE_URL).hostname or "") or bool(offline_targets(server))


def _is_public(host: str) -> bool:
    """False for a name or an address of this machine or of a private network."""
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host and host.rstrip(".").rpartition(".")[2] not in LOCAL_DOMAINS
