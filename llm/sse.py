"""Cuts a server-sent event stream into the payloads of its `data:` lines."""

from __future__ import annotations

from llm.errors import BadAnswer

# A server may begin its stream with a byte order mark
DATA = (b"data:", b"\xef\xbb\xbfdata:")
# One line longer than this is no token of an answer
LONGEST_LINE = 1024 * 1024


class DataLines:
    """Feed it the chunks as they arrive. Chat Completions puts every event on one line, so a line is an event."""

    def __init__(self) -> None:
        self._rest = b""
        self.has_any = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The payloads of the lines that are complete by now, without comments and other fields."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise BadAnswer("The endpoint's event stream holds a line of more than 1 MiB.")
        payloads = [line.partition(b":")[2].strip() for line in lines if line.startswith(DATA)]
        self.has_any = self.has_any or bool(payloads)
        return payloads

    def close(self) -> list[bytes]:
        """What stood on the last line, if the stream ended without a line feed."""
        return self.feed(b"\n")
