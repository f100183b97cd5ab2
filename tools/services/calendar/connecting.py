"""Setup after a calendar is connected."""

from __future__ import annotations

from projects.models import Project
from tools.services.bookings.resources import plant_resources
from tools.services.calendar.event_sync import catch_up, wait_for_bookings

# Default resource for a project without any: one person with half-hour slots.
OWNER = {"name": "Calendar", "kind": "person", "capacity": 1, "slot_minutes": 30}


def calendar_connected(project: Project) -> None:
    """Create a resource if there is none, and plan events for upcoming bookings, in the current transaction."""
    wait_for_bookings(project)
    plant_resources(project, [OWNER])
    catch_up(project)
