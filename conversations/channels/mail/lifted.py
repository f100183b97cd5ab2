"""An e-mail without its long base64 runs, which the parser would read line by line, and with bounds on its work.

A parser's time grows with the lines times the nested parts, and a stranger chooses both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from secrets import token_hex

MOST_LINES = 200_000
FEWER_LINES = 5_000
# Lines times boundaries, and 50 for each line that may begin a part. A million takes about a second.
MOST_WORK = 1_000_000
WORK_OF_PART = 50
LONGEST_HEAD = 262_144
SHORTEST_RUN = 4_000
# Whole lines of base64. Possessive: it never looks at a character twice.
RUN = re.compile(rb"^(?:[A-Za-z0-9+/]{60,}+={0,2}\r?\n)++", re.MULTILINE)
BOUNDARY = re.compile(rb"boundary", re.IGNORECASE)


@dataclass(frozen=True)
class LiftedMail:
    """The bytes to parse, and the runs that their marks stand for. `is_cut` if the end of the e-mail is missing."""

    raw: bytes
    runs: Sequence[bytes] = field(default=(), repr=False)
    is_cut: bool = False
    is_head: bool = False
    mark: str = ""

    def holds(self, payload: str) -> bool:
        return bool(self.mark) and self.mark in payload

    def restore(self, payload: str) -> str:
        """The payload of a part as it came."""
        if not self.holds(payload):
            return payload
        pieces = re.split(rf"{self.mark}(\d+)\r?\n", payload)
        texts = [self._run(piece) if at % 2 else piece for at, piece in enumerate(pieces)]
        return "".join(texts)

    def size(self, payload: str) -> int:
        """The length of the payload as it came."""
        if not self.holds(payload):
            return len(payload)
        found = re.findall(rf"{self.mark}(\d+)", payload)
        return len(payload) + sum(len(self.runs[int(one)]) for one in found if int(one) < len(self.runs))

    def _run(self, number: str) -> str:
        at = int(number)
        return self.runs[at].decode("ascii") if at < len(self.runs) else ""


def lift(raw: bytes, *, is_cut: bool = False) -> LiftedMail:
    """Take the long base64 runs out, and cut what would take the parser too long."""
    mark, runs = f"lifted{token_hex(16)}x", list[bytes]()

    def take(found: re.Match[bytes]) -> bytes:
        if len(found[0]) < SHORTEST_RUN:
            return found[0]
        runs.append(found[0])
        return f"{mark}{len(runs) - 1}\n".encode()

    rest = RUN.sub(take, _with_short_head(raw))
    for most in (MOST_LINES, FEWER_LINES):
        part = _first_lines(rest, most)
        if _work(part) <= MOST_WORK:
            return LiftedMail(part, runs, is_cut=is_cut or len(part) < len(rest), mark=mark)
    return LiftedMail(rest[:LONGEST_HEAD], is_cut=True, is_head=True)


def _work(raw: bytes) -> int:
    return raw.count(b"\n") * len(BOUNDARY.findall(raw)) + WORK_OF_PART * raw.count(b"\n--")


def _with_short_head(raw: bytes) -> bytes:
    """The e-mail, without the end of headers that are longer than any mail program's."""
    ends = [end for end in (raw.find(b"\n\r\n"), raw.find(b"\n\n")) if end >= 0]
    at = min(ends, default=len(raw))
    return raw if at <= LONGEST_HEAD else raw[: raw.rfind(b"\n", 0, LONGEST_HEAD) + 1] + raw[at:].lstrip(b"\r\n")


def _first_lines(raw: bytes, most: int) -> bytes:
    if raw.count(b"\n") <= most:
        return raw
    at = 0
    for _ in range(most):
        at = raw.find(b"\n", at) + 1
    return raw[:at]
