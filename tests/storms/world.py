"""The outside world of the storms: a target that hangs, disconnects and refuses, and records what it has executed."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from tests.conversations.effects.target import Answers, Heard, Target

# Responses with which nothing was executed; any other means that it was, whatever the caller saw.
REFUSES = {429, 503, 404}
# Responses that are conclusive if they arrive.
CLEAR = {200, *REFUSES}
WEATHER: list[tuple[int, Answers]] = [
    (70, Answers(200, body='{"ok": true}')),
    (6, Answers(429, body="", headers={"Retry-After": "1"})),
    (4, Answers(503, body="", headers={"Retry-After": "1"})),
    (3, Answers(404, body='{"error": "no"}')),
    (4, Answers(500, body="")),
    (4, Answers(hangs=2.5)),
    (4, Answers(cuts=True)),
    (5, Answers(drops=True)),
]


@dataclass
class World:
    """Executed requests, by Idempotency-Key and by the object in the body."""

    target: Target
    chance: random.Random
    keys: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    objects: dict[str, set[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.target.answers_by(self._answer)

    def _answer(self, heard: Heard) -> Answers:
        weights, answers = zip(*WEATHER, strict=True)
        with self.lock:
            [answer] = self.chance.choices(answers, weights)
            self.keys[heard.key] += 1
            if answer.status not in REFUSES:
                self.done[heard.key] += 1
                self.objects.setdefault(f"{heard.path} {heard.body.decode()}", set()).add(heard.key)
        return answer
