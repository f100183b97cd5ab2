"""One reading of a turn for the flows that run side by side after its reply.

The three of them begin within milliseconds and need the same rows; read once, that is a third of their work. A reading is
shared for a second: a flow that runs again later reads anew. Whoever gets it only reads it; changes go through the log.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from uuid import UUID

from conversations.scene import Scene, scene_after
from jobs.claimed import ClaimedJob
from jobs.fence import reading

SHARED_SECONDS = 1.0
KEPT = 512

Key = tuple[UUID, UUID, int]


@dataclass
class _Reading:
    """A scene that is being read, or was."""

    read_at: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    scene: Scene | None = None


_readings: OrderedDict[Key, _Reading] = OrderedDict()
_guard = threading.Lock()


def shared_scene_after(job: ClaimedJob) -> Scene:
    """The surroundings of the turn that was replied to, read by whichever of its flows comes first, in a transaction of its own."""
    kept = _reading_of((job.organization_id, job.subject_id, job.ordinal))
    with kept.lock:
        if kept.scene is None:
            with reading(job):
                kept.scene = scene_after(job)
        return kept.scene


def _reading_of(key: Key) -> _Reading:
    now = time.monotonic()
    with _guard:
        reading = _readings.get(key)
        if reading is None or now - reading.read_at > SHARED_SECONDS:
            reading = _readings[key] = _Reading(read_at=now)
            _readings.move_to_end(key)
        while len(_readings) > KEPT:
            _readings.popitem(last=False)
        return reading
