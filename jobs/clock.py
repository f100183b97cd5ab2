"""Steps of the database's clock: an administrator sets it, or a standby with another clock takes over.

Due times and leases are times of that clock. After a step forward all leases look expired, after a step back queued jobs
and the leases of dead workers lie an hour ahead.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime

from django.db import connections

from jobs.lanes import lanes

log = logging.getLogger(__name__)

# Smaller differences are those of a slow answer.
STEP_SECONDS = 5.0
# Longer delays are appointments with the calendar: they follow the clock.
MOST_DELAY_SECONDS = 1200

# A job of the future was queued before a step back. Its delay begins anew.
_REPAIR_QUEUED = """
update jobs_job set fair_at = least(fair_at, clock_timestamp()),
       run_after = clock_timestamp() + (run_after - greatest(created_at, started_at))
where state = 'queued' and run_after > clock_timestamp()
  and greatest(created_at, started_at) > clock_timestamp() + %(step)s * interval '1 second'
  and run_after < greatest(created_at, started_at) + %(most)s * interval '1 second'
"""

# A lease longer than any lease begins anew. A live worker renews it, that of a dead one ends.
_REPAIR_LEASES = """
update jobs_job set lease_until = clock_timestamp() + %(lease)s * interval '1 second'
where state = 'running' and lease_until > clock_timestamp() + (%(lease)s + %(step)s) * interval '1 second'
"""


@dataclass
class DatabaseClock:
    """The database's clock, compared with the steady one of this process."""

    _ahead: float | None = None
    _leases_count_at: float = 0.0

    def read(self) -> None:
        """Look at the clock, and mend what a step back has moved into the future. Uses mg_ops."""
        now, steady = _now(), time.monotonic()
        step = self._step_to(now.timestamp() - steady)
        if step is not None and abs(step) > STEP_SECONDS:
            log.warning("The database's clock was set by %+.0f seconds.", step)
        if step is None or step < -STEP_SECONDS:
            _repair()
        elif step > STEP_SECONDS:
            self._leases_count_at = steady + _longest_lease()

    @property
    def leases_count(self) -> bool:
        """False for one lease after a step forward, while live workers renew theirs."""
        return time.monotonic() >= self._leases_count_at

    def _step_to(self, ahead: float) -> float | None:
        """The seconds of a step since the last look, or None at the first."""
        before, self._ahead = self._ahead, ahead
        return None if before is None else ahead - before


def _now() -> datetime:
    with connections["ops"].cursor() as cursor:
        cursor.execute("select clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
        return found


def _repair() -> None:
    limits = {"step": STEP_SECONDS, "most": MOST_DELAY_SECONDS, "lease": _longest_lease()}
    with connections["ops"].cursor() as cursor:
        cursor.execute(_REPAIR_QUEUED, limits)
        cursor.execute(_REPAIR_LEASES, limits)


def _longest_lease() -> float:
    return max(lane.lease_seconds for lane in lanes())
