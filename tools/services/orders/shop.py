"""The REST API of WooCommerce, version 3: the orders of one customer (W04)."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from outbound.errors import OutboundError
from outbound.guard import Guard, Response
from projects.connections.integration_settings import WooCommerceSettings
from projects.connections.integrations import Connection

# From the first look-up of the name to the last byte of the answer.
DEADLINE_S = 5.0
MOST_BYTES = 2 * 1024 * 1024
PATH = "/wp-json/wc/v3/orders"
# What is asked for of an order: no addresses, no payment.
FIELDS = "id,number,status,currency,total,date_created,date_created_gmt,customer_id,line_items,meta_data"
HINTS = {
    403: "Something before the shop refused the request (403); a firewall or a security plugin may stand in between.",
    404: "The shop has no REST API there (404). Check the address, and that WordPress’s permalinks aren’t set to Plain.",
    429: "The shop takes no more just now (429).",
}


class ShopFailed(Exception):
    """The shop didn't answer with orders; the text says why, for staff."""


class SignInRefused(ShopFailed):
    """The shop refuses the consumer key or its secret; connect it again."""


class Shop:
    """A project's shop. Nothing is kept of an answer but what `orders` gives back."""

    def __init__(self, connection: Connection, *, guard: Guard) -> None:
        if not isinstance(connection.settings, WooCommerceSettings):
            raise TypeError("This connection is no shop.")
        self._settings = connection.settings
        self._secret = connection.secret
        self._guard = guard

    def url_of(self, query: Mapping[str, str]) -> str:
        """The address of a request. It carries no secret."""
        return f"{self._settings.store_url}{PATH}?{urlencode({**query, '_fields': FIELDS})}"

    async def fetch(self, query: Mapping[str, str]) -> Any:
        """The document that the shop answers with, within five seconds. Raises ShopFailed."""
        url = self.url_of(query)
        try:
            self._settings.check_server(self._guard)
            answer = await self._guard.request(
                "GET", url, headers=self._headers(), deadline_s=DEADLINE_S, max_bytes=MOST_BYTES
            )
        except OutboundError as error:
            raise ShopFailed(f"The shop couldn't be asked: {error}") from None
        # Reading what a shop may send of orders takes some milliseconds, in which others' replies would stand still.
        return await asyncio.to_thread(_document, answer)

    def _headers(self) -> dict[str, str]:
        credentials = b64encode(f"{self._settings.consumer_key}:{self._secret}".encode()).decode()
        return {"Authorization": f"Basic {credentials}", "Accept": "application/json"}


def _document(answer: Response) -> Any:
    """Raises ShopFailed for anything but orders."""
    if answer.status == 401:
        raise SignInRefused(SignInRefused.__doc__)
    if 300 <= answer.status < 400:
        raise ShopFailed(
            "The shop sends us to another address; connect it with the one that its pages have in the end."
        )
    if not 200 <= answer.status < 300:
        raise ShopFailed(HINTS.get(answer.status, f"The shop answered {answer.status}."))
    if answer.truncated:
        raise ShopFailed("The shop's answer is longer than 2 MB.")
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise ShopFailed("The shop's answer is no JSON; something else may answer at this address.") from None
