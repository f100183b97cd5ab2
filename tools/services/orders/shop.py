"""Client for the WooCommerce REST API, version 3: the orders of one customer."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from outbound.errors import OutboundError
from outbound.guard import Guard, Response
from projects.connections.integrations import Connection
from projects.connections.settings.woocommerce import WooCommerceSettings

# From name resolution to the last byte.
DEADLINE_S = 5.0
MOST_BYTES = 2 * 1024 * 1024
PATH = "/wp-json/wc/v3/orders"
# Requested fields: no addresses, no payment data.
FIELDS = "id,number,status,currency,total,date_created,date_created_gmt,customer_id,line_items,meta_data"
HINTS = {
    403: "The request was blocked before it reached the shop (403). Check its firewall and security plugins.",
    404: "The shop has no REST API at this address (404). Check the address, and that WordPress’s permalinks aren’t set to Plain.",
    429: "The shop is limiting requests (429). Try again later.",
}


class ShopFailed(Exception):
    """The shop did not return orders; the message says why, for staff."""


class SignInRefused(ShopFailed):
    """The shop rejected the consumer key or secret. Connect the shop again."""


class Shop:
    """Client for a project's shop. No response is cached."""

    def __init__(self, connection: Connection, *, guard: Guard) -> None:
        if not isinstance(connection.settings, WooCommerceSettings):
            raise TypeError("This connection is no shop.")
        self._settings = connection.settings
        self._secret = connection.secret
        self._guard = guard

    def request_url(self, query: Mapping[str, str]) -> str:
        """Return the URL of a request. It contains no secret."""
        return f"{self._settings.store_url}{PATH}?{urlencode({**query, '_fields': FIELDS})}"

    async def fetch(self, query: Mapping[str, str]) -> Any:
        """Return the parsed response, within five seconds. Raises ShopFailed."""
        url = self.request_url(query)
        try:
            self._settings.check_server(self._guard)
            answer = await self._guard.request(
                "GET", url, headers=self._headers(), deadline_s=DEADLINE_S, max_bytes=MOST_BYTES
            )
        except OutboundError as error:
            raise ShopFailed(f"The shop couldn't be reached: {error}") from None
        # Parsing a large response takes some milliseconds, which would block the event loop.
        return await asyncio.to_thread(_document, answer)

    def _headers(self) -> dict[str, str]:
        credentials = b64encode(f"{self._settings.consumer_key}:{self._secret}".encode()).decode()
        return {"Authorization": f"Basic {credentials}", "Accept": "application/json"}


def _document(answer: Response) -> Any:
    """Raises ShopFailed if the response does not hold orders."""
    if answer.status == 401:
        raise SignInRefused(SignInRefused.__doc__)
    if 300 <= answer.status < 400:
        raise ShopFailed("The shop redirects to another address. Connect that one.")
    if not 200 <= answer.status < 300:
        raise ShopFailed(HINTS.get(answer.status, f"The shop responded with {answer.status}."))
    if answer.truncated:
        raise ShopFailed("The shop's response is larger than 2 MB.")
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise ShopFailed("The shop's response is not JSON. Check the address.") from None
