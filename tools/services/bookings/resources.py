"""Bookable resources: create, change, remove."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext

from projects.common.api_error import Conflict
from projects.models import Project
from projects.models.organization import lock_project
from tools.models import Booking, Resource

MOST = 200
# Slot lengths in minutes.
SHORTEST_SLOT, LONGEST_SLOT = 5, 720
LARGEST = 1000


class NameTaken(Conflict):
    """Another resource has this name. Choose a different one."""

    def __init__(self) -> None:
        super().__init__(code="name_taken", field="name")


def create_resource(
    project: Project, *, name: str, kind: str, capacity: int, slot_minutes: int, is_active: bool = True
) -> Resource:
    """Create a table, room or person. Raises NameTaken, or Conflict at the limit. Serialized per project."""
    lock_project(project.pk)
    names = list(Resource.objects.filter(project=project).values_list("name", flat=True))
    if len(names) >= MOST:
        raise Conflict(
            gettext("A project can have up to %(most)s resources. Remove one first.") % {"most": MOST}, code="too_many"
        )
    if _is_among(name, names):
        raise NameTaken
    return Resource.objects.create(
        project=project, name=name, kind=kind, capacity=capacity, slot_minutes=slot_minutes, is_active=is_active
    )


def change_resource(resource: Resource, changes: Mapping[str, Any]) -> Resource:
    """Change a resource. Confirmed bookings keep their time and place. Raises NameTaken, and Resource.DoesNotExist if
    it was removed in the meantime.
    """
    lock_project(resource.project_id)
    Resource.objects.select_for_update(no_key=True).get(pk=resource.pk)
    others = Resource.objects.filter(project_id=resource.project_id).exclude(pk=resource.pk)
    if _is_among(changes.get("name", ""), others.values_list("name", flat=True)):
        raise NameTaken
    for field, value in changes.items():
        setattr(resource, field, value)
    resource.save(update_fields=list(changes))
    return resource


def remove_resource(resource: Resource) -> None:
    """Remove a resource that was never booked; do nothing if it is already gone. Raises Conflict if it has bookings,
    because they would be deleted with it.
    """
    # A concurrent booking holds this lock, or waits for it and then finds no resource.
    if Resource.objects.select_for_update().filter(pk=resource.pk).first() is None:
        return
    if Booking.objects.filter(resource=resource).exists():
        raise Conflict(
            gettext("%(name)s has bookings and can't be removed. Switch it off instead.") % {"name": resource.name},
            code="has_bookings",
        )
    resource.delete()


def restore_resource(resource: Resource) -> None:
    """Store a resource again that has just been removed, as it was. Raises NameTaken, or Conflict at the limit."""
    create_resource(
        resource.project,
        name=resource.name,
        kind=resource.kind,
        capacity=resource.capacity,
        slot_minutes=resource.slot_minutes,
        is_active=resource.is_active,
    )


def plant_resources(project: Project, document: Iterable[Mapping[str, Any]]) -> None:
    """Create the initial resources of a project that has none."""
    if not Resource.objects.filter(project=project).exists():
        Resource.objects.bulk_create(Resource(project=project, **row) for row in document)


def _is_among(name: str, names: Iterable[str]) -> bool:
    return name.casefold() in {other.casefold() for other in names}
