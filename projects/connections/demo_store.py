"""The demo shop's WooCommerce endpoint, served by the product itself while the demo runs."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

PATH = "/demo/shop"
PORTS = {"http": 80, "https": 443}


def store_url() -> str:
    """The store's URL, at the product's own address."""
    return f"{settings.BASE_URL}{PATH}"


def demo_targets(server: str) -> list[str]:
    """The outbound guard's exception for requests to `server`: our own host and port if it is the demo store.

    Empty for any other server, and whenever the demo shop is off.
    """
    if not settings.DEMO_SHOP or server != store_url().lower():
        return []
    parts = urlsplit(server)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return [f"{host}:{parts.port or PORTS[parts.scheme]}"]
