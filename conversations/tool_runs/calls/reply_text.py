"""The text of a reply while it is being written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conversations.claim_check.claim_guard import ClaimGuard, PassThrough
from conversations.live.tokens import TokenWriter
from jobs.failpoints import failpoint


@dataclass(frozen=True)
class ReplyText:
    """The reply's text on its way through the claim guard to the live stream."""

    guard: ClaimGuard | PassThrough
    writer: TokenWriter

    def write(self, piece: str) -> None:
        self.guard.write(piece)
        failpoint("turn.mid_stream")

    def next_answer(self) -> Callable[[str], None]:
        """Return a writer for the next answer, which separates it from the previous text by a space."""
        is_first = True

        def write(piece: str) -> None:
            nonlocal is_first
            before = self.writer.text if is_first and piece else ""
            if before and not (before[-1].isspace() or piece[0].isspace()):
                self.write(" ")
            is_first = False
            self.write(piece)

        return write
