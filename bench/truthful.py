"""Truthful status, on and off: the time to a reply's first token, and what the check itself costs."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.typing_settings")
django.setup()

from conversations.claim_check.claim_guard import Entry, Ledger, TruthfulText  # noqa: E402 - the models need Django first
from tools.models import EffectState  # noqa: E402

# A usual model's gap between tokens; a token is a word, or what follows an apostrophe.
GAP_MS = 20.0
TOKEN = re.compile(r"\s*['’]?\w+|\s*[^\w\s]+|\s+")
CASES = Path(__file__).resolve().parent.parent / "tools" / "evaluation" / "sets" / "en.jsonl"


@dataclass(frozen=True)
class Delay:
    """One reply: milliseconds until its first token, without and with the check, at GAP_MS between tokens."""

    off_ms: float
    on_ms: float

    @property
    def added_ms(self) -> float:
        return self.on_ms - self.off_ms


def measure(replies: Sequence[str], *, ledger: Ledger) -> list[Delay]:
    """The delays of replies whose tokens come GAP_MS apart; no clock runs, so that nothing but the check is measured."""
    return [Delay(off_ms=GAP_MS, on_ms=GAP_MS * _tokens_until_first(reply, ledger)) for reply in replies]


def microseconds_per_token(replies: Sequence[str], *, ledger: Ledger) -> float:
    """CPU of the check, for one token."""
    pieces = [list(_tokens(reply)) for reply in replies]
    began = time.perf_counter()
    for tokens in pieces:
        _write(tokens, TruthfulText(lambda text: None, ledger))
    return (time.perf_counter() - began) * 1e6 / sum(map(len, pieces))


def _tokens_until_first(reply: str, ledger: Ledger) -> int:
    released: list[str] = []
    text = TruthfulText(released.append, ledger)
    for number, token in enumerate(_tokens(reply), 1):
        text.write(token)
        if released:
            return number
    return number


def _write(tokens: Sequence[str], text: TruthfulText) -> None:
    for token in tokens:
        text.write(token)
    text.close()


def _tokens(reply: str) -> Iterator[str]:
    return (found[0] for found in TOKEN.finditer(reply))


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def report(print_line: Callable[[str], None] = print) -> None:
    """Measure over the labelled answers, most of which speak of deeds: the worst case for the check."""
    replies = [str(json.loads(line)["answer"]) for line in CASES.read_text().splitlines() if line.strip()]
    ledger = Ledger([Entry("sms", EffectState.DONE)])
    added = [delay.added_ms for delay in measure(replies, ledger=ledger)]
    shares = [sum(least < one <= most for one in added) / len(added) for least, most in ((-1, 0), (0, 40), (40, 1e9))]
    print_line(f"{len(replies)} answers, tokens {GAP_MS:.0f} ms apart")
    print_line("first token as before {:.0%}, one or two tokens later {:.0%}, held to its end {:.0%}".format(*shares))
    print_line(f"p50 +{_quantile(added, 0.5):.0f} ms, p95 +{_quantile(added, 0.95):.0f} ms")
    print_line(f"the check: {microseconds_per_token(replies, ledger=ledger):.1f} µs for a token")


if __name__ == "__main__":
    report()
