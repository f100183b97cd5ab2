"""Common value types of API payloads, with their OpenAPI formats."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, overload

from drf_spectacular.types import OpenApiTypes

Id = Annotated[str, OpenApiTypes.UUID]
Url = Annotated[str, OpenApiTypes.URI]
Day = Annotated[str, OpenApiTypes.DATE]
# ISO 8601 in UTC.
Stamp = Annotated[str, OpenApiTypes.DATETIME]


@overload
def stamp(moment: datetime) -> Stamp: ...
@overload
def stamp(moment: datetime | None) -> Stamp | None: ...
def stamp(moment: datetime | None) -> Stamp | None:
    """ISO 8601 in UTC, or null."""
    return moment.isoformat().replace("+00:00", "Z") if moment else None
