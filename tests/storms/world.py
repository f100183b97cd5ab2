"""The outside world of the storms: a target that hangs, cuts and refuses, and knows what it has carried out."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from tests.conversations.effects.target import Answers, Heard, Target

# Answers with which the target did nothing; with any other it carried the request out, whatever the caller saw of it.
REFUSES = {429, 503, 404}
# Answers that leave nothing open, where they are heard.
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
    """What the target carried out, by Idempotency-Key and by the object in the body."""

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
