"""What follows when a project's calendar is connected."""

from __future__ import annotations

from projects.models import Project
from tools.services.bookings.resources import plant_resources
from tools.services.calendar.event_sync import catch_up, wait_for_bookings

# A calendar without anything to book beside it: it is one person's, who is met for half an hour.
OWNER = {"name": "Calendar", "kind": "person", "capacity": 1, "slot_minutes": 30}


def calendar_connected(project: Project) -> None:
    """Make something that can be booked, where there is nothing, and write the bookings to come; in the running transaction."""
    wait_for_bookings(project)
    plant_resources(project, [OWNER])
    catch_up(project)
