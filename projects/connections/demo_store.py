"""Where the demo's shop keeps its orders: at the product itself, for the demo's run only (W04)."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings

PATH = "/demo/shop"
PORTS = {"http": 80, "https": 443}


def store_url() -> str:
    """The store's address, which is where the product is."""
    return f"{settings.BASE_URL}{PATH}"


def demo_targets(server: str) -> list[str]:
    """What the outbound guard opens to requests to `server`: the product's own host and port, if it is the demo's store.

    Nothing else may call there, and nothing at all where there is no demo's run.
    """
    if not settings.DEMO_SHOP or server != store_url().lower():
        return []
    parts = urlsplit(server)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return [f"{host}:{parts.port or PORTS[parts.scheme]}"]
