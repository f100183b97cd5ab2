"""Downloads of customers' files from a provider, and their failures in words."""

from __future__ import annotations

from collections.abc import Mapping

from conversations.handover.attachments import MAX_BYTES
from outbound.download import download
from outbound.errors import BlockedAddress, InvalidRequest, NoSuchHost, OutboundError, Unreadable
from outbound.guard import Guard

DEADLINE_S = 30.0
# The limit of all files of a message, which are in memory until they are stored.
MOST_BYTES = 2 * MAX_BYTES
# Answers that a later try may change.
BUSY = frozenset({408, 425, 429})
GONE = frozenset({404, 410})
TOO_LARGE = "it’s too large"
NO_FILE = "the provider doesn’t have it any more"
REJECTED = "the provider rejects the channel’s credentials"
STRANGE = "the provider named no address of its own"


class NotFetched(Exception):
    """The file can't be fetched, for the given reason: the end of a sentence that says so."""


class FetchLater(NotFetched):
    """The file can't be fetched now."""


async def fetch_file(guard: Guard, url: str, *, max_bytes: int, credentials: Mapping[str, str] | None = None) -> bytes:
    """The content of a file, of at most `max_bytes`, within 30 seconds. Raises NotFetched."""
    try:
        response = await download(guard, url, max_bytes=max_bytes, deadline_s=DEADLINE_S, credentials=credentials)
    except Unreadable as error:
        raise NotFetched("it came compressed" if error.reason == "content_encoding" else STRANGE) from None
    except (BlockedAddress, InvalidRequest, NoSuchHost):
        raise NotFetched(STRANGE) from None
    except OutboundError:
        raise FetchLater("the provider couldn’t be reached") from None
    check_status(response.status)
    if response.truncated:
        raise NotFetched(TOO_LARGE)
    return response.body


def check_status(status: int) -> None:
    """Raise NotFetched for an answer without a file."""
    if status in BUSY or status >= 500:
        raise FetchLater(f"the provider answered with {status}")
    if status in GONE:
        raise NotFetched(NO_FILE)
    if status in (401, 403):
        raise NotFetched(REJECTED)
    if status != 200:
        raise NotFetched(f"the provider answered with {status}")
