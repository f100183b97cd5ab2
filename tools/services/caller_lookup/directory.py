"""The business's own endpoint that knows its callers: `GET {client_lookup_url}?phone=…` (D17)."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_plus, urlsplit

from outbound.errors import BlockedAddress, InvalidRequest, OutboundError
from outbound.guard import Guard, Response
from projects.connections.integration_settings import ClientLookupSettings
from projects.connections.integrations import Connection
from tools.engine.execution.webhook import reply_of

DEADLINE_S = 5.0
PARAMETER = "phone"
LONGEST_TOLD = 4_000
CUT = " … [cut]"
# Nobody of this number is known: an answer, no mistake.
UNKNOWN_CALLER = frozenset({204, 404})


class DirectoryFailed(Exception):
    """The endpoint didn't answer with a text; this says why, for staff."""


class Directory:
    """A project's endpoint."""

    def __init__(self, connection: Connection, *, guard: Guard) -> None:
        if not isinstance(connection.settings, ClientLookupSettings):
            raise TypeError("This connection is no look-up of callers.")
        self._settings = connection.settings
        self._secret = connection.secret
        self._guard = guard

    def url_of(self, phone: str) -> str:
        """The address with the number in its query, URL-encoded; what stands there already is kept as it is."""
        parts = urlsplit(self._settings.url)
        kept = [pair for pair in parts.query.split("&") if pair and _name(pair) != PARAMETER]
        return parts._replace(query="&".join([*kept, f"{PARAMETER}={quote(phone, safe='')}"])).geturl()

    def shown_url(self, phone: str) -> str:
        """The address as the ledger keeps it: what else stands in its query may be a key of the business's."""
        return f"{self._settings.url.partition('?')[0]}?{PARAMETER}={quote(phone, safe='')}"

    async def find(self, phone: str) -> str:
        """What is known of the caller, as text of at most 4,000 characters; "" for nothing. Within five seconds.

        Raises DirectoryFailed.
        """
        try:
            self._settings.check_server(self._guard)
            answer = await self._guard.request(
                "GET", self.url_of(phone), headers=self._headers(), deadline_s=DEADLINE_S
            )
        except (BlockedAddress, InvalidRequest) as error:
            raise DirectoryFailed(str(error)) from None
        except OutboundError as error:
            raise DirectoryFailed(f"The look-up of callers couldn't be asked: {error}") from None
        return self._text(answer)

    def _headers(self) -> dict[str, str]:
        secret = {self._settings.header_name: self._secret} if self._secret else {}
        return {"Accept": "text/plain, application/json;q=0.9, */*;q=0.1", **secret}

    def _text(self, answer: Response) -> str:
        if answer.status in UNKNOWN_CALLER:
            return ""
        if not 200 <= answer.status < 300:
            raise DirectoryFailed(f"The look-up of callers answered {answer.status}.")
        if _is_binary(answer):
            raise DirectoryFailed("The look-up of callers answered with something that is no text.")
        text = reply_of(answer.body, hidden=[self._secret]).text
        return text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - len(CUT)] + CUT


def _name(pair: str) -> str:
    return unquote_plus(pair.partition("=")[0])


def _is_binary(answer: Response) -> bool:
    """Whether it isn't text in UTF-8. An answer that was cut off may end in half a character."""
    body = answer.body
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        if not answer.truncated or len(body) - error.start > 3:
            return True
        text = body[: error.start].decode()
    return re.search(r"[\x00-\x08\x0e-\x1f]", text) is not None
