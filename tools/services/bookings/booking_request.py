"""Booking requests, and the resources that can serve them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from projects.models import Project
from tools.models import BookingKind, Resource, ResourceKind
from tools.services.bookings.date_words import join_words, people
from tools.services.bookings.refusals import NothingToBook, TooLarge

# Resource kinds that serve each booking kind. A later group is used only if the project has none of the earlier ones.
GROUPS = {
    BookingKind.BOOKING: ((ResourceKind.TABLE, ResourceKind.ROOM), (ResourceKind.PERSON,)),
    BookingKind.MEETING: ((ResourceKind.PERSON,), (ResourceKind.ROOM,), (ResourceKind.TABLE,)),
}
SHOWN = 12


@dataclass(frozen=True)
class BookingRequest:
    """A request for a booking. `party_size` is None if unknown.

    `name` is a resource in a person's words and `resource_id` one specific resource. `resource_kind` is the preferred kind of
    resource, used if the project has one that is large enough.
    """

    party_size: int | None = None
    kind: BookingKind = BookingKind.BOOKING
    name: str = ""
    resource_id: UUID | None = None
    resource_kind: ResourceKind | None = None

    @property
    def seats(self) -> int:
        """Seats needed; 1 if the party size is unknown."""
        return self.party_size or 1


def matching_resources(project: Project, request: BookingRequest) -> list[Resource]:
    """Return the active resources that can serve the request, smallest first. Raises NothingToBook or TooLarge."""
    resources = sorted(Resource.objects.filter(project=project, is_active=True), key=by_size)
    if not resources:
        raise NothingToBook("Nothing can be booked yet: the booking book has no table, room or person.")
    candidates = _candidates(resources, request)
    large_enough = [resource for resource in candidates if resource.capacity >= request.seats]
    if not large_enough:
        raise TooLarge(_why_too_large(request, candidates), field="party_size")
    return large_enough


def _why_too_large(request: BookingRequest, candidates: Sequence[Resource]) -> str:
    largest, party = max(candidates, key=by_size), people(request.seats)
    if request.resource_id:
        return f"{largest.name} is too small for {party}: it is for {people(largest.capacity)}. Choose another, or the smallest available."
    return f"{party.capitalize()} can't be booked together: the largest that the book has is for {people(largest.capacity)}."


def by_size(resource: Resource) -> tuple[object, ...]:
    """Sort key for assigning resources: smallest first, and Table 5 before Table 10."""
    parts = re.split(r"(\d+)", resource.name.casefold())
    # Every other part is a number, so only parts of the same type are compared.
    return resource.capacity, [int(part) if part.isdecimal() else part for part in parts], str(resource.pk)


def display_order(resource: Resource) -> tuple[object, ...]:
    """Sort key for display: tables, rooms, people, each by size."""
    kinds = ResourceKind.values
    return (kinds.index(resource.kind) if resource.kind in kinds else len(kinds), *by_size(resource))


def describe_request(request: BookingRequest, resources: Sequence[Resource]) -> str:
    """Describe the request without an article: "table for 4", "place at Table 7 for 4", "meeting with Dr. Weber"."""
    kinds = {resource.kind for resource in resources}
    if request.kind is BookingKind.MEETING:
        noun = "meeting"
    elif ResourceKind.PERSON in kinds:
        noun = "appointment"
    else:
        noun = "room" if kinds == {ResourceKind.ROOM} else "table"
    is_for_people = request.party_size is not None and (noun in ("table", "room") or request.party_size > 1)
    named = ""
    if resources[0].kind == ResourceKind.PERSON:
        named = f" with {resources[0].name}" if request.name or request.resource_id else ""
    elif request.resource_id and noun != "meeting":
        noun = f"place {'in' if noun == 'room' else 'at'} {resources[0].name}"
    return f"{noun}{named}{f' for {request.party_size}' if is_for_people else ''}"


def _candidates(resources: Sequence[Resource], request: BookingRequest) -> list[Resource]:
    if request.resource_id:
        return _require_any(
            [resource for resource in resources if resource.pk == request.resource_id],
            "That table, room or person takes no bookings.",
        )
    if request.name:
        return _require_any(
            _with_name(resources, request.name),
            f"The booking book has no {request.name}. It has {join_words([resource.name for resource in resources[:SHOWN]])}.",
        )
    if preferred := [one for one in resources if one.kind == request.resource_kind and one.capacity >= request.seats]:
        return preferred
    groups = ([resource for resource in resources if resource.kind in group] for group in GROUPS[request.kind])
    return next(group for group in groups if group)


def _with_name(resources: Sequence[Resource], name: str) -> list[Resource]:
    """Match by the exact name, else by all words, else by substring. So Lena is not Elena, and Table 1 not Table 10, if
    both exist.
    """
    words = _words(name)
    exact = [resource for resource in resources if _words(resource.name) == words]
    by_words = [resource for resource in resources if words and set(words) <= set(_words(resource.name))]
    return exact or by_words or [resource for resource in resources if name.casefold() in resource.name.casefold()]


def _words(name: str) -> list[str]:
    return re.findall(r"\w+", name.casefold())


def _require_any(found: list[Resource], otherwise: str) -> list[Resource]:
    if not found:
        raise NothingToBook(otherwise)
    return found
