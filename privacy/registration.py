"""Registration of the lane, the sweep hooks and the checks of settings, once all models are loaded."""

from __future__ import annotations

from jobs.lanes import register_lanes
from jobs.sweep import sweeping
from privacy.erasure.lane import erasure_lane
from privacy.organizations.deletion import delete_organizations
from privacy.retention.policy import register_shapes
from privacy.retention.sweep import delete_old_records


def register() -> None:
    """Register the lane of erasures, the nightly deletion with the checks of its settings, and the deletion of organizations."""
    register_lanes(erasure_lane())
    register_shapes()
    sweeping.connect(delete_old_records)
    sweeping.connect(delete_organizations)
