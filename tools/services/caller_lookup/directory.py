"""Client for the business's caller directory: `GET {client_lookup_url}?phone=…`."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_plus, urlsplit

from outbound.errors import BlockedAddress, InvalidRequest, OutboundError
from outbound.guard import Guard, Response
from projects.connections.integrations import Connection
from projects.connections.settings.client_lookup import ClientLookupSettings
from tools.engine.execution.webhook import reply_of

DEADLINE_S = 5.0
PARAMETER = "phone"
LONGEST_TEXT = 4_000
CUT = " … [cut]"
# The number is unknown, which is not an error.
UNKNOWN_CALLER = frozenset({204, 404})


class DirectoryFailed(Exception):
    """The endpoint did not return text; the message says why, for staff."""


class Directory:
    """Client for a project's endpoint."""

    def __init__(self, connection: Connection, *, guard: Guard) -> None:
        if not isinstance(connection.settings, ClientLookupSettings):
            raise TypeError("This connection is no look-up of callers.")
        self._settings = connection.settings
        self._secret = connection.secret
        self._guard = guard

    def request_url(self, phone: str) -> str:
        """Return the URL with the encoded number in its query. Other parameters are kept unchanged."""
        parts = urlsplit(self._settings.url)
        others = [pair for pair in parts.query.split("&") if pair and _name(pair) != PARAMETER]
        return parts._replace(query="&".join([*others, f"{PARAMETER}={quote(phone, safe='')}"])).geturl()

    def shown_url(self, phone: str) -> str:
        """Return the URL for the ledger, without other parameters, because they may hold the business's keys."""
        return f"{self._settings.url.partition('?')[0]}?{PARAMETER}={quote(phone, safe='')}"

    async def find(self, phone: str) -> str:
        """Return what is known of the caller, up to 4,000 characters; "" if nothing is. Takes up to five seconds.

        Raises DirectoryFailed.
        """
        try:
            self._settings.check_server(self._guard)
            answer = await self._guard.request(
                "GET", self.request_url(phone), headers=self._headers(), deadline_s=DEADLINE_S
            )
        except (BlockedAddress, InvalidRequest) as error:
            raise DirectoryFailed(str(error)) from None
        except OutboundError as error:
            raise DirectoryFailed(f"The caller lookup couldn't be reached: {error}") from None
        return self._text(answer)

    def _headers(self) -> dict[str, str]:
        secret = {self._settings.header_name: self._secret} if self._secret else {}
        return {"Accept": "text/plain, application/json;q=0.9, */*;q=0.1", **secret}

    def _text(self, answer: Response) -> str:
        if answer.status in UNKNOWN_CALLER:
            return ""
        if not 200 <= answer.status < 300:
            raise DirectoryFailed(f"The caller lookup responded with {answer.status}.")
        if _is_binary(answer):
            raise DirectoryFailed("The caller lookup did not return text.")
        text = reply_of(answer.body, hidden=[self._secret]).text
        return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - len(CUT)] + CUT


def _name(pair: str) -> str:
    return unquote_plus(pair.partition("=")[0])


def _is_binary(answer: Response) -> bool:
    """Return True if the body is not UTF-8 text. A truncated body may end within a character."""
    body = answer.body
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        if not answer.truncated or len(body) - error.start > 3:
            return True
        text = body[: error.start].decode()
    return re.search(r"[\x00-\x08\x0e-\x1f]", text) is not None
