"""The times at which effects are tried again, as their queued jobs have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from jobs.models import Job, State
from tools.engine.ledger import OPEN, attempt_key
from tools.models import Effect


def next_attempts(effects: Iterable[Effect], *, lanes: Sequence[str] = ()) -> dict[UUID, datetime]:
    """The next attempt of each effect that was tried and isn't over, by id. `lanes` are those of whose jobs a key names the
    effect and its attempts. Without such an effect, no query is made.
    """
    keys = {
        key: effect.pk for effect in effects if effect.attempts and effect.state in OPEN for key in _keys(effect, lanes)
    }
    if not keys:
        return {}
    queued = Job.objects.filter(key__in=keys, state=State.QUEUED, run_after__isnull=False)
    return {keys[key]: run_after for key, run_after in queued.values_list("key", "run_after")}


def _keys(effect: Effect, lanes: Sequence[str]) -> Iterator[str]:
    yield attempt_key(effect)
    yield from (f"{lane}:{effect.pk}:{effect.attempts}" for lane in lanes)
